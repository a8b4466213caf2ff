"""open(path, "rb") and f.read(chunk): each call makes a new object of bytes."""
from pagewise.read.common import Reading


def read(reading, file):
    consume, step, bytes_, random = reading.consume, reading.step_bytes, reading.bytes, reading.random
    for number in reading.order:
        if random:
            file.seek(number * step)
        piece = file.read(step)
        if len(piece) != min(step, bytes_ - number * step):
            reading.short()
        consume(memoryview(piece))


def run(s):
    reading = Reading(s, False)
    reading.buffer_bytes = reading.step_bytes
    with s.phase("open", "open"):
        file = open(reading.path, "rb")
    with s.phase("read", "read"):
        read(reading, file)
    reading.count()
    with s.phase("close", "close"):
        file.close()
    reading.end()
