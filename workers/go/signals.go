package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

var current atomic.Pointer[slot]

// transcript is the descriptor of standard output, or of its copy where what a user's function prints goes nowhere.
var transcript = 1

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
	syscall.Write(transcript, []byte(fmt.Sprintf("crash\t%d\t%d\t%s\t%s\n", slot, cell, phaseName(), name)))
	os.Exit(128 + sig)
}

// crashOf tells of a memory fault, which debug.SetPanicOnFault has made a panic with an address; any other panic goes on.
func crashOf(cause any) {
	if _, isFault := cause.(interface{ Addr() uintptr }); isFault {
		crash("SIGSEGV", int(syscall.SIGSEGV))
	}
	panic(cause)
}
