package main

// The P5 job as published, with MADV_HUGEPAGE before the clock; publishedRun stands in fault.go.
var _ = register("fault", "thp-published", func(s *slot) { s.publishedRun(true) })
