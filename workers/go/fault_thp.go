package main

// Permit transparent huge pages by MADV_HUGEPAGE, then touch every base page: one fault per huge page.
var _ = register("fault", "thp", func(s *slot) {
	s.faultNeedsHuge()
	s.faultBegin(true)
	length, mark := s.bytes, s.pageMark()
	where := s.freeRange(length)

	s.begin("map")
	at, errno := mapAt(where, length, readWrite, privateAnonymous|mapFixedNoReplace)
	s.end()
	if errno != 0 {
		s.fail("mmap", errno)
	}
	s.faultBefore(at, true)

	s.begin("advise")
	errno = advise(at, length, adviceHugePage)
	s.end()
	if errno != 0 {
		s.skip("this kernel has no transparent huge pages (madvise(MADV_HUGEPAGE) was refused)")
	}

	s.beginParallel("first-touch")
	s.onEveryThread(touchPages, memoryAt(at, length), mark)
	s.end()
	s.faultProofs(at)
	s.faultRest(at, true)
})
