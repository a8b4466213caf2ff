"""An anonymous mmap.mmap, one byte written into each base page by one extended slice."""
import mmap

from pagewise import content, memory
from pagewise.fault import common
from pagewise.memory import PRIVATE, READ_WRITE


def run(s):
    if s.bytes % s.page_bytes:
        s.skip("bytes is not a multiple of the page size")
    if s.word("threads") not in ("", "1"):
        s.skip("one thread at a time runs Python code: threads would wait for each other and not for the kernel")
    n, page = s.bytes, s.page_bytes
    s.ops = n
    s.fact("footprint_bytes", n)
    values = bytes([common.mark(s)]) * (n // page)
    with s.phase("populate", "mmap"):
        m = mmap.mmap(-1, n, flags=PRIVATE, prot=READ_WRITE)
        m.madvise(mmap.MADV_NOHUGEPAGE)
        common.touch_by_slice(m, n, page, values)
    at = memory.address_of(s, m)
    s.fact("present_bytes", memory.present_in(s, at, n))
    s.fact("huge_bytes", memory.huge_bytes_around(at, n))
    with s.phase("pin"):
        pass
    with s.phase("first-use"):
        common.touch_by_slice(m, n, page, values)
    s.fact_digest(content.digest(m))
    with s.phase("teardown", "munmap"):
        m.close()
