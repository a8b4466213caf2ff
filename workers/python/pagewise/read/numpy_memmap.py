"""numpy.memmap: words are added up by numpy over the mapping, nothing is copied."""
from pagewise.read.common import Reading, touched


def read(reading, words, array):
    step = reading.step_bytes // 8
    for number in reading.order:
        reading.sum += int(words[number * step:(number + 1) * step].sum())
    reading.delivered += len(array)
    reading.sum += int.from_bytes(array[len(words) * 8:].tobytes(), "little")


def look(reading, array):
    step = reading.step_bytes
    for number in reading.order:
        reading.touched += touched(array.data[number * step:(number + 1) * step])
    reading.delivered += len(array)


def run(s):
    numpy = s.numpy()
    reading = Reading(s, True)
    with s.phase("open", "mmap"):
        array = numpy.memmap(reading.path, dtype=numpy.uint8, mode="r")
        words = array[:len(array) // 8 * 8].view(numpy.uint64)
    with s.phase("read"):
        read(reading, words, array) if reading.sums else look(reading, array)
    reading.count()
    reading.mapped_bytes()
    with s.phase("close", "munmap"):
        del words, array
    reading.end()
