package export

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// partInfo describes a committed part. It lies beside the part's file.
type partInfo struct {
	Split  string           `json:"split"`
	Layout string           `json:"layout"`
	Read   int64            `json:"read"` // rows before the filter
	Rows   int64            `json:"rows"`
	Bytes  int64            `json:"bytes"`
	Unfit  map[string]int64 `json:"unfit,omitempty"`
}

func (d *Dataset) infoPath(split string) string {
	return filepath.Join(d.opts.WorkDir, split+".part.json")
}

func (d *Dataset) writeInfo(info partInfo) error {
	return writeFileAtomic(d.infoPath(info.Split), info.encode(), !d.opts.NoSync)
}

// encode gives the description's text: the same for the same description.
func (info partInfo) encode() []byte {
	data, _ := json.Marshal(info) // of strings and numbers, which always have a JSON form
	return append(data, '\n')
}

// readInfo reads the description of a part and checks that the part is there
// and was written with the settings of this dataset.
func (d *Dataset) readInfo(split string) (partInfo, error) {
	var info partInfo
	data, err := os.ReadFile(d.infoPath(split))
	if err != nil {
		return info, fmt.Errorf("part of split %s: %w", split, err)
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("description of the part of split %s: %w", split, err)
	}
	if info.Layout != d.layout {
		return info, fmt.Errorf("part of split %s was written with other settings (%s, not %s): %w", split, info.Layout, d.layout, ErrPart)
	}
	st, err := os.Stat(d.partPath(split))
	if err != nil {
		return info, fmt.Errorf("part of split %s: %w", split, err)
	}
	if st.Size() != info.Bytes {
		return info, fmt.Errorf("part of split %s has %d bytes, not %d: %w", split, st.Size(), info.Bytes, ErrPart)
	}
	return info, nil
}
