package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"syscall"
)

// An os.File through a bufio.Reader of `chunk` bytes: each record's header and packet, or 4 KiB at a time; in random order
// each block by ReadAt.
var _ = register("read", "bufio", func(s *slot) {
	in := s.readBegin(false)
	reader := bufio.NewReaderSize(nil, in.stepBytes)
	room := make([]byte, max(in.stepBytes, blockBytes))
	in.bufferBytes = in.stepBytes + len(room)

	s.begin("open")
	file, err := os.Open(in.path)
	reader.Reset(file)
	s.end()
	if err != nil {
		s.fail("open "+err.Error(), syscall.EIO)
	}

	s.begin("read")
	switch {
	case in.blocks != nil:
		err = in.readBlocks(file, room)
	case in.walks:
		err = in.readRecords(reader, room)
	default:
		err = in.readAll(reader, room[:blockBytes])
	}
	s.end()
	in.readCount(err)

	s.begin("close")
	file.Close()
	s.end()
	in.readEnd()
})

func (in *reading) readBlocks(file *os.File, room []byte) error {
	for i := 0; i < in.steps; i++ {
		offset := in.offset(i)
		block := room[:in.length(offset)]
		if _, err := file.ReadAt(block, int64(offset)); err != nil {
			return err
		}
		in.consume(block)
	}
	return nil
}

// readRecords takes each record's header, then its packet behind it, and uses the record. What is no whole record of an
// ordinary size goes to the consumer in pieces.
func (in *reading) readRecords(reader *bufio.Reader, room []byte) error {
	want := walkFileHeader
	for left := in.s.bytes; left > 0 && !in.walk.damaged; {
		isHeader := in.walk.skip == 0
		take := room[:min(want, left, len(room))]
		if _, err := io.ReadFull(reader, take); err != nil {
			return err
		}
		if isHeader && len(take) == walkRecordHeader {
			packet := uint64(in.walk.captured(binary.LittleEndian.Uint64(take[8:])))
			if whole := packet + walkRecordHeader; packet <= uint64(in.walk.limit) && whole <= uint64(min(left, len(room))) {
				take = room[:whole]
				if _, err := io.ReadFull(reader, take[walkRecordHeader:]); err != nil {
					return err
				}
			}
		}
		in.consume(take)
		left -= len(take)
		if want = in.walk.skip; want == 0 {
			want = walkRecordHeader
		}
	}
	return nil
}

func (in *reading) readAll(reader *bufio.Reader, room []byte) error {
	for left := in.s.bytes; left > 0; {
		take := room[:min(left, len(room))]
		if _, err := io.ReadFull(reader, take); err != nil {
			return err
		}
		in.consume(take)
		left -= len(take)
	}
	return nil
}
