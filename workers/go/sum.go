package main

import "encoding/binary"

// sumWords adds up all little-endian 8-byte words, the last one padded with zeros. Arrays of known length have no bounds
// to be checked, and four sums do not wait for each other.
func sumWords(p []byte) uint64 {
	var a, b, c, d uint64
	var last []byte // the last eight bytes, of which those that were added before are shifted out
	if len(p) >= 8 {
		last = p[len(p)-8:]
	}
	for len(p) >= 64 {
		q := (*[64]byte)(p)
		a += binary.LittleEndian.Uint64(q[0:8]) + binary.LittleEndian.Uint64(q[32:40])
		b += binary.LittleEndian.Uint64(q[8:16]) + binary.LittleEndian.Uint64(q[40:48])
		c += binary.LittleEndian.Uint64(q[16:24]) + binary.LittleEndian.Uint64(q[48:56])
		d += binary.LittleEndian.Uint64(q[24:32]) + binary.LittleEndian.Uint64(q[56:64])
		p = p[64:]
	}
	for len(p) >= 8 {
		a += binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	switch {
	case len(p) == 0:
	case last != nil:
		b += binary.LittleEndian.Uint64(last) >> (64 - 8*len(p))
	default:
		for i, one := range p {
			b += uint64(one) << (8 * i)
		}
	}
	return a + b + c + d
}
