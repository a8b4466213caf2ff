// Fresh memory outside the heap in huge pages, where they fit.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// ---
func fresh(bytes int) ([]byte, error) {
	p, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err == nil {
		syscall.Madvise(p, 14) // MADV_HUGEPAGE; only whole, aligned stretches of 2 MiB can become huge pages
	}
	return p, err // given back by syscall.Munmap(p)
}

// ---

func main() {
	bytes, _ := strconv.Atoi(os.Args[1])
	p, err := fresh(bytes)
	if err != nil {
		panic(err)
	}
	for i := 0; i < bytes; i += 4096 {
		p[i] = 1
	}
	fmt.Println(bytes)
}
