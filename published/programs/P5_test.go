// P5 as its article tells it, by Pagewise and without a line of the article's program: a Go benchmark that touches every page
// of a mapping, with and without MADV_HUGEPAGE before the clock ("prefetch" there), and gives it back untimed.
//
// Build and run: go test -bench . p5_test.go          (-benchtime 100ms is what pagewise run --published P5 takes)
//
// A changed copy is compared by: pagewise bench --published P5 mine_test.go
//
// The mapping is made anew in each iteration and never unmapped: what MADV_FREE frees stays until memory is short.
package p5

import (
	"fmt"
	"syscall"
	"testing"
)

const (
	dontNeed = 4
	free     = 8
	hugePage = 14
	page     = 4096
	mib      = 1 << 20
)

func touchAll(b *testing.B, bytes int, prefetch bool, giveBack int) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		memory, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			b.Fatal(err)
		}
		if prefetch {
			_ = syscall.Madvise(memory, hugePage)
		}
		b.StartTimer()
		for at := 0; at < bytes; at += page {
			memory[at] = 1
		}
		b.StopTimer()
		if err := syscall.Madvise(memory, giveBack); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkTouch(b *testing.B) {
	for size := 1; size <= 1024; size *= 2 {
		b.Run(fmt.Sprintf("prefetch/%dMiB", size), func(b *testing.B) { touchAll(b, size*mib, true, dontNeed) })
		b.Run(fmt.Sprintf("fault/%dMiB", size), func(b *testing.B) { touchAll(b, size*mib, false, dontNeed) })
	}
}

func BenchmarkGiveBack(b *testing.B) {
	ways := []struct {
		name   string
		advice int
	}{{"dontneed", dontNeed}, {"free", free}}
	for _, way := range ways {
		for size := 1; size <= 512; size *= 2 {
			b.Run(fmt.Sprintf("prefetch/%s/%dMiB", way.name, size), func(b *testing.B) { touchAll(b, size*mib, true, way.advice) })
			b.Run(fmt.Sprintf("fault/%s/%dMiB", way.name, size), func(b *testing.B) { touchAll(b, size*mib, false, way.advice) })
		}
	}
}
