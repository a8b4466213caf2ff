package main

// Every phase with an empty body: the floor below which nothing is resolved in this worker.
var _ = register("read", "null", func(s *slot) {
	s.ops = uint64(s.bytes)
	for _, phase := range []string{"open", "read", "close"} {
		s.begin(phase)
		s.end()
	}
})
