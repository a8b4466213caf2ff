// Sums a file's bytes by a mapping.
package main

import (
	"fmt"
	"os"
	"syscall"
)

// ---
func sumOf(path string) (sum uint64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil || status.Size() == 0 { // an empty file cannot be mapped
		return 0, err
	}
	p, err := syscall.Mmap(int(file.Fd()), 0, int(status.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	defer syscall.Munmap(p)
	for _, b := range p {
		sum += uint64(b)
	}
	return sum, nil
}

// ---

func main() {
	sum, err := sumOf(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(sum)
}
