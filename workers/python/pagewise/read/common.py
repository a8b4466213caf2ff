"""What the methods of `read` have in common: the file and its cache before the clock, the steps, the consumer, the proofs."""
import os

from pagewise import content, helper, memory

BLOCK_BYTES = 4096
MASK = content.MASK
made_hot = {}


def sum_words(view):
    """The sum of all 8-byte words, the last one padded with zeros, as Python adds them up without a package."""
    whole = len(view) & ~7
    return (sum(view[:whole].cast("Q")) + int.from_bytes(view[whole:], "little")) & MASK


def touched(view):
    """One byte of each 4 KiB."""
    return sum(view[::BLOCK_BYTES])


class Reading:
    """A mapped file is one step in sequential order, otherwise a chunk; in random order a block."""

    def __init__(self, s, mapped):
        self.s, self.mapped, self.path, self.bytes = s, mapped, s.word("file"), s.bytes
        self.sums = s.word("consume") == "sum"
        self.found = self.prepared()
        self.random = s.word("order") == "random"
        self.step_bytes = BLOCK_BYTES if self.random else s.bytes if mapped else s.size("chunk")
        self.steps = -(-s.bytes // self.step_bytes)
        self.order = self.shuffled() if self.random else range(self.steps)
        self.sum = self.touched = self.delivered = self.buffer_bytes = 0
        s.ops = s.bytes
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self.before = [memory.counted("io", name) for name in ("syscr:", "read_bytes:", "rchar:")]

    def prepared(self):
        """Python can neither ask what is in the page cache nor drop all of it; the helper does both, and looks at the file."""
        s = self.s
        cache = s.word("cache")
        kept = made_hot.get(self.path) == cache and cache not in ("cold", "dropped")
        words = ["%s=%s" % (key, s.word(key)) for key in ("file", "bytes", "place", "consume", "order", "cache")]
        found = helper.prepared(s, words + ["memory=unbounded", "kept=" + ("yes" if kept else "no")])
        made_hot[self.path] = cache
        return found

    def shuffled(self):
        """The same permutation as the other workers', made before the clock."""
        blocks = list(range(self.steps))
        x = self.s.seed | 1
        for i in range(self.steps):
            x ^= x >> 12
            x = (x ^ x << 25) & MASK
            x ^= x >> 27
            j = ((x * 0x2545F4914F6CDD1D & MASK) >> 32) % (i + 1)
            blocks[i] = blocks[j]
            blocks[j] = i
        return blocks

    def consume(self, view):
        self.delivered += len(view)
        if self.sums:
            self.sum += sum_words(view)
        elif self.mapped:
            self.touched += touched(view)

    def short(self):
        """A file that ended before all of its bytes were read."""
        self.s.fail("read", "the file ended before its bytes were read: it has become shorter")

    def count(self):
        """After the read phase: what the kernel counted since the beginning."""
        names = (("call_bytes", "rchar:", 2), ("read_calls", "syscr:", 0), ("device_bytes", "read_bytes:", 1))
        for fact, name, place in names:
            self.s.fact(fact, memory.counted("io", name) - self.before[place])
        self.s.fact("peak_rss_bytes", memory.counted("status", "VmHWM:") * 1024)

    def mapped_bytes(self):
        """How much of the file is mapped in, by smaps."""
        path, rss, ours = os.path.realpath(self.path), 0, False
        with open("/proc/self/smaps") as lines:
            for line in lines:
                if "-" in line.split(" ", 1)[0] and not line.split(" ", 1)[0].endswith(":"):
                    ours = line.rstrip("\n").endswith(" " + path)
                elif ours and line.startswith("Rss:"):
                    rss += int(line.split()[1]) * 1024
        self.s.fact("mapped_bytes", rss)

    def end(self):
        """After the clock."""
        s, found = self.s, self.found
        for name in ("resident_before_bytes", "stored_bytes", "counted", "calls_counted"):
            s.fact(name, found[name])
        s.fact("delivered_bytes", self.delivered)
        s.fact("footprint_bytes", self.bytes + self.buffer_bytes)
        s.fact("step_bytes", self.step_bytes)
        s.fact("page_bytes", s.page_bytes)
        digest = self.sum & MASK
        known = bool(found["content_known"]) and (self.sums or self.mapped)
        s.fact("content_known", known)
        if known:
            s.fact("content_wrong", (digest if self.sums else self.touched) != found["content"])
        s.fact_digest(digest)
