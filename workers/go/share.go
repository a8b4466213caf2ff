package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"syscall"
)

const xorshiftFactor = 0x2545F4914F6CDD1D

// The measured loops of P1. index=rand calls math/rand for each store, as the published job calls its language's generator;
// index=xorshift is xorshift64* in registers, the same sequence in every language.

//go:noinline
func writeByRand(memory []byte, ops uint64, random *rand.Rand) {
	for i := uint64(0); i < ops; i++ {
		memory[random.Intn(len(memory))] = 0x55
	}
}

//go:noinline
func writeByXorshift(memory []byte, ops, seed uint64) {
	x, size := seed|1, uint64(len(memory))
	for i := uint64(0); i < ops; i++ {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		memory[(x*xorshiftFactor>>32)*size>>32] = 0x55
	}
}

// The same loops with no store: what the indices cost by themselves.

//go:noinline
func onlyRand(size int, ops uint64, random *rand.Rand) (sum uint64) {
	for i := uint64(0); i < ops; i++ {
		sum += uint64(random.Intn(size))
	}
	return sum
}

//go:noinline
func onlyXorshift(bytes int, ops, seed uint64) (sum uint64) {
	x, size := seed|1, uint64(bytes)
	for i := uint64(0); i < ops; i++ {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		sum += (x * xorshiftFactor >> 32) * size >> 32
	}
	return sum
}

//go:noinline
func readByRand(memory []byte, ops uint64, random *rand.Rand) (sum uint64) {
	for i := uint64(0); i < ops; i++ {
		sum += uint64(memory[random.Intn(len(memory))])
	}
	return sum
}

//go:noinline
func readByXorshift(memory []byte, ops, seed uint64) (sum uint64) {
	x, size := seed|1, uint64(len(memory))
	for i := uint64(0); i < ops; i++ {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		sum += uint64(memory[(x*xorshiftFactor>>32)*size>>32])
	}
	return sum
}

//go:noinline
func clearAgainAndAgain(memory []byte, clears uint64) {
	for i := uint64(0); i < clears; i++ {
		clear(memory)
	}
}

// replay gives a cell's indices once more, for checking.
type replay struct {
	random *rand.Rand // nil with index=xorshift
	x      uint64
	size   int
}

func (s *slot) replayed() *replay {
	r := &replay{x: s.seed | 1, size: s.bytes}
	if s.key("index") == "rand" {
		r.random = s.generator()
	}
	return r
}

func (s *slot) generator() *rand.Rand {
	return rand.New(rand.NewSource(int64(s.seed)))
}

func (r *replay) next() int {
	if r.random != nil {
		return r.random.Intn(r.size)
	}
	r.x ^= r.x >> 12
	r.x ^= r.x << 25
	r.x ^= r.x >> 27
	return int((r.x * xorshiftFactor >> 32) * uint64(r.size) >> 32)
}

// shareBegin checks the cell and starts the load.
func (s *slot) shareBegin() {
	if s.bytes%s.pageBytes != 0 {
		s.skip("bytes is not a multiple of the page size")
	}
	if s.bytes > 1<<32-1 {
		s.skip("the index sequence does not reach beyond 4 GiB")
	}
	// Once each, so that no page of code is faulted in by a measured loop.
	few := make([]byte, 64)
	writeByRand(few, 1, s.generator())
	writeByXorshift(few, 1, 1)
	readByRand(few, 1, s.generator())
	readByXorshift(few, 1, 1)
	onlyRand(64, 1, s.generator())
	onlyXorshift(64, 1, 1)
	clearAgainAndAgain(few, 1)
	s.startLoad()
}

// shareProof proves by /proc/self/maps which file is mapped.
func (s *slot) shareProof(at uintptr, path string) {
	start := []byte(fmt.Sprintf("%x-", at))
	named := uint64(0)
	for _, line := range bytes.Split(readFile("/proc/self/maps"), []byte("\n")) {
		if !bytes.HasPrefix(line, start) {
			continue
		}
		fields := bytes.Fields(line)
		if path == "" && len(fields) == 5 && fields[1][3] == 'p' || path != "" && bytes.Contains(line, []byte(path)) {
			named = 1
		}
	}
	s.fact("backed_as_named", named)
}

