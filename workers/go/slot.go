package main

import (
	"fmt"
	"strconv"
	"syscall"
)

// slot is one turn of one cell: what a method's run function is given.
type slot struct {
	cell          *cell
	number, round int
	bytes         int
	pageBytes     int
	hugePageBytes int
	seed          uint64
	ops           uint64 // units that the next phases are counted in; set by the method, 1 until then
	phaseBytes    uint64
	threads       *pool
}

const factsOfASlot = 40

// slotEnd is what fail and skip panic with; the slot ends there.
type slotEnd struct{ line string }

func (s *slot) fail(call string, errno syscall.Errno) {
	panic(slotEnd{fmt.Sprintf("fail\t%d\t%d\t%s\t%s\t%d\t%s\n", s.number, s.cell.number, phaseName(), call, int(errno),
		errno.Error())})
}

func (s *slot) skip(reason string) {
	panic(slotEnd{fmt.Sprintf("skip\t%d\t%s\n", s.cell.number, reason)})
}

func (s *slot) fact(name string, value uint64) {
	s.factWord(name, strconv.FormatUint(value, 10))
}

func (s *slot) factBool(name string, value bool) {
	number := uint64(0)
	if value {
		number = 1
	}
	s.fact(name, number)
}

func (s *slot) factWord(name, value string) {
	facts = append(facts, recordedFact{s.number, s.cell.number, name, value})
}

func (s *slot) factDigest(content []byte) {
	s.factDigestValue(digestOf(content))
}

func (s *slot) factDigestValue(digest uint64) {
	s.factWord("digest", fmt.Sprintf("%016x", digest))
}

// keySize is a number among the cell's parameters, 0 where it is not there; the request was checked already.
func (s *slot) keySize(key string) int {
	value, _ := strconv.Atoi(s.cell.parameters[key])
	return value
}

func (s *slot) key(name string) string {
	return s.cell.parameters[name]
}
