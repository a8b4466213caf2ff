package main

import (
	"syscall"
	"unsafe"
)

// Map the file by syscall.Mmap and go through it as a slice.
var _ = register("read", "mmap", func(s *slot) {
	in := s.readBegin(true)
	defer in.mappedFault()

	s.begin("open")
	file, err := syscall.Open(in.path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	var p []byte
	if err == nil {
		p, err = syscall.Mmap(file, 0, s.bytes, syscall.PROT_READ, syscall.MAP_PRIVATE)
	}
	s.end()
	if err != nil {
		s.fail("mmap", err.(syscall.Errno))
	}

	s.begin("read")
	for i := 0; i < in.steps; i++ {
		offset := in.offset(i)
		in.consume(p[offset : offset+in.length(offset)])
	}
	s.end()
	in.readCount(nil)
	whole := (s.bytes + s.pageBytes - 1) / s.pageBytes * s.pageBytes
	s.fact("mapped_bytes", s.residentIn(uintptr(unsafe.Pointer(&p[0])), whole).rssBytes)

	s.begin("close")
	syscall.Munmap(p)
	syscall.Close(file)
	s.end()
	in.readEnd()
})
