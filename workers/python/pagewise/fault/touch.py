"""An anonymous mmap.mmap, one byte written into each base page by a loop."""
import mmap

from pagewise.fault import common
from pagewise.memory import PRIVATE, READ_WRITE


def run(s):
    common.begin(s)
    n, page, value = s.bytes, s.page_bytes, common.mark(s)
    with s.phase("map", "mmap"):
        m = mmap.mmap(-1, n, flags=PRIVATE, prot=READ_WRITE)
    common.before(s, m)
    with s.phase("advise", "madvise"):
        m.madvise(mmap.MADV_NOHUGEPAGE)
    with s.phase("first-touch"):
        common.touch(m, n, page, value)
    common.proofs(s, m)
    common.rest(s, m, common.touch, value)
