"""Shared memory with a multiprocessing.Condition: who waits sleeps until it is notified."""
import mmap

from pagewise.message import common
from pagewise.synchronized import shared, shared_file

PATIENCE_S = 1.0


class Mailbox(common.Link):
    """One slot each way and one count of messages, all under the condition's lock."""

    def __init__(self, s):
        super().__init__(s)
        if self.spin:
            s.skip_alike("a Condition waits asleep; spin-ring is shared memory without sleep")
        room = -(-s.bytes // 8) * 8
        with shared_file(s, 8 + 2 * room) as file:
            self.view = memoryview(mmap.mmap(file.fileno(), 8 + 2 * room))
        self.count = self.view[:8].cast("Q")
        halves = (8, 8 + room)
        self.out, self.into = halves if s.role == "a" else halves[::-1]
        self.condition = shared(s, lambda context: context.Condition())
        self.mine = 0 if s.role == "a" else 1  # a sends where the count is even, b where it is odd

    def send(self):
        with self.condition:
            self.view[self.out:self.out + self.bytes] = self.message
            self.count[0] += 1
            self.condition.notify()

    def receive(self):
        count, mine, condition = self.count, self.mine, self.condition
        with condition:
            while count[0] % 2 != mine:
                if not condition.wait(PATIENCE_S) and self.s.sides.gone():
                    raise BrokenPipeError(32, "Broken pipe: the other side ended")
            self.message[:] = self.view[self.into:self.into + self.bytes]


def run(s):
    common.run(s, Mailbox)


def run_b(s):
    common.run_b(s, Mailbox)
