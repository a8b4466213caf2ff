"""mmap.mmap and slices of it: each slice copies its bytes into a new object."""
import mmap

from pagewise.read.common import Reading

STEP_BYTES = 64 << 10


def read(reading, m):
    consume, bytes_ = reading.consume, reading.bytes
    step = reading.step_bytes if reading.random else STEP_BYTES
    for start in ((n * step for n in reading.order) if reading.random else range(0, bytes_, step)):
        consume(memoryview(m[start:start + step]))


def run(s):
    reading = Reading(s, True)
    reading.buffer_bytes = STEP_BYTES
    with s.phase("open", "mmap"):
        file = open(reading.path, "rb")
        m = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with s.phase("read"):
        read(reading, m)
    reading.count()
    reading.mapped_bytes()
    with s.phase("close", "munmap"):
        m.close()
        file.close()
    reading.end()
