package main

import (
	"bytes"
	"fmt"
)

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
	s.fact("footprint_bytes", uint64(s.bytes))
	resetPeakRss()
	s.backingBefore(huge)
}

// faultNeedsHuge skips where the settings or the size let no huge page come.
func (s *slot) faultNeedsHuge() {
	if s.hugePageBytes == 0 {
		s.skip("this kernel has no transparent huge pages")
	}
	if s.bytes < s.hugePageBytes {
		s.skip(fmt.Sprintf("%d bytes are less than one huge page (%d bytes): none can come", s.bytes, s.hugePageBytes))
	}
	if !s.hugePagesGranted(true) {
		s.skip(hugePagesOff)
	}
}

// faultBefore stands between map and first-touch: what is there already, and the faults that the settings promise.
func (s *slot) faultBefore(at uintptr, huge bool) {
	now := s.residentIn(at, s.bytes)
	s.fact("before.rss_bytes", now.rssBytes)
	s.fact("before.huge_bytes", now.hugeBytes)
	if huge {
		s.fact("granted_faults", s.expectedFaults(at, s.bytes, true))
		s.factBool("small_folios", s.smallFolios(true) != 0)
	}
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
	now = s.residentIn(at, length)
	s.fact("refault.rss_bytes", now.rssBytes)
	s.fact("refault.huge_bytes", now.hugeBytes)
	s.factDigest(memory)

	s.begin("unmap")
	unmap(at, length)
	s.end()
	s.backingAfter(huge)
}
