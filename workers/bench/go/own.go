// Your own loops under Pagewise's stopwatch: pagewise bench FILE.go.
//
//	import "pagewise"
//
//	var _ = pagewise.Param("bytes", "1MiB,64MiB")
//
//	//pagewise:baseline
//	func BenchmarkFill(b *pagewise.B) {
//		bytes := b.Value("bytes")
//		b.Begin("fill") // what is between these two calls is timed
//		memory := make([]byte, bytes)
//		b.End()
//		b.Result(len(memory))
//	}
//
// A function without Begin is timed as a whole, or by the timer of package testing: a benchmark of that package, over b.N or
// b.Loop(), stays as it is. N is then a parameter of 1000.
package pagewise

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// B is one turn of a function.
type B struct {
	// N is the number of operations of this turn.
	N         int
	slot      *slot
	isWhole   bool // timed as a whole
	isOpen    bool
	hasBytes  bool
	loopsLeft int // of Loop, -1 before its first call

	isArmed bool // the threads wait at the start line
	work    func(thread int)
	broken  atomic.Pointer[any] // what the first thread that broke off panicked with
}

const wholePhase = "run"

// Param names a parameter and its values, which the laboratory reads from the source.
func Param(name, values string) bool { return name != "" && values != "" }

// Threads names the values of the parameter `threads`, each a count or N, the number of CPUs.
func Threads(values string) bool { return values != "" }

// Fresh gives each turn a process of its own, as in a program that does this once. The option --fresh does the same.
func Fresh() bool { return true }

// Begin and End are a phase's braces.
func (b *B) Begin(phase string) {
	// A phase of its own by the name that is usual for the whole.
	if b.isOpen {
		b.StopTimer()
		b.slot.forgetSeries(wholePhase)
	}
	b.isWhole = false
	b.begin(phase)
}

// begin begins a phase with the threads at its start line.
func (b *B) begin(phase string) {
	if p := b.slot.threads; p != nil && !b.isArmed {
		p.arm()
		b.isArmed = true
	}
	b.slot.begin(phase)
}

// End ends the phase that Begin began.
func (b *B) End() {
	b.slot.endSeries()
	b.release()
}

// OnThreads calls work on each of the `threads`, each an operating system's thread, and waits for all. In a phase they start
// together with it.
func (b *B) OnThreads(work func(thread int)) {
	p := b.slot.threads
	if p == nil {
		work(0)
		return
	}
	if !b.isArmed {
		p.arm()
	}
	b.isArmed, b.work = false, work
	p.run(b.onThread, 0, 0)
	if cause := b.broken.Swap(nil); cause != nil {
		panic(*cause)
	}
}

// onThread is the work of one thread, whose number is the length of its part.
func (b *B) onThread(part []byte, _ int, _ byte) {
	defer func() {
		if cause := recover(); cause != nil {
			b.broken.CompareAndSwap(nil, &cause)
		}
	}()
	b.work(len(part))
}

// release lets threads go that got no work in their phase.
func (b *B) release() {
	if b.isArmed {
		b.isArmed = false
		b.slot.threads.run(noWork, 0, 0)
	}
}

func noWork([]byte, int, byte) {}

// StartTimer, StopTimer and ResetTimer do what they do in package testing.
func (b *B) StartTimer() {
	if b.isWhole && !b.isOpen {
		b.isOpen = true
		b.begin(wholePhase)
	}
}

// StopTimer ends the timed part, which StartTimer takes up again.
func (b *B) StopTimer() {
	if b.isOpen {
		b.End()
		b.isOpen = false
	}
}

// ResetTimer forgets what was timed so far.
func (b *B) ResetTimer() {
	if b.isOpen {
		b.StopTimer()
		b.slot.forgetSeries(wholePhase)
		b.StartTimer()
	} else if b.isWhole {
		b.slot.forgetSeries(wholePhase)
	}
}

// Loop is true N times. Only what is in the loop is timed.
func (b *B) Loop() bool {
	switch {
	case b.loopsLeft > 0:
		b.loopsLeft--
		return true
	case b.loopsLeft < 0:
		b.loopsLeft = b.N - 1
		b.ResetTimer()
		return true
	}
	b.StopTimer()
	return false
}

