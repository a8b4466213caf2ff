package main

import (
	"bytes"
	"syscall"
	"time"
	"unsafe"
)

// Numbers of madvise(2) and mmap(2) that package syscall lacks or has not on every architecture.
const (
	adviceDontNeed   = 4
	adviceFree       = 8
	adviceHugePage   = 14
	adviceNoHugePage = 15
	adviceCold       = 20
	advicePageOut    = 21

	mapFixedNoReplace = 0x100000
)

const (
	readWrite        = syscall.PROT_READ | syscall.PROT_WRITE
	privateAnonymous = syscall.MAP_PRIVATE | syscall.MAP_ANON
)

// mapAt is mmap(2) at an address; package syscall can only map where the kernel likes.
func mapAt(at uintptr, length, protection, flags int) (uintptr, syscall.Errno) {
	address, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, uintptr(length), uintptr(protection), uintptr(flags),
		^uintptr(0), 0)
	return address, errno
}

func unmap(at uintptr, length int) {
	syscall.Syscall(syscall.SYS_MUNMAP, at, uintptr(length), 0)
}

func advise(at uintptr, length, advice int) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, at, uintptr(length), uintptr(advice))
	return errno
}

// memoryAt is the mapping as a slice. The garbage collector knows nothing of this memory and never moves it.
func memoryAt(at uintptr, length int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), length)
}

// addressOf is where a mapping lies.
func addressOf(mapping []byte) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(mapping)))
}

// freeRange finds an address range that nothing maps, aligned to huge pages, with unmapped guards on both sides; mapping it
// with MAP_FIXED_NOREPLACE gives every method the same alignment.
func (s *slot) freeRange(length int) uintptr {
	align := s.pageBytes
	if s.hugePageBytes > 0 {
		align = s.hugePageBytes
	}
	reserve := length + 3*align
	if reserve < length {
		s.fail("mmap", syscall.ENOMEM)
	}
	area, errno := mapAt(0, reserve, syscall.PROT_NONE, privateAnonymous|syscall.MAP_NORESERVE)
	if errno != 0 {
		s.fail("mmap", errno)
	}
	unmap(area, reserve)
	// At least one huge page of unmapped guard on both sides: a neighbour would be merged into one mapping.
	return (area + uintptr(2*align-1)) / uintptr(align) * uintptr(align)
}

var fileText [1 << 18]byte

// readFile reads a small file of /proc into memory that is kept, so that proofs leave no garbage behind.
func readFile(path string) []byte {
	descriptor, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(descriptor)
	held := 0
	for held < len(fileText) {
		got, err := syscall.Read(descriptor, fileText[held:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || got == 0 {
			break
		}
		held += got
	}
	return fileText[:held]
}

func parse(digits []byte, base uint64) (value uint64, length int) {
	for ; length < len(digits); length++ {
		c := uint64(digits[length])
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c = c - 'a' + 10
		default:
			c = base
		}
		if c >= base {
			break
		}
		value = value*base + c
	}
	return value, length
}

// kibibytes reads "Rss:   12 kB" and returns its bytes where the line has that name.
func kibibytes(line []byte, name string) uint64 {
	if len(line) <= len(name) || string(line[:len(name)]) != name {
		return 0
	}
	value, _ := parse(bytes.TrimLeft(line[len(name):], " \t"), 10)
	return value * 1024
}

type resident struct {
	rssBytes, hugeBytes, lazyFreeBytes uint64
}

// residentIn adds up what smaps says of the mappings inside the range.
func (s *slot) residentIn(at uintptr, length int) resident {
	text := readFile("/proc/self/smaps")
	if text == nil {
		s.fail("open /proc/self/smaps", syscall.ENOENT)
	}
	var found resident
	inside := false
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		line := text[:end]
		text = text[end+1:]
		if from, digits := parse(line, 16); digits > 0 && digits < len(line) && line[digits] == '-' {
			to, _ := parse(line[digits+1:], 16)
			inside = from >= uint64(at) && to <= uint64(at)+uint64(length)
		} else if inside {
			found.rssBytes += kibibytes(line, "Rss:")
			for _, kind := range [...]string{"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"} {
				found.hugeBytes += kibibytes(line, kind)
			}
			found.lazyFreeBytes += kibibytes(line, "LazyFree:")
		}
	}
	return found
}

