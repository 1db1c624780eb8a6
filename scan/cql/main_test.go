package cql_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"manifest/internal/casstest"
)

func TestMain(m *testing.M) {
	// The library that plays the faulty proxy leaves some of its goroutines
	// behind when it stops with data on the way.
	os.Exit(casstest.Main(m, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run")))
}
