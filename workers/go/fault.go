package main

import (
	"bytes"
	"syscall"
)

// touchPages is the measured loop of P5: one byte into each base page.
//
//go:noinline
func touchPages(memory []byte, pageBytes int, mark byte) {
	for i := 0; i < len(memory); i += pageBytes {
		memory[i] = mark
	}
}

func (s *slot) pageMark() byte {
	return byte(s.seed | 1)
}

func (s *slot) releaseAdvice() int {
	switch s.key("release") {
	case "free":
		return adviceFree
	case "cold":
		return adviceCold
	case "pageout":
		return advicePageOut
	}
	return adviceDontNeed
}

func swapIsOn() bool {
	return bytes.Count(readFile("/proc/swaps"), []byte("\n")) > 1
}

// faultBegin checks the cell, prepares backing and counts in pages.
func (s *slot) faultBegin(huge bool) {
	if s.bytes%s.pageBytes != 0 {
		s.skip("bytes is not a multiple of the page size")
	}
	if s.key("release") == "pageout" && !swapIsOn() {
		s.skip("MADV_PAGEOUT leaves anonymous memory where it is without swap; add some with mkswap and swapon")
	}
	s.ops = uint64(s.bytes / s.pageBytes)
	resetPeakRss()
	s.backingBefore(huge)
}

// faultProofs stands after first-touch.
func (s *slot) faultProofs(at uintptr) {
	now := s.residentIn(at, s.bytes)
	s.fact("huge_bytes", now.hugeBytes)
	s.fact("first-touch.rss_bytes", now.rssBytes)
	s.fact("first-touch.peak_rss_bytes", peakRssBytes())
}

// faultRest is what follows first-touch in every method: from re-touch to unmap.
func (s *slot) faultRest(at uintptr, huge bool) {
	memory, length, advice, mark := memoryAt(at, s.bytes), s.bytes, s.releaseAdvice(), s.pageMark()
	s.beginParallel("re-touch")
	s.onEveryThread(touchPages, memory, mark)
	s.end()

	s.begin("release")
	errno := advise(at, length, advice)
	s.end()
	if errno != 0 {
		s.fail("madvise", errno)
	}
	now := s.residentIn(at, length)
	s.fact("release.rss_bytes", now.rssBytes)
	s.fact("release.lazyfree_bytes", now.lazyFreeBytes)

	s.beginParallel("refault")
	s.onEveryThread(touchPages, memory, mark)
	s.end()
	s.fact("refault.rss_bytes", s.residentIn(at, length).rssBytes)
	s.factDigest(memory)

	s.begin("unmap")
	unmap(at, length)
	s.end()
	s.backingAfter(huge)
}

// publishedRun is the P5 job of 2021, flaws included: advice before the clock, no alignment, the mapping made anew each time
// and never unmapped.
func (s *slot) publishedRun(huge bool) {
	s.faultBegin(huge)
	page, mark := s.pageBytes, s.pageMark()
	memory, err := syscall.Mmap(-1, 0, s.bytes, readWrite, privateAnonymous)
	if err != nil {
		s.fail("mmap", err.(syscall.Errno))
	}
	if huge {
		_ = syscall.Madvise(memory, adviceHugePage)
	}
	s.begin("first-touch")
	touchPages(memory, page, mark)
	s.end()
	s.factDigest(memory)
	if err := syscall.Madvise(memory, s.releaseAdvice()); err != nil {
		s.fail("madvise", err.(syscall.Errno))
	}
	s.backingAfter(huge)
}
