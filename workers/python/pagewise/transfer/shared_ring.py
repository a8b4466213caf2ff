"""SharedMemory as a ring of chunks and two semaphores: both sides copy at once."""
from pagewise.synchronized import shared
from pagewise.transfer import common
from pagewise.transfer.segment import open_segment

PATIENCE_S = 30.0


def fill(buffer, view, chunk, slots, free, filled):
    for number, at in enumerate(range(0, len(view), chunk)):
        if not free.acquire(True, PATIENCE_S):
            return number
        place = number % slots * chunk
        piece = view[at:at + chunk]
        buffer[place:place + len(piece)] = piece
        filled.release()
    return -(-len(view) // chunk)


def take(buffer, view, chunk, slots, free, filled):
    for number, at in enumerate(range(0, len(view), chunk)):
        if not filled.acquire(True, PATIENCE_S):
            return number
        place = number % slots * chunk
        count = min(chunk, len(view) - at)
        view[at:at + count] = buffer[place:place + count]
        free.release()
    return -(-len(view) // chunk)


def open_ring(s, filled):
    chunk, slots = s.size("chunk"), s.size("ring_chunks")
    memory = open_segment(s, chunk * slots)
    locks = shared(s, lambda context: (context.Semaphore(slots), context.Semaphore(0)))
    return memory, common.block(s, filled), chunk, slots, locks


def side_a(s):
    memory, block, chunk, slots, (free, filled) = open_ring(s, True)
    buffer, view = memory.buf, block.view
    s.sides.meet()
    with s.phase("send"):
        calls = fill(buffer, view, chunk, slots, free, filled)
    if calls * chunk < s.bytes:
        s.fail("acquire", "side b took nothing for 30 s")
    common.sent(s, view, calls, chunk * slots, block)
    buffer.release()
    memory.close()


def side_b(s):
    memory, block, chunk, slots, (free, filled) = open_ring(s, False)
    buffer, view = memory.buf, block.view
    s.sides.meet()
    with s.phase("receive"):
        calls = take(buffer, view, chunk, slots, free, filled)
    if calls * chunk < s.bytes:
        s.fail("acquire", "side a filled nothing for 30 s")
    common.received(s, view, calls, 0, block)
    buffer.release()
    memory.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
