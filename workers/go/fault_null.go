package main

// Every phase with an empty body: the floor below which nothing is resolved.
var _ = register("fault", "null", func(s *slot) {
	s.ops = uint64(s.bytes / s.pageBytes)
	for _, phase := range []string{"map", "advise", "first-touch", "re-touch", "release", "refault", "unmap"} {
		s.begin(phase)
		s.end()
	}
})
