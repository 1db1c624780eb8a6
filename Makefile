# make build   the static binary, in bin/
# make demo    statistics and an export of data inside of the binary; needs Go alone
# make demo-live    the same with a Cassandra on this machine and a generated image set
# make test    everything, with all the set-up it needs
# make interop what other programs read of our files, Spark among them

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZ_RUNS ?= 20000x
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0

export CGO_ENABLED = 0
# One set of flags for all, so that everything is compiled once.
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: build demo demo-live test interop short race fuzz bench bench-snapshot bench-peers lint tidy-check vulnerabilities load chaos clean

build:
	$(GO) build -ldflags "-s -w -X main.version=$(VERSION)" -o bin/manifest ./cmd/manifest

demo: build
	bin/manifest demo --dir demo

demo-live: build
	$(GO) run ./internal/livedemo -binary bin/manifest -out demo-live

# Tests bring their own set-up: Cassandra's jars by Maven and the Python readers
# by pip, once, into the cache folder. Three nodes run meanwhile, for all tests
# that share them; some start others of their own. Results are never taken from
# the cache of go test, which does not see that a test runs the binary.
test:
	$(GO) run ./internal/casstest/casstestctl run -nodes 3 -- $(GO) test -count=1 $(TEST_FLAGS) -p 2 -timeout 30m ./...

# pyarrow, pandas, DuckDB, Polars, Hugging Face datasets, WebDataset, mlcroissant
# and Spark 3.5 open what was exported. make test leaves Spark out, whose packages
# are 370 MB, unless MANIFEST_SPARK is set, as it is in CI.
interop:
	MANIFEST_SPARK=1 $(GO) test -count=1 -timeout 30m -run 'Others?Read|OtherReaders|Spark' ./export/... ./internal/datasetcard ./cmd/manifest

short:
	$(GO) test -short ./...

race:
	CGO_ENABLED=1 $(GO) test -short -race ./...

# Each fuzz target so many times, after the seeds that make test runs. A number
# of runs and no time: go test takes the end of its time for a failure now and
# then (golang/go#75804).
fuzz:
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ_RUNS) -fuzzminimizetime 1000x $$package || exit 1; \
	  done; \
	done

lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt needed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

tidy-check:
	$(GO) mod tidy -diff

# Needs the vulnerability database, which not every network reaches.
vulnerabilities:
	$(GO) run $(GOVULNCHECK) ./...

bench: build
	$(GO) run ./internal/livebench -binary bin/manifest

# Everything that can go wrong with nodes, processes, disks and schemas, at length.
chaos:
	MANIFEST_TEST_LONG=1 $(GO) test -count=1 -v -timeout 60m -run 'TestChaos' ./internal/e2e

# What a scan does to others who read from the same nodes.
load: build
	$(GO) run ./internal/loadtest -binary bin/manifest

# The same on SSTables, beside the bare loop that decompresses and verifies them.
bench-snapshot: build
	$(GO) run ./internal/snapbench -binary bin/manifest

# The same work done by Spark, DSBulk and CQLite, which it brings (some 450 MB), on the same data.
bench-peers: build
	$(GO) run ./internal/peerbench -binary bin/manifest $(PEER_FLAGS)

clean:
	rm -rf bin demo demo-live
