package main

import (
	"bytes"
	"fmt"
)

const quarters = 4

// pile is what piles up where freed memory stays mapped: how much may, and what is there as the turns of a job go by.
type pile struct {
	boundBytes      uint64 // what may pile up: `pile`, or half of what the machine has left where that is less
	boundedByCgroup bool   // the kernel keeps the bound by taking freed pages back; otherwise the job stops there
	before          resident
	reclaimedPages  uint64
	reached         int
	quarters        [quarters]quarter
}

type quarter struct {
	turns, wallNs, minorFaults uint64
	there                      resident
	reclaimedPages             uint64
}

// cgroupLimit is the tightest limit of this process's own memory cgroup, in either version.
func cgroupLimit() uint64 {
	least := ^uint64(0)
	for _, line := range bytes.Split(bytes.Clone(readFile("/proc/self/cgroup")), []byte("\n")) {
		parts := bytes.SplitN(line, []byte(":"), 3)
		if len(parts) < 3 {
			continue
		}
		path := ""
		switch own := string(parts[2]); {
		case string(parts[1]) == "memory":
			path = "/sys/fs/cgroup/memory" + own + "/memory.limit_in_bytes"
		case string(parts[0]) == "0":
			path = "/sys/fs/cgroup" + own + "/memory.max"
		}
		if limit, digits := parse(readFile(path), 10); digits > 0 {
			least = min(least, limit)
		}
	}
	return least
}

func reclaimedPages() uint64 {
	return numberIn(readFile("/proc/vmstat"), "\npglazyfreed")
}

func (s *slot) openPile() pile {
	wanted, left := uint64(s.keySize("pile")), numberIn(readFile("/proc/meminfo"), "\nMemAvailable:")*1024
	p := pile{boundedByCgroup: cgroupLimit() <= wanted, before: s.residentInProcess(), reclaimedPages: reclaimedPages()}
	p.boundBytes = wanted
	if !p.boundedByCgroup {
		p.boundBytes = min(wanted, left/2)
	}
	if 2*uint64(s.bytes) > p.boundBytes {
		s.skip(fmt.Sprintf("the mapping takes more than half of the %d bytes that may pile up", p.boundBytes))
	}
	if s.key("piled") == "before" {
		if s.key("release") != "free" {
			s.skip("MADV_DONTNEED leaves nothing that could pile up")
		}
		if !p.boundedByCgroup {
			s.skip("keeping all freed pages needs a memory cgroup that bounds it; run as root, or in a cgroup that was delegated to you")
		}
	}
	return p
}

// pileTurn notes, at each quarter of the turns, what has been spent so far and what lies there.
func (s *slot) pileTurn(p *pile, made, turns uint64) {
	if p.reached == quarters || made < (turns*uint64(p.reached+1)+quarters-1)/quarters {
		return
	}
	sum := soFar(s.number, "first-touch")
	p.quarters[p.reached] = quarter{made, sum.wallNs, sum.spent.minorFaults, s.residentInProcess(), reclaimedPages()}
	p.reached++
}

func (s *slot) pileFull(p *pile, mappedBytes uint64) bool {
	return s.key("release") == "free" && !p.boundedByCgroup && mappedBytes+uint64(s.bytes) > p.boundBytes
}

func (s *slot) pileFacts(p *pile) {
	now := s.residentInProcess()
	s.fact("bound_bytes", p.boundBytes)
	s.factBool("bounded_by_cgroup", p.boundedByCgroup)
	s.fact("pile_bytes", now.rssBytes-p.before.rssBytes)
	s.fact("lazyfree_bytes", now.lazyFreeBytes-p.before.lazyFreeBytes)
	s.fact("reclaimed_pages", reclaimedPages()-p.reclaimedPages)
	last := quarter{reclaimedPages: p.reclaimedPages}
	for i, q := range p.quarters[:p.reached] {
		note := func(name string, value uint64) { s.fact(fmt.Sprintf("quarter-%d.%s", i+1, name), value) }
		note("turns", q.turns-last.turns)
		note("wall_ns", q.wallNs-last.wallNs)
		note("minor_faults", q.minorFaults-last.minorFaults)
		note("pile_bytes", q.there.rssBytes-p.before.rssBytes)
		note("lazyfree_bytes", q.there.lazyFreeBytes-p.before.lazyFreeBytes)
		note("reclaimed_pages", q.reclaimedPages-last.reclaimedPages)
		last = q
	}
}
