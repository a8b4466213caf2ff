package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

var out = bufio.NewWriterSize(os.Stdout, 1<<16)

// Name and flags of this worker.
var (
	workerName  = "go"
	methodFlags = "go build -trimpath"
)

// sample is one timed phase call.
type sample struct {
	slot, round, cell int
	phase             string
	ops, bytes        uint64
	startNs, wallNs   uint64
	spent             counters
}

type recordedFact struct {
	slot, cell  int
	name, value string
}

// Everything is kept in memory, faulted in before the first slot, and written once at the end.
var (
	samples []sample
	facts   []recordedFact
	endings []string
)

func flush() {
	if err := out.Flush(); err != nil {
		fmt.Fprintf(os.Stderr, "the transcript cannot be written: %v\n", err)
		os.Exit(3)
	}
}

func writeAbout() {
	fmt.Fprintf(out, "pagewise\t1\t%s\n", workerName)
	about := func(key string, value any) { fmt.Fprintf(out, "about\t%s\t%v\n", key, value) }
	about("compiler", runtime.Version()+" "+runtime.GOARCH)
	about("method_flags", methodFlags)
	about("gomaxprocs", runtime.GOMAXPROCS(0))
	if !collects {
		about("gogc", "off while slots run")
	}
	about("page_bytes", os.Getpagesize())
	about("huge_page_bytes", hugePageBytes())
}

func writeColumns(r *request) {
	if r.hardwareCounters {
		for _, column := range []string{"cycles", "dtlb_misses"} {
			fmt.Fprintf(out, "absent\t%s\tthe Go runtime starts its threads before a counter for all of them could be opened\n",
				column)
		}
	}
	columns := "slot round cell phase ops bytes start_ns wall_ns cpu_ns user_ns system_ns minor_faults major_faults " +
		"voluntary_switches involuntary_switches"
	fmt.Fprintf(out, "columns\t%s\n", strings.ReplaceAll(columns, " ", "\t"))
}

// openTranscript makes room and writes to all of it, so that recording faults nothing in.
func openTranscript(sampleCount, factCount int) {
	samples = make([]sample, sampleCount)
	facts = make([]recordedFact, factCount)
	for i := range samples {
		samples[i].slot = i
	}
	for i := range facts {
		facts[i].slot = i
	}
	samples, facts = samples[:0], facts[:0]
}

func record(s sample) {
	if len(samples) == cap(samples) {
		fmt.Fprintf(os.Stderr, "a method timed more phases than it declares: %s\n", s.phase)
		os.Exit(3)
	}
	samples = append(samples, s)
}

// soFar is the slot's sample of a phase, nil where there is none.
func soFar(slot int, phase string) *sample {
	for i := len(samples) - 1; i >= 0 && samples[i].slot == slot; i-- {
		if samples[i].phase == phase {
			return &samples[i]
		}
	}
	return nil
}

func addSample(more *sample) {
	into := soFar(more.slot, more.phase)
	if into == nil {
		record(*more)
		return
	}
	into.ops, into.bytes = more.ops, more.bytes
	into.wallNs += more.wallNs
	sum, add := &into.spent, &more.spent
	sum.cpuNs += add.cpuNs
	sum.userNs += add.userNs
	sum.systemNs += add.systemNs
	sum.minorFaults += add.minorFaults
	sum.majorFaults += add.majorFaults
	sum.voluntarySwitches += add.voluntarySwitches
	sum.involuntarySwitches += add.involuntarySwitches
}

// forgetSeries drops what has added up; a series has no other phase between its turns.
func (s *slot) forgetSeries(phase string) {
	if there := soFar(s.number, phase); there != nil && there == &samples[len(samples)-1] {
		samples = samples[:len(samples)-1]
	}
}

func writeTranscript() {
	for _, s := range samples {
		c := &s.spent
		fmt.Fprintf(out, "sample\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", s.slot, s.round, s.cell,
			s.phase, s.ops, s.bytes, s.startNs, s.wallNs, c.cpuNs, c.userNs, c.systemNs, c.minorFaults, c.majorFaults,
			c.voluntarySwitches, c.involuntarySwitches)
	}
	for _, f := range facts {
		fmt.Fprintf(out, "fact\t%d\t%d\t%s\t%s\n", f.slot, f.cell, f.name, f.value)
	}
	for _, line := range endings {
		out.WriteString(line)
	}
	fmt.Fprintf(out, "done\t%d\n", len(samples))
	flush()
}
