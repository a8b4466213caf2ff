"""open(path, "rb", buffering=0) and f.readinto() of one bytearray: the kernel copies into the same memory each time."""
from pagewise.read.common import Reading


def read(reading, file, buffer):
    consume, step, bytes_, random = reading.consume, reading.step_bytes, reading.bytes, reading.random
    for number in reading.order:
        if random:
            file.seek(number * step)
        want, have = min(step, bytes_ - number * step), 0
        while have < want:
            got = file.readinto(buffer[have:want])
            if not got:
                reading.short()
            have += got
        consume(buffer[:want])


def run(s):
    reading = Reading(s, False)
    reading.buffer_bytes = reading.step_bytes
    buffer = memoryview(bytearray(reading.step_bytes))
    with s.phase("open", "open"):
        file = open(reading.path, "rb", buffering=0)
    with s.phase("read", "read"):
        read(reading, file, buffer)
    reading.count()
    with s.phase("close", "close"):
        file.close()
    reading.end()
