package main

import (
	"encoding/binary"
	"math/bits"
)

const (
	walkFileHeader   = 24
	walkRecordHeader = 16
)

// walk goes through a pcap file in pieces of any size; it counts and folds what workers/c counts and folds: the headers of all
// complete records, and with payload the packets' bytes too.
type walk struct {
	records, recordBytes, fold uint64
	payload                    bool
	payloadSum                 uint64 // of the words of the record being skipped that have come so far
	part                       []byte // of a payload word that the end of a piece has cut
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

// mixed folds a record's header and the sum of its payload, weighted by the record's number.
func mixed(number, first, second, payload uint64) uint64 {
	sum := bits.RotateLeft64(first*0x9E3779B97F4A7C15, 23) ^ second
	sum = bits.RotateLeft64(sum*0xBF58476D1CE4E5B9, 29) ^ payload
	sum *= 0x94D049BB133111EB
	return (sum ^ sum>>32) * (2*number + 1)
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
	w.payloadSum += sumWords(w.part)
	w.fold += mixed(w.records, w.first, w.second, w.payloadSum)
	w.payloadSum, w.part = 0, w.part[:0]
	w.recordBytes += uint64(w.captured(w.second))
	w.records++
	w.inRecord = false
}

// addPayload takes what has come of a payload that the end of a piece cuts; a word that is cut waits for its rest.
func (w *walk) addPayload(p []byte) {
	if len(w.part) > 0 {
		there := min(8-len(w.part), len(p))
		w.part = append(w.part, p[:there]...)
		p = p[there:]
		if len(w.part) < 8 {
			return
		}
		w.payloadSum += sumWords(w.part)
		w.part = w.part[:0]
	}
	whole := len(p) &^ 7
	w.payloadSum += sumWords(p[:whole])
	w.part = append(w.part, p[whole:]...)
}

func (w *walk) piece(p []byte) {
	for len(p) > 0 && !w.damaged {
		switch {
		case w.skip > 0:
			there := min(w.skip, len(p))
			w.skip -= there
			if w.payload && w.inRecord {
				w.addPayload(p[:there])
			}
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
	records, recordBytes, fold, limit, payload := w.records, w.recordBytes, w.fold, w.limit, w.payload
	for len(p) >= walkRecordHeader {
		first, second := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		length := w.captured(second)
		if length > limit || int(length) > len(p)-walkRecordHeader {
			break
		}
		var sum uint64
		if payload {
			sum = sumWords(p[walkRecordHeader : walkRecordHeader+int(length)])
		}
		fold += mixed(records, first, second, sum)
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
