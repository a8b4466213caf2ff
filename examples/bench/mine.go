// Two ways to fill a slice: pagewise bench mine.go
package main

import "pagewise"

var _ = pagewise.Param("elements", "1000,100000")

//pagewise:baseline
func BenchmarkGrow(b *pagewise.B) {
	n := b.Value("elements")
	var all []int
	b.Begin("fill")
	for i := 0; i < n; i++ {
		all = append(all, i)
	}
	b.End()
	b.Result(len(all))
}

func BenchmarkReserve(b *pagewise.B) {
	n := b.Value("elements")
	b.Begin("fill")
	all := make([]int, 0, n)
	for i := 0; i < n; i++ {
		all = append(all, i)
	}
	b.End()
	b.Result(len(all))
}
