package oracle

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Scenario is the story of one table, ks.NAME: statements, flushes and
// compactions, and queries at the end. In text form a line that begins with #
// is for the runner, and a statement ends with a semicolon at the end of a line:
//
//	# at 1700000000                 time of the statements that follow
//	CREATE TABLE ks.images (...);
//	# each i 0 99                   do the next statement for each i: {i} is its
//	                                number, {i:N} are N random bytes in hexadecimal
//	INSERT INTO ks.images ...;
//	# flush
//	# compact
//	# read 1700000100 *             SELECT * at that time
//	# read 1700000100 id, ttl(x)
type Scenario struct {
	Name  string
	steps []step
	Reads []Read
}

// Mentions tells whether a text occurs in a statement.
func (s *Scenario) Mentions(text string) bool {
	return slices.ContainsFunc(s.steps, func(step step) bool { return strings.Contains(step.verb, text) })
}

// Read is a query for columns at a time in seconds since 1970.
type Read struct {
	Now     int64
	Columns string
}

type step struct {
	verb string // flush, compact, or a statement's text
	now  int64
	line int
}

// ReadScenarios reads those of a folder, from files named NAME.cql.
func ReadScenarios(dir string) ([]*Scenario, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.cql"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no scenarios in %s", dir)
	}
	var all []*Scenario
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := ParseScenario(strings.TrimSuffix(filepath.Base(path), ".cql"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// ParseScenario reads the text of a scenario.
func ParseScenario(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name}
	var now int64
	var from, to int
	var variable, statement string
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		fail := func(err error) error { return fmt.Errorf("scenario %s, line %d: %q: %v", name, n+1, line, err) }
		switch {
		case line == "" || strings.HasPrefix(line, "--"):
		case words[0] != "#":
			if statement += " " + line; !strings.HasSuffix(line, ";") {
				continue
			}
			for _, text := range expand(strings.TrimSpace(statement), variable, from, to) {
				s.steps = append(s.steps, step{text, now, n + 1})
			}
			statement, variable = "", ""
		case len(words) == 3 && words[1] == "at":
			v, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				return nil, fail(err)
			}
			now = v
		case len(words) == 5 && words[1] == "each":
			var err error
			variable = words[2]
			if from, err = strconv.Atoi(words[3]); err == nil {
				to, err = strconv.Atoi(words[4])
			}
			if err != nil {
				return nil, fail(err)
			}
		case len(words) >= 4 && words[1] == "read":
			at, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				return nil, fail(err)
			}
			s.Reads = append(s.Reads, Read{at, strings.Join(words[3:], " ")})
		case len(words) == 2 && (words[1] == "flush" || words[1] == "compact"):
			s.steps = append(s.steps, step{words[1], now, n + 1})
		default:
			return nil, fail(fmt.Errorf("unknown instruction"))
		}
	}
	return s, nil
}

// expand repeats a statement for each value of its variable.
func expand(statement, variable string, from, to int) []string {
	if variable == "" {
		return []string{statement}
	}
	place := regexp.MustCompile(`\{` + variable + `(:(\d+))?\}`)
	var all []string
	for i := from; i <= to; i++ {
		random := rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		all = append(all, place.ReplaceAllStringFunc(statement, func(m string) string {
			size := place.FindStringSubmatch(m)[2]
			if size == "" {
				return strconv.Itoa(i)
			}
			n, _ := strconv.Atoi(size)
			b := make([]byte, n)
			_, _ = random.Read(b) // never fails
			return hex.EncodeToString(b)
		}))
	}
	return all
}

// Result is what a scenario left.
type Result struct {
	// Files are the table's snapshot: SSTables and schema.cql.
	Files map[string][]byte `json:",omitempty"`
	// Dumps are the contents of the SSTables by the names of their Data.db.
	Dumps map[string][]string
	// Answers are those to the scenario's reads.
	Answers []Rows
}

// Run plays a scenario. The keyspace ks is made if it is not there.
func (o *Oracle) Run(s *Scenario) (*Result, error) {
	const keyspace = "ks"
	if err := o.Exec(1, `CREATE KEYSPACE IF NOT EXISTS ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`); err != nil {
		return nil, err
	}
	for _, step := range s.steps {
		var err error
		switch step.verb {
		case "flush":
			err = o.Flush(keyspace, s.Name)
		case "compact":
			err = o.Compact(keyspace, s.Name)
		default:
			err = o.Exec(step.now, step.verb)
		}
		if err != nil {
			return nil, fmt.Errorf("scenario %s, line %d: %w", s.Name, step.line, err)
		}
	}
	if err := o.Flush(keyspace, s.Name); err != nil {
		return nil, err
	}
	dir, err := o.Snapshot(keyspace, s.Name, "result")
	if err != nil {
		return nil, err
	}
	r := &Result{Files: map[string][]byte{}, Dumps: map[string][]string{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if r.Files[e.Name()], err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if strings.HasSuffix(e.Name(), "-Data.db") {
			if r.Dumps[e.Name()], err = o.Dump(path); err != nil {
				return nil, err
			}
		}
	}
	for _, read := range s.Reads {
		rows, err := o.Select(read.Now, "SELECT "+read.Columns+" FROM "+keyspace+"."+s.Name)
		if err != nil {
			return nil, err
		}
		r.Answers = append(r.Answers, rows)
	}
	return r, nil
}