// witness proves that the memory is shared: another process reads the number that is left here, and its own is found here.
func (s *slot) witness(memory []byte, descriptor int) {
	program := os.Getenv("PAGEWISE_HELPER")
	if program == "" {
		s.skip("another process must see the memory: the helper's path in PAGEWISE_HELPER")
	}
	at := s.bytes - s.pageBytes + 16
	number := patternWord(s.seed, uint64(s.number))>>33 | 1
	binary.NativeEndian.PutUint64(memory[at:], number)
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), descriptor)
	output, err := exec.Command(program, "witness", path, fmt.Sprint(s.bytes)).Output()
	var seen, other uint64
	if err == nil {
		_, err = fmt.Sscan(string(output), &seen, &other)
	}
	if err != nil {
		s.fail("start witness: "+err.Error(), syscall.EINVAL)
	}
	s.fact("number", number)
	s.fact("b.number_seen", seen)
	s.fact("b.number", other)
	s.fact("number_seen", binary.NativeEndian.Uint64(memory[at+8:]))
	clear(memory[at : at+16])
}

// inMemory records the file system of an open file; true where it lives in memory.
func (s *slot) inMemory(descriptor int) bool {
	var about syscall.Statfs_t
	if err := syscall.Fstatfs(descriptor, &about); err != nil {
		s.fail("fstatfs", err.(syscall.Errno))
	}
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	magic := uint32(about.Type)
	in := magic == tmpfs || magic == ramfs
	number := uint64(0)
	if in {
		number = 1
	}
	names := map[uint32]string{
		tmpfs: "tmpfs", ramfs: "ramfs", 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs",
		0x794c7630: "overlay", 0x65735546: "fuse",
	}
	name, known := names[magic]
	if !known {
		name = fmt.Sprintf("0x%x", magic)
	}
	s.factWord("file_system", name)
	s.fact("in_memory", number)
	if about.Blocks > 0 && about.Bavail*uint64(about.Bsize) < uint64(s.bytes) {
		s.fail("ftruncate", syscall.ENOSPC)
	}
	return in
}

// checkWrites holds every byte against what the stores leave there: 0x55 where one of them went, elsewhere what was there
// before. With index=rand each language has its own sequence; the metric is the memory without its stores.
func (s *slot) checkWrites(memory []byte, ops uint64) {
	room := s.bytes / 8
	at, errno := mapAt(0, room, readWrite, privateAnonymous)
	if errno != 0 {
		s.fail("mmap", errno)
	}
	stored, wrong, r := memoryAt(at, room), uint64(0), s.replayed()
	for i := uint64(0); i < ops; i++ {
		at := r.next()
		stored[at/8] |= 1 << (at % 8)
	}
	for at := range memory {
		hit, before := stored[at/8]>>(at%8)&1 == 1, byte(0)
		if at%s.pageBytes == 0 {
			before = s.pageMark()
		}
		if hit && memory[at] != 0x55 || !hit && memory[at] != before {
			wrong++
		}
		if hit && r.random != nil {
			memory[at] = before
		}
	}
	unmap(at, room)
	s.fact("wrong_bytes", wrong)
	s.factDigest(memory)
}

// indexOnly is random-write with no store: the rest of it is what the memory costs.
func (s *slot) indexOnly(ops uint64, byRand bool) {
	expected, sum, seed, size, r := uint64(0), uint64(0), s.seed, s.bytes, s.replayed()
	for i := uint64(0); i < ops; i++ {
		expected += uint64(r.next())
	}
	random := s.generator()
	s.begin("index-only")
	if byRand {
		sum = onlyRand(size, ops, random)
	} else {
		sum = onlyXorshift(size, ops, seed)
	}
	s.end()
	s.fact("index_sum", sum)
	s.fact("expected_index_sum", expected)
}

