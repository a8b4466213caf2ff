package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// slot is one turn of one cell: what a method's run function is given.
type slot struct {
	cell          *cell
	number, round int
	bytes         int
	pageBytes     int
	hugePageBytes int
	seed          uint64
	ops           uint64 // units that the next phases are counted in; set by the method, 1 until then
	phaseBytes    uint64
	threads       *pool
}

const factsOfASlot = 40

// slotEnd is what fail and skip panic with; the slot ends there.
type slotEnd struct{ line string }

func (s *slot) fail(call string, errno syscall.Errno) {
	panic(slotEnd{fmt.Sprintf("fail\t%d\t%d\t%s\t%s\t%d\t%s\n", s.number, s.cell.number, phaseName(), call, int(errno),
		errno.Error())})
}

func (s *slot) skip(reason string) {
	panic(slotEnd{fmt.Sprintf("skip\t%d\t%s\n", s.cell.number, reason)})
}

func (s *slot) fact(name string, value uint64) {
	s.factWord(name, strconv.FormatUint(value, 10))
}

func (s *slot) factBool(name string, value bool) {
	number := uint64(0)
	if value {
		number = 1
	}
	s.fact(name, number)
}

func (s *slot) factWord(name, value string) {
	facts = append(facts, recordedFact{s.number, s.cell.number, name, value})
}

func (s *slot) factDigest(content []byte) {
	s.factDigestValue(digestOf(content))
}

func (s *slot) factDigestValue(digest uint64) {
	s.factWord("digest", fmt.Sprintf("%016x", digest))
}

// keySize is a number among the cell's parameters, 0 where it is not there; the request was checked already.
func (s *slot) keySize(key string) int {
	value, _ := strconv.Atoi(s.cell.parameters[key])
	return value
}

func (s *slot) key(name string) string {
	return s.cell.parameters[name]
}

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
	cycles := gcCycles()
	s.openThreads(s.keySize("threads"))
	s.cell.method.run(s)
	s.fact("gc_cycles", gcCycles()-cycles)
}

var current atomic.Pointer[slot]

// watchSignals names the phase in which a fatal signal came, so that the laboratory can say which cell died and where.
func watchSignals() {
	names := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGABRT: "SIGABRT"}
	arrived := make(chan os.Signal, 1)
	for sig := range names {
		signal.Notify(arrived, sig)
	}
	go func() {
		sig := <-arrived
		crash(names[sig], int(sig.(syscall.Signal)))
	}()
}

func crash(name string, sig int) {
	slot, cell := -1, -1
	if s := current.Load(); s != nil {
		slot, cell = s.number, s.cell.number
	}
	syscall.Write(1, []byte(fmt.Sprintf("crash\t%d\t%d\t%s\t%s\n", slot, cell, phaseName(), name)))
	os.Exit(128 + sig)
}

// crashOf tells of a memory fault, which debug.SetPanicOnFault has made a panic with an address; any other panic goes on.
func crashOf(cause any) {
	if _, isFault := cause.(interface{ Addr() uintptr }); isFault {
		crash("SIGSEGV", int(syscall.SIGSEGV))
	}
	panic(cause)
}

// warm makes the runtime take what it would otherwise take in a phase: a larger stack, the counters' pages, signal stacks,
// the scheduler's threads and what it keeps for each of its processors.
//
//go:noinline
func warm() byte {
	var room [64 << 10]byte
	for i := 0; i < len(room); i += 1024 {
		room[i] = byte(i)
	}
	readUsage(&before)
	readUsage(&after)
	interruptSelf()
	warmProcessors(runtime.GOMAXPROCS(0))
	return room[len(room)-1024]
}

// interruptSelf has the calling thread take the signal that the scheduler uses, which does nothing unasked.
func interruptSelf() {
	thread, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), thread, uintptr(syscall.SIGURG))
}

// warmNs is long enough for the scheduler to interrupt each loop several times, as it does every 10 ms.
const warmNs = 35e6

var warmedProcessors int

// warmProcessors keeps that many of the scheduler's processors busy at once with loops that it can only stop by a signal.
// The first such stop on each of them faults in the place where it saves registers.
func warmProcessors(count int) {
	if count <= warmedProcessors {
		return
	}
	warmedProcessors = count
	var spinning sync.WaitGroup
	for i := 1; i < count; i++ {
		spinning.Add(1)
		go func() {
			spin()
			spinning.Done()
		}()
	}
	spin()
	spinning.Wait()
}

//go:noinline
func spin() {
	for start := nanotime(); nanotime()-start < warmNs; {
		for i := 0; i < 1<<20; i++ {
		}
	}
}

// Where a method may make files, and the prefix of what it names.
var launchDirectory, launchName string

func runRequest(r *request) {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
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
