package main

// The P5 job as published, without advice; publishedRun stands in fault_published.go.
var _ = register("fault", "touch-published", func(s *slot) { s.publishedRun(false) })
