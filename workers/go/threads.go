package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
)

// pool holds the helper goroutines of `threads=N`, each locked to an operating system thread of its own.
type pool struct {
	helpers                  int
	turns                    []chan uint32 // one helper each; closed at the end of the slot
	ready, started, finished atomic.Uint32 // `started` is the turn whose work may begin
	turn                     uint32
	ended                    sync.WaitGroup
	processors               int // GOMAXPROCS before, put back afterwards

	work  func(part []byte, pageBytes int, mark byte)
	parts [][]byte
	page  int
	mark  byte
}

func (s *slot) openThreads(threads int) {
	s.threads = nil
	if threads < 2 {
		return
	}
	if threads > 256 {
		s.skip("more than 256 threads are not supported")
	}
	p := &pool{helpers: threads - 1, parts: make([][]byte, threads)}
	for i := range p.parts {
		p.parts[i] = fileText[:] // A page of this slice must not be written for the first time within a phase.
	}
	s.threads = p
	// A helper that spins at the start line holds a processor of the scheduler's: there must be one for each thread.
	p.processors = runtime.GOMAXPROCS(0)
	if threads > p.processors {
		runtime.GOMAXPROCS(threads)
	}
	warmProcessors(threads)
	for i := 0; i < p.helpers; i++ {
		turns := make(chan uint32)
		p.turns = append(p.turns, turns)
		p.ended.Add(1)
		go p.help(i+1, turns)
	}
}

func (p *pool) help(index int, turns chan uint32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.ended.Done()
	debug.SetPanicOnFault(true)
	defer func() {
		if cause := recover(); cause != nil {
			crashOf(cause)
		}
	}()
	interruptSelf()
	for turn := range turns {
		p.ready.Add(1)
		for p.started.Load() < turn {
		}
		p.work(p.parts[index], p.page, p.mark)
		p.finished.Add(1)
	}
}

func (s *slot) closeThreads() {
	p := s.threads
	if p == nil {
		return
	}
	for _, turns := range p.turns {
		close(turns)
	}
	p.ended.Wait()
	if runtime.GOMAXPROCS(0) != p.processors {
		runtime.GOMAXPROCS(p.processors)
	}
	s.threads = nil
}

// beginParallel is begin() with each helper spinning at the start line before the clock is read.
func (s *slot) beginParallel(phase string) {
	if p := s.threads; p != nil {
		p.arm()
	}
	s.begin(phase)
}

// arm has each helper spin at the start line.
func (p *pool) arm() {
	p.ready.Store(0)
	p.finished.Store(0)
	p.turn++
	for _, turns := range p.turns {
		turns <- p.turn
	}
	for int(p.ready.Load()) < p.helpers {
		runtime.Gosched()
	}
}

// onEveryThread runs `work` once per thread, each on its own contiguous, huge-page-aligned part; the caller does the first.
func (s *slot) onEveryThread(work func(part []byte, pageBytes int, mark byte), memory []byte, mark byte) {
	p := s.threads
	if p == nil {
		work(memory, s.pageBytes, mark)
		return
	}
	align, threads := s.pageBytes, p.helpers+1
	if s.hugePageBytes > 0 && len(memory) >= threads*s.hugePageBytes {
		align = s.hugePageBytes
	}
	share := (len(memory)/threads + align - 1) / align * align
	for i := range p.parts {
		from, to := i*share, (i+1)*share
		if to > len(memory) {
			to = len(memory)
		}
		if from > to {
			from = to
		}
		p.parts[i] = memory[from:to]
	}
	p.run(work, s.pageBytes, mark)
}

// run has every thread at the start line do `work` on its part; the caller does the first.
func (p *pool) run(work func(part []byte, pageBytes int, mark byte), pageBytes int, mark byte) {
	p.work, p.page, p.mark = work, pageBytes, mark
	p.started.Store(p.turn)
	work(p.parts[0], pageBytes, mark)
	for spins := 1; int(p.finished.Load()) < p.helpers; spins++ {
		// With more threads than processors, spinning alone would keep the late ones from their work.
		if spins%1024 == 0 {
			syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}
