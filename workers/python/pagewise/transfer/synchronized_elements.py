"""multiprocessing.Array as it was published: numbers in shared memory that the receiver goes through one by one, each under
the array's lock."""
import ctypes
from array import array
from multiprocessing import sharedctypes

from pagewise import content
from pagewise.synchronized import shared
from pagewise.transfer import common
from pagewise.transfer.segment import open_segment

PATIENCE_S = 120.0


def open_array(s):
    memory = open_segment(s, s.bytes)
    lock, event = shared(s, lambda context: (context.RLock(), context.Event()))
    plain = (ctypes.c_double * (s.bytes // 8)).from_buffer(memory.buf)
    return memory, event, sharedctypes.synchronized(plain, lock)


def side_a(s):
    memory, event, numbers = open_array(s)
    values = list(memoryview(content.pattern(s.seed, s.bytes)).cast("d"))
    s.sides.meet()
    with s.phase("send"):
        numbers[:] = values
        event.set()
    common.sent(s, memory.buf[:s.bytes], 1, 0)
    del numbers
    memory.close()


def side_b(s):
    memory, event, numbers = open_array(s)
    s.sides.meet()
    with s.phase("receive"):
        there = event.wait(PATIENCE_S)
        values = [number for number in numbers]
    if not there:
        s.fail("wait", "side a set no event within 120 s")
    common.received(s, array("d", values), 1, 0)
    del numbers
    memory.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
