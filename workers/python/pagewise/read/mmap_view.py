"""mmap.mmap and a memoryview of it: nothing is copied."""
import mmap

from pagewise.read.common import Reading


def read(reading, view):
    consume, step = reading.consume, reading.step_bytes
    for number in reading.order:
        consume(view[number * step:(number + 1) * step])


def run(s):
    reading = Reading(s, True)
    with s.phase("open", "mmap"):
        file = open(reading.path, "rb")
        m = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        view = memoryview(m)
    with s.phase("read"):
        read(reading, view)
    reading.count()
    reading.mapped_bytes()
    with s.phase("close", "munmap"):
        view.release()
        m.close()
        file.close()
    reading.end()