// shareUse is what all methods do to their memory: the phases from first-touch to random-read, and the check of each.
// `descriptor` is the shared file's, or negative where nothing is shared.
func (s *slot) shareUse(at uintptr, descriptor int) {
	memory, page, mark := memoryAt(at, s.bytes), s.pageBytes, s.pageMark()
	ops, seed, byRand := uint64(s.keySize("ops")), s.seed, s.key("index") == "rand"
	s.ops = uint64(s.bytes / page)
	s.begin("first-touch")
	touchPages(memory, page, mark)
	s.end()
	s.fact("huge_bytes", s.residentIn(at, s.bytes).hugeBytes)
	if descriptor >= 0 {
		s.witness(memory, descriptor)
	}

	s.ops, s.phaseBytes = ops, ops
	random := s.generator()
	s.begin("random-write")
	if byRand {
		writeByRand(memory, ops, random)
	} else {
		writeByXorshift(memory, ops, seed)
	}
	s.end()
	s.indexOnly(ops, byRand)
	s.checkWrites(memory, ops)

	clears := uint64((s.keySize("clear_bytes") + s.bytes - 1) / s.bytes)
	s.ops, s.phaseBytes = clears, clears*uint64(s.bytes)
	s.begin("clear")
	clearAgainAndAgain(memory, clears)
	s.end()
	cleared := uint64(0)
	if digestOf(memory) == uint64(s.bytes)*0x9E3779B97F4A7C15 {
		cleared = 1
	}
	s.fact("cleared", cleared)
	s.readBack(memory, ops, byRand)
	s.stopLoad()
	s.ops, s.phaseBytes = 1, uint64(s.bytes)
}

// readBack is random-read over the pattern: the sum of the bytes read must be that of the pattern at those places.
func (s *slot) readBack(memory []byte, ops uint64, byRand bool) {
	patternFill(memory, s.seed)
	sum, expected, seed, r := uint64(0), uint64(0), s.seed, s.replayed()
	for i := uint64(0); i < ops; i++ {
		at := r.next()
		expected += patternWord(s.seed, uint64(at/8)) >> (at % 8 * 8) & 0xFF
	}
	s.ops, s.phaseBytes = ops, ops
	random := s.generator()
	s.begin("random-read")
	if byRand {
		sum = readByRand(memory, ops, random)
	} else {
		sum = readByXorshift(memory, ops, seed)
	}
	s.end()
	s.fact("read_sum", sum)
	s.fact("expected_read_sum", expected)
}

// patternWord and patternFill are the protocol's seeded data pattern (SplitMix64).
func patternWord(seed, index uint64) uint64 {
	z := seed + (index+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func patternFill(memory []byte, seed uint64) {
	for i := range memory {
		memory[i] = byte(patternWord(seed, uint64(i/8)) >> (i % 8 * 8))
	}
}

// The load is the helper's: the same second process in every language. It ends when its standard input closes.
var load struct {
	process           *exec.Cmd
	hold              io.Closer
	startNs, startCPU uint64
	clock             uintptr
}

func (s *slot) startLoad() {
	s.letLoadGo() // of a slot that ended early
	if s.key("load") == "0" {
		return
	}
	program := os.Getenv("PAGEWISE_HELPER")
	if program == "" {
		s.skip("load needs the helper's path in PAGEWISE_HELPER")
	}
	process := exec.Command(program, "load", s.key("load"))
	hold, err := process.StdinPipe()
	if err == nil {
		var ready io.ReadCloser
		if ready, err = process.StdoutPipe(); err == nil {
			if err = process.Start(); err == nil {
				_, err = ready.Read(make([]byte, 1))
			}
		}
	}
	if err != nil {
		s.fail("start load: "+err.Error(), syscall.EINVAL)
	}
	load.process, load.hold = process, hold
	load.clock = ^uintptr(process.Process.Pid)<<3 | clockProcessCPUTimeID // clock_getcpuclockid(3)
	load.startNs, load.startCPU = uint64(nanotime()), clockNs(load.clock)
}

func (s *slot) stopLoad() {
	var percent, cpu, wall uint64
	if load.process != nil {
		fmt.Sscanf(s.key("load"), "%d", &percent)
		cpu, wall = clockNs(load.clock)-load.startCPU, uint64(nanotime())-load.startNs
	}
	s.fact("load_percent", percent)
	s.fact("load_cpu_ns", cpu)
	s.fact("load_wall_ns", wall)
	s.letLoadGo()
}

func (s *slot) letLoadGo() {
	if load.process != nil {
		load.hold.Close()
		_ = load.process.Wait()
		load.process = nil
	}
}
