"""An anonymous mmap.mmap, one byte written into each base page by one extended slice."""
import mmap

from pagewise.fault import common
from pagewise.memory import PRIVATE, READ_WRITE


def run(s):
    common.begin(s)
    n, page = s.bytes, s.page_bytes
    values = bytes([common.mark(s)]) * (n // page)
    with s.phase("map", "mmap"):
        m = mmap.mmap(-1, n, flags=PRIVATE, prot=READ_WRITE)
    common.before(s, m)
    with s.phase("advise", "madvise"):
        m.madvise(mmap.MADV_NOHUGEPAGE)
    with s.phase("first-touch"):
        common.touch_by_slice(m, n, page, values)
    common.proofs(s, m)
    common.rest(s, m, common.touch_by_slice, values)
