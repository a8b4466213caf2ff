"""numpy.memmap of a file on tmpfs, element by element: each index makes and drops an object of numpy's."""
import os

from pagewise.share.common import Elements, Share


def run(s):
    numpy = s.numpy()
    share = Share(s, "/dev/shm")
    elements, path, n = Elements(share), share.path, s.bytes
    elements.zeros = numpy.zeros(n, dtype=numpy.uint8)
    s.ops = 1
    with s.phase("map", "mmap"):
        m = numpy.memmap(path, dtype=numpy.uint8, mode="w+", shape=(n,))
    share.proof()
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    os.unlink(path)
    s.ops = n // s.page_bytes
    elements.touch(m)
    share.witness(memoryview(m), descriptor)
    os.close(descriptor)
    elements.use(m)
    with s.phase("unmap", "munmap"):
        del m
