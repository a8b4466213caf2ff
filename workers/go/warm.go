package main

import (
	"runtime"
	"sync"
	"syscall"
)

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
