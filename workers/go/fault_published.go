package main

import "syscall"

// job is P5 as published: the loop of a Go benchmark, flaws included: advice before the clock, no alignment, the mapping made
// anew and never unmapped, as often as package testing would for a benchmark of `benchtime_ms`.
type job struct {
	s                *slot
	pile             pile
	mappings, digest uint64
	touched          uint64
	huge, stopped    bool
}

func (j *job) mapAnew() []byte {
	memory, err := syscall.Mmap(-1, 0, j.s.bytes, readWrite, privateAnonymous)
	if err != nil {
		j.s.fail("mmap", err.(syscall.Errno))
	}
	if j.huge {
		_ = syscall.Madvise(memory, adviceHugePage)
	}
	return memory
}

func (j *job) giveBack(memory []byte) {
	if err := syscall.Madvise(memory, j.s.releaseAdvice()); err != nil {
		j.s.fail("madvise", err.(syscall.Errno))
	}
}

// predicted is how often a benchmark is repeated that took spentNs for `last` turns: a fifth more than should suffice, at most
// a hundred times and at least once more than before (package testing of Go 1.16).
func predicted(last, spentNs, goalNs uint64) uint64 {
	turns := goalNs * last / max(spentNs, 1)
	turns += turns / 5
	return max(min(turns, 100*last), last+1)
}

// run makes so many turns, or fewer where freed pages may not accumulate further; it returns the turns made and their time.
func (j *job) run(turns uint64) (made, spentNs uint64) {
	s, page, mark := j.s, j.s.pageBytes, j.s.pageMark()
	pages := uint64(s.bytes / page)
	s.forgetSeries("first-touch")
	j.pile.reached = 0
	for made < turns && !j.stopped {
		memory := j.mapAnew()
		made++
		s.ops, s.phaseBytes = made*pages, made*uint64(s.bytes)
		s.begin("first-touch")
		touchPages(memory, page, mark)
		s.endSeries()
		s.pileTurn(&j.pile, made, turns)
		j.mappings++
		j.stopped = s.pileFull(&j.pile, j.mappings*uint64(s.bytes))
		if made == turns || j.stopped {
			j.touched = s.presentBytes(addressOf(memory), s.bytes)
			j.digest = digestOf(memory)
		}
		j.giveBack(memory)
	}
	return made, soFar(s.number, "first-touch").wallNs
}

// pileUp accumulates freed pages as the smaller sizes of the published benchmark did, one after another in the same process.
func (j *job) pileUp() {
	for done := uint64(0); done <= j.pile.boundBytes; done += uint64(j.s.bytes) {
		memory := j.mapAnew()
		touchPages(memory, j.s.pageBytes, 1)
		j.giveBack(memory)
		j.mappings++
	}
}

func (s *slot) publishedRun(huge bool) {
	if s.bytes%s.pageBytes != 0 {
		s.skip("bytes is not a multiple of the page size")
	}
	j := &job{s: s, huge: huge, pile: s.openPile()}
	if s.key("piled") == "before" {
		j.pileUp()
	}
	s.fact("pile_before_bytes", s.residentInProcess().rssBytes-j.pile.before.rssBytes)
	goalNs, turns := uint64(s.keySize("benchtime_ms"))*1000000, uint64(1)
	made, spentNs := j.run(turns)
	for spentNs < goalNs && !j.stopped {
		turns = predicted(turns, spentNs, goalNs)
		made, spentNs = j.run(turns)
	}
	s.fact("iterations", made)
	s.fact("mappings", j.mappings)
	s.factBool("stopped", j.stopped)
	s.fact("touched_bytes", j.touched)
	s.fact("footprint_bytes", uint64(s.bytes))
	s.factBool("base_pages_only", !s.hugePagesGranted(huge) && s.smallFolios(huge) == 0)
	s.pileFacts(&j.pile)
	s.factDigestValue(j.digest)
}
