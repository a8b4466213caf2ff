package main

// Map outside of the heap, then write one byte to each base page, each thread its part; huge pages are forbidden.
var _ = register("prefault", "touch", func(s *slot) {
	if s.bytes%s.pageBytes != 0 {
		s.skip("bytes is not a multiple of the page size")
	}
	s.ops = uint64(s.bytes)
	s.fact("footprint_bytes", uint64(s.bytes))
	length, mark := s.bytes, s.pageMark()
	where := s.freeRange(length)
	var memory []byte

	s.beginParallel("populate")
	at, errno := mapAt(where, length, readWrite, privateAnonymous|mapFixedNoReplace)
	if errno == 0 {
		advise(at, length, adviceNoHugePage)
		memory = memoryAt(at, length)
	}
	s.onEveryThread(touchPages, memory, mark)
	s.end()
	if errno != 0 {
		s.fail("mmap", errno)
	}
	now := s.residentIn(at, length)
	s.fact("rss_bytes", now.rssBytes)
	s.fact("huge_bytes", now.hugeBytes)
	s.fact("present_bytes", s.presentBytes(at, length))

	s.begin("pin")
	s.end()

	s.beginParallel("first-use")
	s.onEveryThread(touchPages, memory, mark)
	s.end()
	s.factDigest(memory)

	s.begin("teardown")
	unmap(at, length)
	s.end()
})
