package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// settles says that short turns follow turns of themselves that are not recorded: a user's functions (workers/PROTOCOL.md).
var settles = false

// warmUpNs is the time for which a user's function that takes less runs after its first turn, which is discarded, so that the
// collector has found its pace.
var warmUpNs int64

const (
	shortTurnNs = 1e6
	settlingNs  = 20e3
)

// collects says that the collector runs as it does in a program: a user's function is measured with it.
var collects = false

var gcStats debug.GCStats

func gcCycles() uint64 {
	debug.ReadGCStats(&gcStats)
	return uint64(gcStats.NumGC)
}

func (s *slot) run() {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case slotEnd:
			s.cell.ended = true
			endings = append(endings, end.line)
		default:
			crashOf(end)
		}
		s.closeThreads()
		currentPhase.Store(nil)
	}()
	s.openThreads(s.keySize("threads"))
	if least := s.cell.leastNs; least > 0 && !traceMarks {
		switch {
		case !s.cell.isWarm && least < warmUpNs && s.cell.method.attributes["role"] != "null":
			s.settle(warmUpNs)
		case settles && least < shortTurnNs:
			s.settle(settlingNs)
		}
		s.cell.isWarm = true
	}
	cycles, start := gcCycles(), nanotime()
	s.cell.method.run(s)
	if spent := nanotime() - start; s.cell.leastNs == 0 || spent < s.cell.leastNs {
		s.cell.leastNs = spent
	}
	s.fact("gc_cycles", gcCycles()-cycles)
}

// settle runs the slot for so many nanoseconds and keeps nothing of it.
func (s *slot) settle(ns int64) {
	sampleCount, factCount := len(samples), len(facts)
	for start := nanotime(); ; {
		spare := *s
		s.cell.method.run(&spare)
		samples, facts = samples[:sampleCount], facts[:factCount]
		if nanotime()-start >= ns {
			return
		}
	}
}

// Where a method may make files, and the prefix of what it names.
var launchDirectory, launchName string

func runRequest(r *request) {
	runtime.LockOSThread()
	if !collects {
		debug.SetGCPercent(-1)
	}
	debug.SetPanicOnFault(true)
	traceMarks = r.traceMarks
	if launchDirectory, launchName = r.directory, r.name; launchDirectory == "" {
		launchDirectory = "/tmp"
	}
	if launchName == "" {
		launchName = "pagewise-by-hand"
	}
	slots, sampleCount := 0, 0
	for _, turn := range r.rounds {
		for _, c := range turn.cells {
			sampleCount += c.method.phaseCount()
			slots++
		}
	}
	checkClock()
	writeAbout()
	fmt.Fprintf(out, "about\tclock_read_ns\t%d\n", clockReadNs())
	writeColumns(r)
	flush()
	openTranscript(sampleCount, slots*factsOfASlot)
	watchSignals()
	warm()
	huge, number := hugePageBytes(), 0
	for _, turn := range r.rounds {
		for _, c := range turn.cells {
			s := &slot{cell: c, number: number, round: turn.number, pageBytes: os.Getpagesize(), hugePageBytes: huge,
				seed: r.seed, ops: 1}
			s.bytes = s.keySize("bytes")
			s.phaseBytes = uint64(s.bytes)
			number++
			if !c.ended {
				current.Store(s)
				s.run()
			}
		}
	}
	writeTranscript()
}
