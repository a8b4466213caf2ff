"""What the methods of `share` have in common: the file, the load, the loops, and how each step is checked outside the clock."""
import os
import random
import subprocess
import time

from pagewise import content, helper, memory

STORED = 0x55
kept = {}


def touch(m, count, page, value):
    for i in range(0, count, page):
        m[i] = value


def write_at(m, indices):
    for i in indices:
        m[i] = 0x55


def write_at_random(m, size, ops, randrange):
    for _ in range(ops):
        m[randrange(size)] = 0x55


def read_at(m, indices):
    total = 0
    for i in indices:
        total += m[i]
    return total


def read_at_random(m, size, ops, randrange):
    total = 0
    for _ in range(ops):
        total += m[randrange(size)]
    return total


def add_up(indices):
    total = 0
    for i in indices:
        total += i
    return total


def add_up_random(size, ops, randrange):
    total = 0
    for _ in range(ops):
        total += randrange(size)
    return total


def clear(m, size, clears, zeros):
    for _ in range(clears):
        m[0:size] = zeros


class Elements:
    """The loops of a program that goes through its memory element by element. With index=xorshift the indices are made before
    the clock, for in this language making one costs more than the store that it is for; with index=rand they are asked of
    `random` in the loop, as such loops are written."""

    def __init__(self, share):
        self.share, self.size, self.ops = share, share.bytes, share.ops
        self.rand = share.s.word("index") == "rand"
        self.zeros = bytes(self.size)
        self.indices = share.indices()

    def randrange(self):
        return random.Random(self.share.s.seed).randrange

    def touch(self, m):
        s, share = self.share.s, self.share
        with s.phase("first-touch"):
            touch(m, share.bytes, s.page_bytes, share.mark)

    def use(self, m):
        s, share, size, ops, rand = self.share.s, self.share, self.size, self.ops, self.rand
        indices, randrange = self.indices, self.randrange()
        with s.phase("random-write"):
            write_at_random(m, size, ops, randrange) if rand else write_at(m, indices)
        randrange = self.randrange()
        with s.phase("index-only"):
            total = add_up_random(size, ops, randrange) if rand else add_up(indices)
        share.check_indices(total)
        share.check_writes(m)
        share.count_clears()
        with s.phase("clear"):
            clear(m, size, share.clears, self.zeros)
        share.check_cleared(m)
        randrange = self.randrange()
        with s.phase("random-read"):
            total = read_at_random(m, size, ops, randrange) if rand else read_at(m, indices)
        share.check_read(total)


