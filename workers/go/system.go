package main

import (
	"os"
	"strconv"
	"strings"
)

// hugePageBytes is the size of a PMD-mapped page, 0 where the kernel has no transparent huge pages.
func hugePageBytes() int {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	if err != nil {
		return 0
	}
	size, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return size
}
