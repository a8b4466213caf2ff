// The file is mapped; each page is found when it is used.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// ---
func loaded(path string, bytes int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping stays; syscall.Munmap gives it back
	return syscall.Mmap(int(file.Fd()), 0, bytes, syscall.PROT_READ, syscall.MAP_SHARED)
}

// ---
func main() {
	bytes, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	content := make([]byte, bytes)
	for at := 0; at < bytes; at += 4096 {
		binary.LittleEndian.PutUint64(content[at:], uint64(at))
	}
	if err := os.WriteFile("loaded-go", content, 0o600); err != nil {
		panic(err)
	}
	p, err := loaded("loaded-go", bytes)
	os.Remove("loaded-go")
	if err != nil {
		panic(err)
	}
	for at := 0; at < bytes; at += 4096 {
		if binary.LittleEndian.Uint64(p[at:]) != uint64(at) {
			panic("wrong content")
		}
	}
	fmt.Println(len(p))
}
