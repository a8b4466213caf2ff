package main

import (
	"encoding/binary"
	"math/bits"
)

const (
	walkFileHeader   = 24
	walkRecordHeader = 16
)

// walk goes through a pcap file in pieces of any size; it counts and folds what workers/c counts and folds.
type walk struct {
	records, recordBytes, fold uint64
	skip                       int
	inRecord                   bool // what is being skipped is a record whose header was read
	first, second              uint64
	held                       []byte // of a header that the end of a piece has cut
	swapped, damaged           bool
	limit, wrongBytes          uint32
}

func (w *walk) captured(second uint64) uint32 {
	if w.swapped {
		return bits.ReverseBytes32(uint32(second))
	}
	return uint32(second)
}

func folded(sum, first, second uint64) uint64 {
	sum = (sum ^ first) * 0x9E3779B97F4A7C15
	return (bits.RotateLeft64(sum, 23) ^ second) * 0xBF58476D1CE4E5B9
}

func (w *walk) begin(first, second uint64) {
	length := w.captured(second)
	if length > w.limit {
		w.damaged, w.wrongBytes = true, length
		return
	}
	w.first, w.second, w.skip, w.inRecord = first, second, int(length), true
	if length == 0 {
		w.complete()
	}
}

func (w *walk) complete() {
	w.fold = folded(w.fold, w.first, w.second)
	w.recordBytes += uint64(w.captured(w.second))
	w.records++
	w.inRecord = false
}

func (w *walk) piece(p []byte) {
	for len(p) > 0 && !w.damaged {
		switch {
		case w.skip > 0:
			there := min(w.skip, len(p))
			w.skip -= there
			p = p[there:]
			if w.skip == 0 && w.inRecord {
				w.complete()
			}
		case len(w.held) == 0 && len(p) >= walkRecordHeader:
			p = w.headers(p)
		default:
			there := min(walkRecordHeader-len(w.held), len(p))
			w.held = append(w.held, p[:there]...)
			p = p[there:]
			if len(w.held) == walkRecordHeader {
				w.begin(binary.LittleEndian.Uint64(w.held), binary.LittleEndian.Uint64(w.held[8:]))
				w.held = w.held[:0]
			}
		}
	}
}

// cutBytes is what the end of the file has cut off: of a record, or of its header.
func (w *walk) cutBytes() uint64 {
	switch {
	case w.inRecord:
		return uint64(walkRecordHeader + int(w.captured(w.second)) - w.skip)
	case w.skip > 0:
		return uint64(walkFileHeader - w.skip)
	}
	return uint64(len(w.held))
}

// headers takes whole records as far as the piece goes, and the header of the one that it cuts.
func (w *walk) headers(p []byte) []byte {
	records, recordBytes, fold, limit := w.records, w.recordBytes, w.fold, w.limit
	for len(p) >= walkRecordHeader {
		first, second := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		length := w.captured(second)
		if length > limit || int(length) > len(p)-walkRecordHeader {
			break
		}
		fold = folded(fold, first, second)
		recordBytes += uint64(length)
		records++
		p = p[walkRecordHeader+int(length):]
	}
	w.records, w.recordBytes, w.fold = records, recordBytes, fold
	if len(p) < walkRecordHeader {
		return p
	}
	w.begin(binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]))
	return p[walkRecordHeader:]
}
