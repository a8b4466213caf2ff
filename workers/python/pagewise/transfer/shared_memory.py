"""SharedMemory and an Event: a copies all of its block in and sets the event, b waits for it and copies all of it out."""
from pagewise.synchronized import shared
from pagewise.transfer import common
from pagewise.transfer.segment import open_segment

PATIENCE_S = 30.0


def side_a(s):
    memory, block, n = open_segment(s, s.bytes), common.block(s, True), s.bytes
    event, buffer, view = shared(s, lambda context: context.Event()), memory.buf, block.view
    s.sides.meet()
    with s.phase("send"):
        buffer[:n] = view
        event.set()
    common.sent(s, view, 1, n, block)
    buffer.release()
    memory.close()


def side_b(s):
    memory, block, n = open_segment(s, s.bytes), common.block(s, False), s.bytes
    event, buffer, view = shared(s, lambda context: context.Event()), memory.buf, block.view
    s.sides.meet()
    with s.phase("receive"):
        there = event.wait(PATIENCE_S)
        view[:] = buffer[:n]
    if not there:
        s.fail("wait", "side a set no event within 30 s")
    common.received(s, view, 1, 0, block)
    buffer.release()
    memory.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
