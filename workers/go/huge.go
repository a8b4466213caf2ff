package main

import (
	"bytes"
	"strconv"
)

// Transparent huge pages as the kernel's settings say them (Documentation/admin-guide/mm/transhuge.rst). Never timed.

const hugePagesOff = "transparent huge pages are switched off: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"

const hugeFolder = "/sys/kernel/mm/transparent_hugepage/"

// grants tells whether a setting gives folios to memory that is advised by MADV_HUGEPAGE, or to any.
func grants(setting []byte, advised bool) bool {
	return bytes.Contains(setting, []byte("[always]")) || advised && bytes.Contains(setting, []byte("[madvise]"))
}

// granted tells whether a fault gives a folio of that size at once. Before Linux 6.8 there was one setting for one size.
func (s *slot) granted(size int, advised bool) bool {
	own := readFile(hugeFolder + "hugepages-" + strconv.Itoa(size/1024) + "kB/enabled")
	switch {
	case own == nil && size != s.hugePageBytes:
		return false
	case own == nil || bytes.Contains(own, []byte("[inherit]")):
		return grants(readFile(hugeFolder+"enabled"), advised)
	}
	return grants(own, advised)
}

func (s *slot) hugePagesGranted(advised bool) bool {
	return s.hugePageBytes > 0 && s.granted(s.hugePageBytes, advised)
}

// smallFolios is the sum of the granted sizes above a base page and below a huge page; each is a power of two.
func (s *slot) smallFolios(advised bool) int {
	sizes := 0
	for size := 2 * s.pageBytes; size < s.hugePageBytes; size *= 2 {
		if s.granted(size, advised) {
			sizes |= size
		}
	}
	return sizes
}

// expectedFaults is how many faults touching a mapping of its own from its start to its end takes: the kernel gives the
// largest granted folio that begins at the fault, is aligned and ends within the mapping.
func (s *slot) expectedFaults(at uintptr, length int, advised bool) uint64 {
	sizes, end, faults := uintptr(s.smallFolios(advised)), at+uintptr(length), uint64(0)
	if s.hugePagesGranted(advised) {
		sizes |= uintptr(s.hugePageBytes)
	}
	page := uintptr(s.pageBytes)
	for ; at < end; faults++ {
		size := max(page, uintptr(s.hugePageBytes))
		for size > page && (sizes&size == 0 || at%size != 0 || size > end-at) {
			size /= 2
		}
		at += size
	}
	return faults
}
