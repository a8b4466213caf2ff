package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

const blockBytes = 4096

// reading is what the Go methods of `read` have in common: the file and its cache before the clock, the steps, the consumer
// and the proofs.
type reading struct {
	s                          *slot
	path                       string
	stepBytes, steps           int
	blocks                     []uint32
	sums, walks, mapped        bool
	found                      map[string]uint64
	before                     ioCounts
	bufferBytes                int // of the buffers that the bytes go through, where there are any
	walk                       walk
	sum, deliveredBytes, touch uint64
}

var madeHot = map[string]string{} // file to the `cache` that it was loaded for

// readBegin stands before the clock. A mapped file is one step in sequential order, otherwise a step is a chunk; in random
// order it is a block.
func (s *slot) readBegin(mapped bool) *reading {
	in := &reading{s: s, path: s.key("file"), mapped: mapped, sums: s.key("consume") == "sum",
		walks: s.key("consume") == "records" || s.key("consume") == "payload"}
	in.found = s.prepareFile()
	in.walk = walk{skip: walkFileHeader, swapped: in.found["walk_swapped"] != 0, limit: uint32(in.found["walk_limit"]),
		payload: s.key("consume") == "payload", held: make([]byte, 0, walkRecordHeader), part: make([]byte, 0, 8)}
	in.stepBytes = s.bytes
	random := s.key("order") == "random"
	if random {
		in.stepBytes = blockBytes
	} else if !mapped {
		in.stepBytes = s.keySize("chunk")
	}
	in.steps = (s.bytes + in.stepBytes - 1) / in.stepBytes
	if random {
		in.shuffle()
	}
	s.ops = uint64(s.bytes)
	resetPeakRss()
	in.before = ownCounts()
	in.before.callBytes += in.before.textBytes
	return in
}

// prepareFile has the helper look at the file and put its cached pages into the asked-for state.
func (s *slot) prepareFile() map[string]uint64 {
	file, cache, words := s.key("file"), s.key("cache"), []string{"memory=unbounded", "kept=no"}
	if cache != "cold" && cache != "dropped" && madeHot[file] == cache {
		words[1] = "kept=yes"
	}
	for _, key := range []string{"file", "bytes", "place", "consume", "order", "cache"} {
		words = append(words, key+"="+s.key(key))
	}
	found := s.prepared(words)
	madeHot[file] = cache
	return found
}

// shuffle is Fisher and Yates with the protocol's index sequence, the same as every worker's.
func (in *reading) shuffle() {
	in.blocks = make([]uint32, in.steps)
	x := in.s.seed | 1
	for i := range in.blocks {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		j := (x * 0x2545F4914F6CDD1D >> 32) % uint64(i+1)
		in.blocks[i] = in.blocks[j]
		in.blocks[j] = uint32(i)
	}
}

func (in *reading) offset(step int) int {
	if in.blocks != nil {
		step = int(in.blocks[step])
	}
	return step * in.stepBytes
}

func (in *reading) length(offset int) int {
	return min(in.stepBytes, in.s.bytes-offset)
}

func (in *reading) consume(p []byte) {
	in.deliveredBytes += uint64(len(p))
	switch {
	case in.sums:
		in.sum += sumWords(p)
	case in.walks:
		in.walk.piece(p)
	case in.mapped:
		in.touch += touchBlocks(p)
	}
}

func touchBlocks(p []byte) (sum uint64) {
	for i := 0; i < len(p); i += blockBytes {
		sum += uint64(p[i])
	}
	return sum
}

// ioCounts are this process's read calls, the bytes that they brought, and those that it had a device read. What finding out
// reads itself (textBytes) is counted the next time.
type ioCounts struct {
	readCalls, callBytes, deviceBytes, textBytes uint64
}

func ownCounts() ioCounts {
	text := readFile("/proc/self/io")
	number := func(name string) uint64 {
		at := bytes.Index(text, []byte(name))
		if at < 0 {
			return 0
		}
		value, _ := parse(text[at+len(name):], 10)
		return value
	}
	return ioCounts{number("syscr: "), number("rchar: "), number("\nread_bytes: "), uint64(len(text))}
}

// readCount stands after the read phase and before anything that would add to its counts.
func (in *reading) readCount(err error) {
	s := in.s
	after := ownCounts()
	s.fact("read_calls", after.readCalls-in.before.readCalls)
	s.fact("call_bytes", after.callBytes-in.before.callBytes)
	s.fact("device_bytes", after.deviceBytes-in.before.deviceBytes)
	s.fact("peak_rss_bytes", peakRssBytes())
	words := ""
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		words = "the file ended before its bytes were read: it has become shorter"
	} else if err != nil {
		words = err.Error()
	} else if in.walks && in.walk.damaged {
		words = fmt.Sprintf("record %d claims %d bytes, more than any record of this file may have (%d): it is damaged",
			in.walk.records, in.walk.wrongBytes, in.walk.limit)
	}
	if words != "" {
		s.failReading("read", 0, words)
	}
}

func (s *slot) failReading(call string, errno syscall.Errno, words string) {
	panic(slotEnd{fmt.Sprintf("fail\t%d\t%d\tread\t%s\t%d\t%s\n", s.number, s.cell.number, call, int(errno), words)})
}

// mappedFault is deferred by the methods that map. Pages beyond the end of a file that has become shorter cannot be faulted
// in; the SIGBUS is a panic here (debug.SetPanicOnFault). Any other panic goes on.
func (in *reading) mappedFault() {
	cause := recover()
	if cause == nil {
		return
	}
	status, err := os.Stat(in.path)
	if _, isFault := cause.(interface{ Addr() uintptr }); !isFault || err != nil || status.Size() >= int64(in.s.bytes) {
		panic(cause)
	}
	in.s.failReading("mmap", syscall.EFAULT,
		"SIGBUS: the file ended before its mapped bytes were read: it has become shorter")
}

func (in *reading) readEnd() {
	s := in.s
	for _, name := range []string{"resident_before_bytes", "stored_bytes", "counted", "calls_counted"} {
		s.fact(name, in.found[name])
	}
	s.fact("delivered_bytes", in.deliveredBytes)
	s.fact("footprint_bytes", uint64(s.bytes+in.bufferBytes))
	s.fact("step_bytes", uint64(in.stepBytes))
	s.fact("page_bytes", uint64(s.pageBytes))
	digest := uint64(0) // of exactly the bytes that were used
	if in.sums {
		digest = in.sum
	}
	if in.walks {
		s.fact("records", in.walk.records)
		s.fact("record_bytes", in.walk.recordBytes)
		s.fact("cut_bytes", in.walk.cutBytes())
		digest = in.walk.fold ^ in.walk.records*0x9E3779B97F4A7C15 ^ in.walk.recordBytes
	}
	known := in.found["content_known"]
	if !in.sums && !in.walks && !in.mapped {
		known = 0 // nothing was used
	}
	s.fact("content_known", known)
	if known != 0 {
		used := digest
		if !in.sums && !in.walks {
			used = in.touch
		}
		wrong := uint64(0)
		if used != in.found["content"] {
			wrong = 1
		}
		s.fact("content_wrong", wrong)
	}
	s.factWord("digest", fmt.Sprintf("%016x", digest))
}
