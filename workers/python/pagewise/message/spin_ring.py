"""A ring in a mapped file on tmpfs, its turns by a memoryview of 8-byte words: two slots each way, each a payload and behind it
its turn, on cache lines of their own. The layout is the native spin ring's."""
import mmap
import os
import platform

from pagewise.message import common

SLOTS, ALIGN, TRIES = 2, 128, 2000


class Ring(common.Link):
    def __init__(self, s):
        super().__init__(s)
        if not self.spin:
            s.skip("a spin ring never sleeps; condition is shared memory with sleep")
        if platform.machine() not in ("x86_64", "AMD64"):
            s.skip("Python has no store that others see in order, which only x86 gives for nothing")
        self.turn_at = -(-s.bytes // 8) * 8
        self.slot_bytes = -(-(self.turn_at + 8) // ALIGN) * ALIGN
        self.map("/dev/shm/%s-ring" % s.launch.request.name)
        half = SLOTS * self.slot_bytes
        self.out, self.into = (0, half) if s.role == "a" else (half, 0)
        self.sent = self.received = 0

    def map(self, path):
        s = self.s
        whole = -(-2 * SLOTS * self.slot_bytes // s.page_bytes) * s.page_bytes
        if s.role == "a":
            with open(path, "xb") as file:
                file.write(bytes(whole))  # written and not only sized, so that a full file system says so here
        s.sides.meet()
        with open(path, "r+b") as file:
            self.view = memoryview(mmap.mmap(file.fileno(), whole))
        self.turns = self.view.cast("Q")
        sum(self.view[::s.page_bytes])
        s.sides.meet()
        if s.role == "a":
            os.unlink(path)

    def send(self):
        """The payload is written before its turn and read after it."""
        slot = self.out + self.sent % SLOTS * self.slot_bytes
        self.sent += 1
        self.view[slot:slot + self.bytes] = self.message
        self.turns[(slot + self.turn_at) >> 3] = self.sent

    def receive(self):
        slot = self.into + self.received % SLOTS * self.slot_bytes
        self.received += 1
        turns, at, wanted, tries = self.turns, (slot + self.turn_at) >> 3, self.received, 0
        while turns[at] != wanted:
            tries += 1
            if tries % TRIES == 0:
                self.patience()
        self.message[:] = self.view[slot:slot + self.bytes]

    def patience(self):
        os.sched_yield()
        if self.s.sides.gone():
            raise BrokenPipeError(32, "Broken pipe: the other side ended")


def run(s):
    common.run(s, Ring)


def run_b(s):
    common.run_b(s, Ring)
