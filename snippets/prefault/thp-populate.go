// Fresh memory in huge pages that several threads populate, each its part.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// ---
func ready(bytes, threads int) ([]byte, error) {
	p, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, err
	}
	syscall.Madvise(p, 14) // MADV_HUGEPAGE; leave it out for base pages
	const huge = 2 << 20
	share := ((bytes+threads-1)/threads + huge - 1) / huge * huge
	failed := make([]error, threads)
	var parts sync.WaitGroup
	for i := 0; i*share < bytes; i++ {
		parts.Add(1)
		go func() { // a goroutine in a system call has a thread
			defer parts.Done()
			failed[i] = syscall.Madvise(p[i*share:min((i+1)*share, bytes)], 23) // MADV_POPULATE_WRITE, Linux 5.14
		}()
	}
	parts.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return p, nil // given back by syscall.Munmap(p)
}

// ---

func main() {
	bytes, _ := strconv.Atoi(os.Args[1])
	p, err := ready(bytes, 2)
	if err != nil {
		panic(err)
	}
	for i := 0; i < bytes; i += 4096 {
		p[i] = 1
	}
	fmt.Println(bytes)
}
