// The Go worker. Its runtime is part of the published P5 figures, so it measures the same jobs as the native worker does,
// and speaks the same protocol (workers/PROTOCOL.md).
package main

import (
	_ "embed"
	"fmt"
	"os"
)

// The `method` lines of --list. The laboratory reads this file too, so that it can list methods before the worker is built.
//
//go:embed methods.tsv
var methodLines string

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--list":
		writeAbout()
		out.WriteString(methodLines)
		flush()
	case len(os.Args) > 1:
		fmt.Fprintf(os.Stderr, "usage: %s [--list], or a request on standard input\n", os.Args[0])
		os.Exit(2)
	default:
		runRequest(readRequest())
	}
}
