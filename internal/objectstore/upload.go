package objectstore

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// maxParts is the most that S3 takes for one object.
const maxParts = 10_000

// upload is a file whose bytes the store has, and that only needs completing.
type upload struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Size  int64  `json:"size"`
	Parts []Part `json:"parts"`
}

// stage uploads a file that is not empty, without making an object of it. Parts
// that an earlier attempt has sent, and that have the right sums, are not sent again.
func (t *Tree) stage(ctx context.Context, dir, name string) (_ upload, err error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return upload{}, fmt.Errorf("upload %s: %w", t.key(name), err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	st, err := file.Stat()
	if err != nil {
		return upload{}, fmt.Errorf("upload %s: %w", t.key(name), err)
	}
	u := upload{Name: name, Size: st.Size()}
	size := max(t.opts.PartSize, (u.Size+maxParts-1)/maxParts)
	u.Parts = make([]Part, max(1, (u.Size+size-1)/size))
	for i := range u.Parts {
		u.Parts[i] = Part{Number: i + 1, Size: min(size, u.Size-int64(i)*size)}
	}
	var have map[int]Part
	if u.ID, have, err = t.begin(ctx, name); err != nil {
		return upload{}, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.opts.Parallelism)
	for i := range u.Parts {
		g.Go(func() error {
			body := io.NewSectionReader(file, int64(i)*size, u.Parts[i].Size)
			u.Parts[i], err = t.send(ctx, u, u.Parts[i], body, have)
			return err
		})
	}
	return u, g.Wait()
}

// begin starts an upload, or takes up the one that an earlier attempt left.
func (t *Tree) begin(ctx context.Context, name string) (id string, have map[int]Part, err error) {
	earlier, err := t.store.Uploads(ctx, t.key(name))
	if err != nil {
		return "", nil, err
	}
	for _, e := range earlier {
		if e.Key != t.key(name) {
			continue
		}
		parts, err := t.store.Parts(ctx, e.Key, e.ID)
		if errors.Is(err, ErrNoUpload) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		have = make(map[int]Part)
		for _, p := range parts {
			have[p.Number] = p
		}
		t.opts.Log.Info("an earlier upload is taken up", "object", e.Key, "parts", len(parts))
		return e.ID, have, nil
	}
	id, err = t.store.Begin(ctx, t.key(name))
	return id, nil, err
}

// send sends one part, unless the store has it.
func (t *Tree) send(ctx context.Context, u upload, part Part, body io.ReadSeeker, have map[int]Part) (Part, error) {
	weak, strong := md5.New(), sha256.New()
	if _, err := io.Copy(io.MultiWriter(weak, strong), contextReader{ctx, body}); err != nil {
		return part, fmt.Errorf("upload %s: %w", t.key(u.Name), err)
	}
	part.MD5, part.SHA256 = weak.Sum(nil), strong.Sum(nil)
	if had, ok := have[part.Number]; ok && part.sameAs(had) {
		part.ETag, part.Sum = had.ETag, had.Sum
		return part, nil
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return part, fmt.Errorf("upload %s: %w", t.key(u.Name), err)
	}
	sent, err := t.store.UploadPart(ctx, t.key(u.Name), u.ID, part, body)
	if err != nil {
		return part, err
	}
	part.ETag, part.Sum = sent.ETag, sent.Sum
	if part.Sum != "" && part.Sum != base64.StdEncoding.EncodeToString(part.SHA256) {
		return part, fmt.Errorf("upload %s: part %d arrived with another SHA-256: %w", t.key(u.Name), part.Number, ErrChanged)
	}
	return part, nil
}

// sameAs tells whether the store has, as other, the bytes of p. A store that
// encrypts may have tags that say nothing; then the part is sent again.
func (p Part) sameAs(other Part) bool {
	if p.Size != other.Size {
		return false
	}
	if other.Sum != "" {
		return other.Sum == base64.StdEncoding.EncodeToString(p.SHA256)
	}
	return other.ETag == hex.EncodeToString(p.MD5)
}

// check compares an object with the upload that it was made of. Tags are
// compared where the store makes them as S3 does: the MD5 of the MD5 of the parts.
func (u upload) check(o Object) error {
	if o.Size != u.Size {
		return fmt.Errorf("%s has %d bytes, not %d: %w", o.Key, o.Size, u.Size, ErrChanged)
	}
	var all bytes.Buffer
	for _, p := range u.Parts {
		if p.ETag != hex.EncodeToString(p.MD5) {
			return nil
		}
		all.Write(p.MD5)
	}
	sum := md5.Sum(all.Bytes())
	want := fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:]), len(u.Parts))
	if strings.Contains(o.ETag, "-") && o.ETag != want {
		return fmt.Errorf("%s has the tag %s, not %s: %w", o.Key, o.ETag, want, ErrChanged)
	}
	return nil
}

// contextReader stops reading when the context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
