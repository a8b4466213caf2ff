package main

// The baseline of sharing: the same memory, shared with nobody.
var _ = register("share", "anon-private", func(s *slot) {
	s.shareBegin()
	address, length := s.freeRange(s.bytes), s.bytes
	s.begin("map")
	at, errno := mapAt(address, length, readWrite, privateAnonymous|mapFixedNoReplace)
	s.end()
	if errno != 0 {
		s.fail("mmap", errno)
	}
	s.shareProof(at, "")
	s.factBool("small_folios", s.smallFolios(false) != 0)
	s.shareUse(at, -1)
	s.begin("unmap")
	unmap(at, length)
	s.end()
})
