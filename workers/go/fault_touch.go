package main

// Map, then fault every base page in by writing one byte to it; huge pages are forbidden.
var _ = register("fault", "touch", func(s *slot) {
	s.faultBegin(false)
	length, mark := s.bytes, s.pageMark()
	where := s.freeRange(length)

	s.begin("map")
	at, errno := mapAt(where, length, readWrite, privateAnonymous|mapFixedNoReplace)
	s.end()
	if errno != 0 {
		s.fail("mmap", errno)
	}
	s.faultBefore(at, false)

	s.begin("advise")
	advise(at, length, adviceNoHugePage)
	s.end()

	s.beginParallel("first-touch")
	s.onEveryThread(touchPages, memoryAt(at, length), mark)
	s.end()
	s.faultProofs(at)
	s.faultRest(at, false)
})
