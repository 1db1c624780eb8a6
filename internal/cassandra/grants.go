package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gocql/gocql"
)

// Grant is a permission of a role on a resource.
type Grant struct {
	Role, Resource string
	Permissions    []string
}

// ErrGrantsHidden means that the role may not see its own grants, or that the
// cluster keeps none.
var ErrGrantsHidden = errors.New("grants cannot be read")

// Grants reads what the connected user's role is permitted to do. A cluster
// without authorisation keeps none.
func (c *Cluster) Grants(ctx context.Context) ([]Grant, error) {
	rows, err := c.queryRows(ctx, `SELECT role, resource, permissions FROM system_auth.role_permissions WHERE role = ?`, c.cfg.User)
	if err != nil {
		if _, refused := errors.AsType[gocql.RequestError](err); refused {
			return nil, fmt.Errorf("%w: %w", ErrGrantsHidden, err)
		}
		return nil, fmt.Errorf("read grants of role %q: %w", c.cfg.User, err)
	}
	var grants []Grant
	for _, row := range rows {
		g := Grant{Role: text(row["role"]), Resource: text(row["resource"])}
		g.Permissions, _ = row["permissions"].([]string)
		slices.Sort(g.Permissions)
		grants = append(grants, g)
	}
	return grants, nil
}
