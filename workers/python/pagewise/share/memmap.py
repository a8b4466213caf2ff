"""numpy.memmap of a file on tmpfs, as it is meant: whole arrays of indices at a time, the loops are the library's."""
import os

from pagewise.share.common import Share


def run(s):
    numpy = s.numpy()
    share = Share(s, "/dev/shm")
    path, n, page, ops, clears = share.path, s.bytes, s.page_bytes, share.ops, share.clears
    rand = s.word("index") == "rand"
    fixed = None if rand else numpy.array(share.indices(), dtype=numpy.int64)
    if rand:
        share.made_indices = lambda: draw(numpy, s, n, ops).tolist()
    s.ops = 1
    with s.phase("map", "mmap"):
        m = numpy.memmap(path, dtype=numpy.uint8, mode="w+", shape=(n,))
    share.proof()
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    os.unlink(path)
    s.ops = n // page
    with s.phase("first-touch"):
        m[::page] = share.mark
    view = memoryview(m)
    share.witness(view, descriptor)
    os.close(descriptor)
    with s.phase("random-write"):
        m[draw(numpy, s, n, ops) if rand else fixed] = 0x55
    with s.phase("index-only"):
        total = int((draw(numpy, s, n, ops) if rand else fixed).sum())
    share.check_indices(total)
    share.check_writes(view)
    share.count_clears()
    with s.phase("clear"):
        for _ in range(clears):
            m.fill(0)
    share.check_cleared(view)
    with s.phase("random-read"):
        total = int(m[draw(numpy, s, n, ops) if rand else fixed].sum(dtype=numpy.uint64))
    share.check_read(total)
    view.release()
    with s.phase("unmap", "munmap"):
        del m


def draw(numpy, s, size, ops):
    """The library's own generator, a million numbers at a time."""
    return numpy.random.default_rng(s.seed).integers(0, size, ops)
