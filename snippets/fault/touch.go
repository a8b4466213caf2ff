// Fresh memory outside the heap, whose pages come one by one when they are touched.
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