class Share:
    """Before the map phase: checks the cell, names the file, starts the load."""

    def __init__(self, s, folder, indices=None):
        self.s, self.bytes, self.ops = s, s.bytes, s.size("ops")
        if s.bytes % s.page_bytes:
            s.skip("bytes is not a multiple of the page size")
        self.name = s.launch.request.name + "-share-python"
        self.path = os.path.join(folder, self.name)
        self.mark = (s.seed | 1) & 0xFF
        self.clears = -(-s.size("clear_bytes") // s.bytes)
        room = os.statvfs(folder)
        if room.f_bavail * room.f_frsize < s.bytes:
            s.fail("map " + self.path, "No space left on device for %d bytes" % s.bytes, 28)
        self.made_indices = indices
        s.ops = s.bytes // s.page_bytes
        self.load = self.start_load()

    def indices(self):
        """The cell's indices: the protocol's sequence, or those that `random` gives; the last ones are kept."""
        s, key = self.s, (self.s.seed, self.bytes, self.ops, self.s.word("index"), self.made_indices is None)
        if key not in kept:
            kept.clear()
            if self.made_indices:
                kept[key] = self.made_indices()
            elif s.word("index") == "rand":
                randrange = random.Random(s.seed).randrange
                kept[key] = [randrange(self.bytes) for _ in range(self.ops)]
            else:
                kept[key] = list(content.xorshift(s.seed, self.bytes, self.ops))
        return kept[key]

    def proof(self):
        """After the map phase: what is mapped, and from which kind of file system."""
        s, kind = self.s, file_system(self.path)
        in_memory = kind in ("tmpfs", "ramfs")
        with open("/proc/self/maps") as maps:
            s.fact("backed_as_named", any(self.path in line for line in maps))
        s.fact_word("file_system", kind)
        s.fact("in_memory", in_memory)
        return in_memory

    def witness(self, m, descriptor):
        """Another process reads the number that is left here, and its own is found here."""
        s, at = self.s, self.bytes - self.s.page_bytes + 16
        number = content.pattern_word(s.seed ^ ord("a"), s.number) >> 33 | 1
        m[at:at + 8] = number.to_bytes(8, "little")
        path = "/proc/%d/fd/%d" % (os.getpid(), descriptor)
        seen = helper.answer(s, "to be seen by another process", "witness", path, self.bytes).split()
        if len(seen) != 2:
            s.fail("witness", "the second process could not map the file")
        s.fact("number", number)
        s.fact("b.number_seen", seen[0])
        s.fact("b.number", seen[1])
        s.fact("number_seen", int.from_bytes(bytes(m[at + 8:at + 16]), "little"))
        m[at:at + 16] = bytes(16)
        s.fact("huge_bytes", self.huge_bytes())
        s.ops = s.phase_bytes = self.ops

    def huge_bytes(self):
        """Of the mapping of this file."""
        with open("/proc/self/maps") as maps:
            ranges = [line.split(" ", 1)[0].split("-") for line in maps if self.name in line]
        limits = {(int(low, 16), int(high, 16)) for low, high in ranges}
        return memory.residents(lambda low, high: (low, high) in limits)[1]

    def check_indices(self, total):
        self.s.fact("index_sum", total)
        self.s.fact("expected_index_sum", sum(map(int, self.indices())))

    def check_writes(self, m):
        """Every byte must be what the stores leave there. With index=rand each language has its own sequence: what is
        compared between them is the memory without its stores."""
        s, page = self.s, self.s.page_bytes
        plain = (bytes([self.mark]) + bytes(page - 1)) * (self.bytes // page)
        expected = bytearray(plain)
        for i in self.indices():
            expected[i] = STORED
        m = memoryview(m)
        found = bytes(m[0:self.bytes])
        s.fact("wrong_bytes", sum(a != b for a, b in zip(found, expected)) if found != expected else 0)
        if s.word("index") == "rand":
            m[0:self.bytes] = found if found != expected else plain
        s.fact_digest(content.digest(bytes(m[0:self.bytes])))

    def count_clears(self):
        self.s.ops, self.s.phase_bytes = self.clears, self.clears * self.bytes

    def check_cleared(self, m):
        m = memoryview(m)
        self.s.fact("cleared", bytes(m[0:self.bytes]) == bytes(self.bytes))
        m[0:self.bytes] = content.pattern(self.s.seed, self.bytes)
        self.s.ops = self.s.phase_bytes = self.ops

    def check_read(self, total):
        """The sum of the bytes read must be the one of the pattern at those places. The load ends here."""
        pattern = content.pattern(self.s.seed, self.bytes)
        self.s.fact("read_sum", total)
        self.s.fact("expected_read_sum", sum(pattern[i] for i in self.indices()))
        self.stop_load()
        self.s.ops, self.s.phase_bytes = 1, self.bytes

    def start_load(self):
        if self.s.word("load") == "0":
            return None
        process = helper.start(self.s, "load=" + self.s.word("load"), "load", self.s.word("load"))
        if process.stdout.read(1) != b"r":
            self.s.fail("start load", "the load process did not start")
        return process, time.monotonic_ns(), load_cpu_ns(process)

    def stop_load(self):
        s = self.s
        process, wall, cpu = self.load or (None, 0, 0)
        s.fact("load_percent", s.word("load").rstrip("%"))
        s.fact("load_cpu_ns", load_cpu_ns(process) - cpu if process else 0)
        s.fact("load_wall_ns", time.monotonic_ns() - wall if process else 0)
        if process:
            process.stdin.close()  # it ends when its standard input does
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
            process.stdout.close()


def load_cpu_ns(process):
    with open("/proc/%d/schedstat" % process.pid) as file:
        return int(file.read().split()[0])


def file_system(path):
    """The type of the file system that a path lies on, by the device numbers of its mount."""
    device = os.stat(path).st_dev
    wanted = "%d:%d" % (os.major(device), os.minor(device))
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            before, _, after = line.partition(" - ")
            if before.split()[2] == wanted:
                return after.split()[0]
    return "unknown"
