package main

// Every phase with an empty body: the floor below which nothing is resolved.
var _ = register("share", "null", func(s *slot) {
	ops := uint64(s.keySize("ops"))
	units := []struct {
		phase string
		ops   uint64
	}{{"map", 1}, {"first-touch", uint64(s.bytes / s.pageBytes)}, {"random-write", ops}, {"index-only", ops},
		{"clear", uint64(s.keySize("clear_bytes") / s.bytes)}, {"random-read", ops}, {"unmap", 1}}
	for _, unit := range units {
		s.ops = unit.ops
		s.begin(unit.phase)
		s.end()
	}
})
