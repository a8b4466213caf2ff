package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

const (
	clockMonotonic        = 1
	clockProcessCPUTimeID = 2
	clockThreadCPUTimeID  = 3
)

// nanotime is the runtime's own clock read. On Linux it is CLOCK_MONOTONIC through the vDSO, as checkClock() proves; a
// system call for each read would cost several times as much.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

func clockNs(clock uintptr) uint64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return uint64(t.Sec)*1e9 + uint64(t.Nsec)
}

// checkClock ends the worker where the runtime's clock is not the one that all workers share.
func checkClock() {
	before := clockNs(clockMonotonic)
	now := uint64(nanotime())
	after := clockNs(clockMonotonic)
	if now < before || now > after {
		fmt.Fprintf(os.Stderr, "the clock of %s is not CLOCK_MONOTONIC\n", runtime.Version())
		os.Exit(3)
	}
}

// clockReadNs is what one clock read costs: the smallest mean of 64 rows of 65 reads.
func clockReadNs() uint64 {
	best := ^uint64(0)
	for i := 0; i < 64; i++ {
		start := nanotime()
		for j := 0; j < 64; j++ {
			nanotime()
		}
		if each := uint64(nanotime()-start) / 65; each < best {
			best = each
		}
	}
	return best
}
