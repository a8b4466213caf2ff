package main

import "syscall"

// sharedFile maps a file below `folder`: open, ftruncate, mmap(MAP_SHARED), as the standard library's syscall package does it.
func (s *slot) sharedFile(folder string, onDisk bool) {
	s.shareBegin()
	path, length := folder+"/"+launchName+"-share-go", s.bytes
	var memory []byte
	s.begin("map")
	file, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	call := "open " + path
	if err == nil {
		call, err = "ftruncate", syscall.Ftruncate(file, int64(length))
	}
	if err == nil {
		call = "mmap"
		memory, err = syscall.Mmap(file, 0, length, readWrite, syscall.MAP_SHARED)
	}
	s.end()
	if call != "open "+path {
		_ = syscall.Unlink(path) // nothing of the name is left, also if this process is killed
	}
	if err != nil {
		s.fail(call, err.(syscall.Errno))
	}
	if s.inMemory(file) && onDisk {
		s.skip("the directory for files lies in memory; name one on a disk")
	}
	at := addressOf(memory)
	s.shareProof(at, path)
	s.shareUse(at, file)
	s.begin("unmap")
	_ = syscall.Munmap(memory)
	_ = syscall.Close(file)
	s.end()
}

// A file on a disk's file system.
var _ = register("share", "file-disk", func(s *slot) { s.sharedFile(launchDirectory, true) })

// A file on tmpfs.
var _ = register("share", "file-tmpfs", func(s *slot) { s.sharedFile("/dev/shm", false) })
