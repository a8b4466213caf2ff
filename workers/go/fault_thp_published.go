package main

// The P5 job as published, with MADV_HUGEPAGE before the clock; publishedRun stands in fault_published.go.
var _ = register("fault", "thp-published", func(s *slot) {
	if !s.hugePagesGranted(true) {
		s.skip(hugePagesOff)
	}
	s.publishedRun(true)
})
