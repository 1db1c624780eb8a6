package imagegen

import (
	"fmt"
	"strings"
)

// DefaultKeyspace is the keyspace of the tables where nobody says otherwise.
const DefaultKeyspace = "image_keyspace"

// KeyspaceDDL returns the statement that creates the keyspace unless it exists: SimpleStrategy with rf replicas, or with datacentres
// NetworkTopologyStrategy with rf replicas in each.
func KeyspaceDDL(keyspace string, rf int, datacenters ...string) string {
	replication := fmt.Sprintf("'class': 'SimpleStrategy', 'replication_factor': %d", rf)
	if len(datacenters) > 0 {
		replication = "'class': 'NetworkTopologyStrategy'"
		for _, dc := range datacenters {
			replication += fmt.Sprintf(", '%s': %d", strings.ReplaceAll(dc, "'", "''"), rf)
		}
	}
	return fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {%s}", quoteName(keyspace), replication)
}

// TableDDL returns the statements that create the four tables unless they exist.
func TableDDL(keyspace string) []string {
	columns := []struct{ table, definition string }{
		{MetadataTable, `(image_id timeuuid PRIMARY KEY, object_store text, object_key text, content_hash text, width int, height int,
  capture_time timestamp, upload_time timestamp, attributes map<text, text>)`},
		{DeviceTable, `(device_id text, day_bucket date, capture_time timestamp, image_id timeuuid, object_store text, object_key text,
  width int, height int, content_hash text, PRIMARY KEY ((device_id, day_bucket), capture_time, image_id))
  WITH CLUSTERING ORDER BY (capture_time DESC, image_id DESC)`},
		{TagTable, `(tag text, day_bucket date, capture_time timestamp, image_id timeuuid, object_store text, object_key text, device_id text,
  PRIMARY KEY ((tag, day_bucket), capture_time, image_id)) WITH CLUSTERING ORDER BY (capture_time DESC, image_id DESC)`},
		{ReviewTable, `(image_id timeuuid PRIMARY KEY, status text, reviewed_at timestamp, reviewer text)`},
	}
	statements := make([]string, len(columns))
	for i, c := range columns {
		statements[i] = fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s %s", quoteName(keyspace), c.table, c.definition)
	}
	return statements
}

// quoteName makes a CQL identifier that keeps case and may hold anything.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
