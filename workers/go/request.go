package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// cell is one method with its parameters.
type cell struct {
	number     int
	line       int // of its `cell` line, for messages
	method     *method
	parameters map[string]string
	ended      bool  // skipped or failed: its remaining slots are not run
	leastNs    int64 // its shortest turn so far, 0 where there was none
	isWarm     bool  // it ran for as long as a user's function does before it is measured
}

// round is one turn of all cells; its number is negative in warm-up rounds.
type round struct {
	number int
	cells  []*cell
}

type request struct {
	experiment, name, directory, rendezvous, role string
	launch, seed                                  uint64
	traceMarks, hardwareCounters                  bool
	cells                                         []*cell
	rounds                                        []round
}

// requestError ends the worker as the protocol says: one sentence and exit status 2.
func requestError(line int, format string, words ...any) {
	fmt.Fprintf(os.Stderr, "request line %d: %s\n", line, fmt.Sprintf(format, words...))
	os.Exit(2)
}

func readRequest() *request {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		requestError(1, "standard input cannot be read: %v", err)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		requestError(1, "the request contains a zero byte")
	}
	r := &request{}
	line, first := 0, true
	for _, entry := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		line++
		if entry == "" || entry[0] == '#' {
			continue
		}
		if first && !strings.HasPrefix(entry, "protocol=") {
			requestError(line, "a request begins with protocol=1")
		}
		first = false
		r.takeLine(line, entry)
	}
	if first {
		requestError(1, "the request is empty")
	}
	if len(r.cells) == 0 || len(r.rounds) == 0 {
		requestError(line, "a request needs at least one cell and one round")
	}
	for _, c := range r.cells {
		if c.method == nil {
			requestError(c.line, "cell %d has no method", c.number)
		}
		c.requireDeclaredKeys()
	}
	if r.role != "" {
		requestError(line, "role=%s, but no method of this worker has two sides", r.role)
	}
	return r
}

func (r *request) takeLine(line int, entry string) {
	key, value, found := strings.Cut(entry, "=")
	if !found || key == "" {
		requestError(line, "\"%s\" is not key=value", entry)
	}
	switch {
	case key == "protocol":
		if value != "1" {
			requestError(line, "protocol=%s is not spoken here; this worker speaks 1", value)
		}
	case key == "cell":
		if r.experiment == "" {
			requestError(line, "cell before experiment")
		}
		if number(line, key, value) != uint64(len(r.cells)) {
			requestError(line, "cell=%s, but cells are numbered in order and %d is next", value, len(r.cells))
		}
		r.cells = append(r.cells, &cell{number: len(r.cells), line: line, parameters: map[string]string{}})
	case key == "round" || key == "warmup":
		r.addRound(line, value, key == "warmup")
	case len(r.rounds) > 0:
		requestError(line, "key \"%s\" after the rounds", key)
	case len(r.cells) > 0:
		r.cellKey(line, r.cells[len(r.cells)-1], key, value)
	default:
		r.launchKey(line, key, value)
	}
}

func (r *request) launchKey(line int, key, value string) {
	switch key {
	case "experiment":
		r.experiment = value
	case "launch":
		r.launch = number(line, key, value)
	case "seed":
		r.seed = number(line, key, value)
	case "role":
		if value != "a" && value != "b" {
			requestError(line, "role=%s is neither a nor b", value)
		}
		r.role = value
	case "rendezvous":
		r.rendezvous = value
	case "directory":
		r.directory = value
	case "name":
		r.name = value
	case "trace_marks":
		r.traceMarks = yes(line, key, value)
	case "hardware_counters":
		r.hardwareCounters = yes(line, key, value)
	default:
		requestError(line, "unknown key \"%s\"", key)
	}
}

func (r *request) cellKey(line int, c *cell, key, value string) {
	if key == "method" {
		if c.method != nil {
			requestError(line, "cell %d has two methods", c.number)
		}
		if c.method = findMethod(r.experiment, value); c.method == nil {
			requestError(line, "unknown method \"%s\" of experiment \"%s\"", value, r.experiment)
		}
		return
	}
	if c.method == nil {
		requestError(line, "cell %d names \"%s\" before its method", c.number, key)
	}
	checkParameter(line, c.method, key, value)
	if _, twice := c.parameters[key]; twice {
		requestError(line, "key \"%s\" stands twice in cell %d", key, c.number)
	}
	c.parameters[key] = value
}

func (r *request) addRound(line int, value string, warmup bool) {
	index, list, found := strings.Cut(value, " ")
	if !found {
		requestError(line, "a round is written round=NUMBER CELL,CELL,…")
	}
	key := "round"
	if warmup {
		key = "warmup"
	}
	turn := round{number: int(number(line, key, index))}
	if warmup && turn.number == 0 {
		requestError(line, "warm-up rounds count from 1")
	}
	if warmup {
		turn.number = -turn.number
	}
	for _, word := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' }) {
		at := number(line, "cell", word)
		if at >= uint64(len(r.cells)) {
			requestError(line, "there is no cell %s", word)
		}
		turn.cells = append(turn.cells, r.cells[at])
	}
	if len(turn.cells) == 0 {
		requestError(line, "a round without cells")
	}
	r.rounds = append(r.rounds, turn)
}

func number(line int, key, value string) uint64 {
	if value == "" || value[0] < '0' || value[0] > '9' {
		requestError(line, "%s=%s is not a whole number", key, value)
	}
	result, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		requestError(line, "%s=%s is not a whole number below 2^64", key, value)
	}
	return result
}

func yes(line int, key, value string) bool {
	if value != "yes" && value != "no" {
		requestError(line, "%s=%s is neither yes nor no", key, value)
	}
	return value == "yes"
}

func checkParameter(line int, m *method, key, value string) {
	kind, known := m.kindOf(key)
	if !known {
		requestError(line, "unknown key \"%s\" for method %s/%s (it takes %s)", key, m.experiment, m.name,
			m.attributes["keys"])
	}
	switch kind {
	case "size", "count":
		if number(line, key, value) == 0 {
			requestError(line, "%s=0 leaves nothing to measure", key)
		}
	case "number":
		number(line, key, value)
	case "text":
		if value == "" {
			requestError(line, "%s is empty", key)
		}
	default:
		for _, choice := range strings.Split(kind, "|") {
			if choice == value {
				return
			}
		}
		requestError(line, "%s=%s is not one of %s", key, value, kind)
	}
}

func (c *cell) requireDeclaredKeys() {
	for _, declared := range strings.Fields(c.method.attributes["keys"]) {
		key, _, _ := strings.Cut(declared, ":")
		if _, given := c.parameters[key]; !given {
			requestError(c.line, "cell %d lacks the key \"%s\" of method %s/%s", c.number, key, c.method.experiment,
				c.method.name)
		}
	}
}