// residentInProcess adds up all mappings of the process.
func (s *slot) residentInProcess() resident {
	text := readFile("/proc/self/smaps_rollup")
	if text == nil {
		s.fail("open /proc/self/smaps_rollup", syscall.ENOENT)
	}
	kib := func(name string) uint64 { return numberIn(text, name) * 1024 }
	return resident{kib("\nRss:"), kib("\nAnonHugePages:"), kib("\nLazyFree:")}
}

// numberIn is the number that follows a name in a text of /proc, 0 where it is not there.
func numberIn(text []byte, name string) uint64 {
	at := bytes.Index(text, []byte(name))
	if at < 0 {
		return 0
	}
	value, _ := parse(bytes.TrimLeft(text[at+len(name):], " \t"), 10)
	return value
}

// presentBytes counts whole pages that are there by their page table: bit 63 of an entry (admin-guide/mm/pagemap.rst).
func (s *slot) presentBytes(at uintptr, length int) uint64 {
	descriptor, err := syscall.Open("/proc/self/pagemap", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		s.fail("open /proc/self/pagemap", err.(syscall.Errno))
	}
	defer syscall.Close(descriptor)
	first, end, present := int64(at)/int64(s.pageBytes), (int64(at)+int64(length)+int64(s.pageBytes)-1)/int64(s.pageBytes), 0
	for first < end {
		want := min(int(end-first)*8, len(fileText))
		got, err := syscall.Pread(descriptor, fileText[:want], first*8)
		if err != nil || got <= 0 {
			s.fail("read /proc/self/pagemap", syscall.EIO)
		}
		for i := 7; i < got; i += 8 {
			present += int(fileText[i] >> 7)
		}
		first += int64(got / 8)
	}
	return uint64(present * s.pageBytes)
}

func peakRssBytes() uint64 {
	text := readFile("/proc/self/status")
	if at := bytes.Index(text, []byte("\nVmHWM:")); at >= 0 {
		return kibibytes(text[at+1:], "VmHWM:")
	}
	return 0
}

func resetPeakRss() {
	if descriptor, err := syscall.Open("/proc/self/clear_refs", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Write(descriptor, []byte("5"))
		syscall.Close(descriptor)
	}
}

// touchAndGiveBack returns what a touch cost, in picoseconds of the thread's CPU time per base page: other processes' turns
// are not in it, a host that must find a page first is.
func (s *slot) touchAndGiveBack(length int, huge bool) uint64 {
	at, errno := mapAt(s.freeRange(length), length, readWrite, privateAnonymous|mapFixedNoReplace)
	if errno != 0 {
		s.fail("mmap", errno)
	}
	advice := adviceNoHugePage
	if huge {
		advice = adviceHugePage
	}
	advise(at, length, advice)
	start := clockNs(clockThreadCPUTimeID)
	touchPages(memoryAt(at, length), s.pageBytes, 1)
	spent := clockNs(clockThreadCPUTimeID) - start
	unmap(at, length)
	return spent * 1000 / uint64(length/s.pageBytes)
}

var cheapest = map[bool]uint64{}

// recycle touches and gives back until a pass is no longer dearer than the cheapest one seen: the host holds all frames then.
func (s *slot) recycle(length int, huge bool) uint64 {
	var level uint64
	known := cheapest[huge] != 0
	for pass := 0; pass < 4; pass++ {
		last := level
		level = s.touchAndGiveBack(length, huge)
		if cheapest[huge] == 0 || level < cheapest[huge] {
			cheapest[huge] = level
		}
		// The very first pass has nothing to be compared with; a later one must come near what was seen before it.
		if (last != 0 || known) && level < 2*cheapest[huge] {
			break
		}
	}
	return level
}

// backingBefore puts the memory that the slot will get into the asked-for state; backingAfter records the level for `cold`.
func (s *slot) backingBefore(huge bool) {
	length := (s.bytes + s.pageBytes - 1) / s.pageBytes * s.pageBytes
	switch s.cell.parameters["backing"] {
	case "recycled":
		s.fact("backing_level_ps", s.recycle(length, huge))
	case "cold":
		time.Sleep(time.Duration(s.keySize("idle_ms")) * time.Millisecond)
	}
}

func (s *slot) backingAfter(huge bool) {
	length := (s.bytes + s.pageBytes - 1) / s.pageBytes * s.pageBytes
	if s.cell.parameters["backing"] == "cold" {
		s.fact("backing_level_ps", s.recycle(length, huge))
	}
}
