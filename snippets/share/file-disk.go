// A mapped file of a disk.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// ---
func shared(bytes int) ([]byte, error) {
	file, err := os.CreateTemp(".", "shared-")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer os.Remove(file.Name()) // once everybody has opened it
	if err := file.Truncate(int64(bytes)); err != nil {
		return nil, err
	}
	return syscall.Mmap(int(file.Fd()), 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// ---

func main() {
	bytes, _ := strconv.Atoi(os.Args[1])
	p, err := shared(bytes)
	if err != nil {
		panic(err)
	}
	for i := 0; i < bytes; i += 4096 {
		p[i] = 1
	}
	fmt.Println(bytes)
}