// Operations in each phase that follows: figures are those of one.
func (b *B) Operations(count int) { b.slot.ops = uint64(count) }

// Bytes is their number of bytes instead, for figures in GB/s; every function of the file has it then.
func (b *B) Bytes(count int) {
	b.slot.ops, b.slot.phaseBytes, b.hasBytes = uint64(count), uint64(count), true
}

// ReportAllocs, ReportMetric, SetBytes, Helper, Log and Logf are those of package testing, and do nothing.
func (b *B) ReportAllocs() {}

// ReportMetric does nothing.
func (b *B) ReportMetric(float64, string) {}

// SetBytes does nothing: the figures are of one iteration.
func (b *B) SetBytes(int64) {}

// Helper does nothing.
func (b *B) Helper() {}

// Log does nothing.
func (b *B) Log(...any) {}

// Logf does nothing.
func (b *B) Logf(string, ...any) {}

// Run fails: the functions and values that are measured are known before any runs.
func (b *B) Run(name string, _ func(*B)) bool {
	b.Fatalf("b.Run(%q): write its parts as functions BenchmarkName(b), or as the values of a pagewise.Param", name)
	return false
}

// units of a number that is no size; times are in nanoseconds.
var units = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6,
	"s": 1e9, "min": 6e10}

// Value is the number of a parameter in this turn.
func (b *B) Value(name string) int {
	text := b.Text(name)
	if number, err := strconv.Atoi(text); err == nil {
		return number
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ")
	number, err := strconv.ParseFloat(digits, 64)
	scale, known := units[text[len(digits):]]
	if err != nil || !known {
		panic(fmt.Sprintf("Value(%q): %q is no number: read it by Text or Is", name, text))
	}
	return int(number*scale + 0.5)
}

// Text is the word or the path of a parameter in this turn.
func (b *B) Text(name string) string {
	text, known := b.slot.cell.parameters[name]
	if !known {
		panic(fmt.Sprintf("there is no parameter %q", name))
	}
	return text
}

// Is tells whether a parameter has this word in this turn.
func (b *B) Is(name, word string) bool { return b.Text(name) == word }

// Input is the path of a file of as many bytes as a parameter says, with the content that INPUT of pagewise.h has with this
// seed. It is made once in a process and removed with the launch: ask for it before a phase.
func (b *B) Input(name string, seed uint64) string {
	bytes := b.Value(name)
	path := filepath.Join(launchDirectory, fmt.Sprintf("input-%s-%d-%d", name, bytes, seed))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return path
	}
	block := make([]byte, 1<<16)
	for at := 0; at < bytes && err == nil; at += len(block) {
		for k := 0; k < len(block); k += 8 {
			binary.LittleEndian.PutUint64(block[k:], patternWord(seed, uint64((at+k)/8)))
		}
		_, err = file.Write(block[:min(len(block), bytes-at)])
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		b.slot.failed(lineOf([]any{"the input", name, "cannot be made:", err}))
	}
	return path
}

// Cold takes a file out of the page cache, before a phase that reads it. A file that stays in memory skips the function.
func (b *B) Cold(path string) {
	about, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	size := about.Size()
	stays := b.slot.prepared([]string{"file=" + path, fmt.Sprintf("bytes=%d", size), "place=any", "consume=none",
		"order=sequential", "cache=cold", "memory=unbounded"})["resident_before_bytes"]
	if 64*int64(stays) > size {
		b.Skip(fmt.Sprintf("%s cannot be made cold: %d of its %d bytes stay in memory", path, stays, size))
	}
}

