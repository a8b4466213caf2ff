package main

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

type counters struct {
	cpuNs, userNs, systemNs, minorFaults, majorFaults, voluntarySwitches, involuntarySwitches uint64
}

// usage is outside any function, so that reading counters never grows a stack.
var usage syscall.Rusage

func readUsage(into *counters) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	into.userNs = uint64(usage.Utime.Sec)*1e9 + uint64(usage.Utime.Usec)*1e3
	into.systemNs = uint64(usage.Stime.Sec)*1e9 + uint64(usage.Stime.Usec)*1e3
	into.minorFaults = uint64(usage.Minflt)
	into.majorFaults = uint64(usage.Majflt)
	into.voluntarySwitches = uint64(usage.Nvcsw)
	into.involuntarySwitches = uint64(usage.Nivcsw)
}

var (
	before, after counters
	startedNs     int64
	currentPhase  atomic.Pointer[string] // nil between phases
	traceMarks    bool
)

func phaseName() string {
	if name := currentPhase.Load(); name != nil {
		return *name
	}
	return "-"
}

// mark makes a system call that fails and changes nothing; a tracer sees by it where a phase begins and ends.
func mark(word, phase string) {
	text := []byte(word + " " + phase)
	syscall.RawSyscall(syscall.SYS_WRITE, ^uintptr(0), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
}

// begin and end are a phase's braces: what stands between the two calls is timed, and nothing else.
//
//go:noinline
func (s *slot) begin(phase string) {
	currentPhase.Store(&phase)
	readUsage(&before)
	before.cpuNs = clockNs(clockProcessCPUTimeID)
	if traceMarks {
		mark("phase", phase)
	}
	startedNs = nanotime()
}

//go:noinline
func (s *slot) end() {
	s.stop()
	record(ended)
}

// ended is the sample that stop took; outside any function like usage.
var ended sample

func (s *slot) stop() {
	wallNs := nanotime() - startedNs
	if traceMarks {
		mark("end", phaseName())
	}
	// In the opposite order of begin(), so that the CPU clock is read next to the wall clock on both sides.
	after.cpuNs = clockNs(clockProcessCPUTimeID)
	readUsage(&after)
	ended = sample{s.number, s.round, s.cell.number, phaseName(), s.ops, s.phaseBytes, uint64(startedNs), uint64(wallNs),
		counters{after.cpuNs - before.cpuNs, after.userNs - before.userNs, after.systemNs - before.systemNs,
			after.minorFaults - before.minorFaults, after.majorFaults - before.majorFaults,
			after.voluntarySwitches - before.voluntarySwitches,
			after.involuntarySwitches - before.involuntarySwitches}}
	currentPhase.Store(nil)
}

// endSeries is end() for a phase that a slot passes many times, with untimed work between: times and counters add up to one
// sample, as with a benchmark's timer that is stopped and started; ops and bytes are those set for the last turn.
//
//go:noinline
func (s *slot) endSeries() {
	s.stop()
	addSample(&ended)
}
