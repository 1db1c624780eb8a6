package cassandra_test

import (
	"os"
	"testing"

	"manifest/internal/casstest"
)

func TestMain(m *testing.M) { os.Exit(casstest.Main(m)) }