// patternWord is the protocol's seeded data pattern (SplitMix64).
func patternWord(seed, index uint64) uint64 {
	z := seed + (index+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Result is what the work came to; every function must come to the same.
func (b *B) Result(value any) {
	var number uint64
	switch v := value.(type) {
	case int:
		number = uint64(v)
	case int64:
		number = uint64(v)
	case uint64:
		number = v
	default:
		hash := fnv.New64a()
		fmt.Fprint(hash, value)
		number = hash.Sum64()
	}
	b.slot.factDigestValue(number)
}

// Fact records a number of this turn.
func (b *B) Fact(name string, value uint64) { b.slot.fact(name, value) }

// Skip ends this turn: the machine cannot do this.
func (b *B) Skip(reasons ...any) { b.slot.skip(lineOf(reasons)) }

// Skipf is Skip with a format.
func (b *B) Skipf(format string, parts ...any) { b.Skip(fmt.Sprintf(format, parts...)) }

// Error ends this turn as Fatal does: one that has failed has no time.
func (b *B) Error(reasons ...any) { b.Fatal(reasons...) }

// Errorf is Error with a format.
func (b *B) Errorf(format string, parts ...any) { b.Fatalf(format, parts...) }

// FailNow is Fatal without a reason.
func (b *B) FailNow() { b.Fatal("it called FailNow") }

// Fatal ends this turn: it has failed.
func (b *B) Fatal(reasons ...any) { b.slot.failed(lineOf(reasons)) }

// Fatalf is Fatal with a format.
func (b *B) Fatalf(format string, parts ...any) {
	b.slot.failed(lineOf([]any{fmt.Sprintf(format, parts...)}))
}

func lineOf(reasons []any) string {
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(strings.TrimSpace(fmt.Sprintln(reasons...)))
}

func (s *slot) failed(reason string) {
	panic(slotEnd{fmt.Sprintf("fail\t%d\t%d\t%s\t%s\t0\t%s\n", s.number, s.cell.number, phaseName(), s.cell.method.name, reason)})
}

// runOwn is one turn of a user's function. Where it panics, it has failed.
func runOwn(s *slot, function func(*B)) {
	defer func() {
		cause := recover()
		if _, isEnd := cause.(slotEnd); cause == nil || isEnd {
			if cause != nil {
				panic(cause)
			}
			return
		}
		if _, isFault := cause.(interface{ Addr() uintptr }); isFault {
			panic(cause)
		}
		s.failed(lineOf([]any{"panic:", cause}))
	}()
	b := &B{N: 1, slot: s, isWhole: s.cell.method.attributes["phases"] == wholePhase, loopsLeft: -1}
	if count := s.keySize("N"); count > 0 {
		b.N, s.ops = count, uint64(count)
	}
	if s.threads != nil {
		for i := range s.threads.parts {
			s.threads.parts[i] = fileText[:i]
		}
	}
	defer b.release()
	b.StartTimer()
	function(b)
	b.StopTimer()
	if isOfBytes && !b.hasBytes {
		s.failed("it says no Bytes, as another function of the file does, so their figures have not the same unit")
	}
}

var methodLines string
var isOfBytes bool // the figures of all functions

// Main is the worker of these functions, which the laboratory has listed.
func Main(list, flags string, functions map[string]func(*B)) {
	workerName, methodFlags, collects, settles = filepath.Base(os.Args[0]), flags, true, true
	// What a function prints is no part of the transcript: it goes nowhere.
	kept, err := syscall.Dup(1)
	nowhere, missing := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil || missing != nil || syscall.Dup3(int(nowhere.Fd()), 1, 0) != nil {
		fmt.Fprintln(os.Stderr, "the transcript cannot be kept apart")
		os.Exit(3)
	}
	syscall.CloseOnExec(kept)
	transcript = kept
	out.Reset(os.NewFile(uintptr(kept), "transcript"))
	for name, function := range functions {
		register("bench", name, func(s *slot) { runOwn(s, function) })
	}
	register("bench", "empty", func(s *slot) {
		for _, phase := range strings.Fields(s.cell.method.attributes["phases"]) {
			s.begin(phase)
			s.end()
		}
	})
	isOfBytes = strings.Contains(list, "about\tunit\tbyte\n")
	// A program that does its work once does it before the collector has found its pace.
	if !strings.Contains(list, "about\tfresh\tyes\n") {
		warmUpNs = 50e6
	}
	about := ""
	for _, line := range strings.SplitAfter(list, "\n") {
		if strings.HasPrefix(line, "method\t") {
			methodLines += line
		} else {
			about += line
		}
	}
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--list":
		writeAbout()
		out.WriteString(about + methodLines)
		flush()
	case len(os.Args) > 1:
		fmt.Fprintf(os.Stderr, "usage: %s [--list], or a request on standard input\n", os.Args[0])
		os.Exit(2)
	default:
		runRequest(readRequest())
	}
}
