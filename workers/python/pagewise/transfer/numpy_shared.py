"""numpy arrays over SharedMemory and an Event: a copies its array in, b copies it out."""
from pagewise.synchronized import shared
from pagewise.transfer import common
from pagewise.transfer.segment import open_segment

PATIENCE_S = 30.0


def open_arrays(s, filled):
    numpy = s.numpy()
    memory, block = open_segment(s, s.bytes), common.block(s, filled)
    event = shared(s, lambda context: context.Event())
    both = numpy.ndarray((s.bytes,), dtype=numpy.uint8, buffer=memory.buf)
    return numpy, memory, event, both, block, numpy.frombuffer(block.view, dtype=numpy.uint8)


def side_a(s):
    numpy, memory, event, both, block, mine = open_arrays(s, True)
    s.sides.meet()
    with s.phase("send"):
        numpy.copyto(both, mine)
        event.set()
    common.sent(s, block.view, 1, s.bytes, block)
    del both
    memory.close()


def side_b(s):
    numpy, memory, event, both, block, mine = open_arrays(s, False)
    s.sides.meet()
    with s.phase("receive"):
        there = event.wait(PATIENCE_S)
        numpy.copyto(mine, both)
    if not there:
        s.fail("wait", "side a set no event within 30 s")
    common.received(s, block.view, 1, 0, block)
    del both
    memory.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
