package trainset

import (
	"cmp"
	"slices"

	"manifest/internal/sampling"
	"manifest/internal/schema"
	"manifest/internal/selection"
)

// Role is what a table is for.
type Role string

// The roles, named as the tables are by default.
const (
	Metadata Role = "image_metadata"
	Devices  Role = "device_daily_images"
	Tags     Role = "tag_image_index"
	Reviews  Role = "image_review_status"
)

// Order is that of the rows of a split.
type Order string

// The orders.
const (
	ByHash Order = "hash"
	ByTime Order = "time"
)

// StatusNone stands for images without a row of status, in Spec.Statuses.
const StatusNone = "none"

// Spec says which images are wanted, and how the manifest looks. The zero Spec wants all images that are not rejected or deleted.
type Spec struct {
	// Tags choose images by the tags that they have in the tag index; nil looks at none.
	Tags *selection.TagExpr
	// Days, both included, are those of the index tables; nil is no bound.
	From, To *selection.Day
	// Devices and Regions, as selection.In reads them; none is no condition.
	Devices, Regions []string
	// Where is a condition on joined rows. NULL, as where a table has no row, is not wanted unless it says so.
	Where selection.Condition

	// Statuses that are accepted, among them StatusNone. None accepts all but rejected and deleted.
	Statuses []string
	// AnyStatus does not look at the status.
	AnyStatus bool

	// NoDedupe keeps images of the same content.
	NoDedupe bool
	Fraction sampling.Share
	Caps     []Cap
	Limit    int64
	Balance  []string
	Splits   []sampling.Split
	GroupBy  []string
	Salt     string

	// Columns of the files, in that order; see docs/format/manifest.md. None stands for all that the tables have.
	Columns []string
	// URI is the template of the column uri. Default s3://{object_store}/{object_key}.
	URI   string
	Order Order

	// Names maps role.column, such as tag_image_index.tag, to the names of columns in this cluster.
	Names map[string]string
}

// Cap keeps at most N images with one value of a column.
type Cap struct {
	Column string
	N      int64
}

func (s Spec) withDefaults() Spec {
	s.URI = cmp.Or(s.URI, defaultURI)
	s.Order = cmp.Or(s.Order, ByHash)
	return s
}

const defaultURI = "s3://{object_store}/{object_key}"

// unwanted are the statuses that nobody wants without asking.
var unwanted = []string{"rejected", "deleted"}

// accepts tells whether a status is wanted. An image without a row, or whose status is NULL, has none.
func (s Spec) accepts(status string) bool {
	if s.AnyStatus {
		return true
	}
	if len(s.Statuses) == 0 {
		return !slices.Contains(unwanted, status)
	}
	return slices.Contains(s.Statuses, status)
}

// column is the name of a column of a role in this cluster.
func (s Spec) column(r Role, name string) string {
	return cmp.Or(s.Names[string(r)+"."+name], name)
}

// standard is the name that a column of this cluster has here.
func (s Spec) standard(r Role, name string) string {
	for key, mapped := range s.Names {
		if mapped == name {
			if role, standard, ok := cutRole(key); ok && role == r {
				return standard
			}
		}
	}
	return name
}

func cutRole(key string) (Role, string, bool) {
	for _, r := range []Role{Metadata, Devices, Tags, Reviews} {
		if len(key) > len(r)+1 && key[:len(r)+1] == string(r)+"." {
			return r, key[len(r)+1:], true
		}
	}
	return "", "", false
}

// Tables are the tables of the roles; those that a Spec has no need of may be missing.
type Tables map[Role]*schema.Table
