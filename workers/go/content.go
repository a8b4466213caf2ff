package main

import "encoding/binary"

// digestOf is the protocol's position-weighted sum over little-endian words, the tail padded with zeros.
func digestOf(content []byte) uint64 {
	var sum uint64
	weight := uint64(1)
	whole := len(content) &^ 7
	for i := 0; i < whole; i += 8 {
		sum += binary.LittleEndian.Uint64(content[i:]) * weight
		weight += 2
	}
	if whole < len(content) {
		var tail [8]byte
		copy(tail[:], content[whole:])
		sum += binary.LittleEndian.Uint64(tail[:]) * weight
	}
	return sum + uint64(len(content))*0x9E3779B97F4A7C15
}
