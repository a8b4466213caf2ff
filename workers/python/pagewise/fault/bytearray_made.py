"""bytearray(n): the interpreter clears what it allocates, so every page is faulted in before anybody touches it."""
from pagewise import content, memory
from pagewise.fault import common


def run(s):
    common.begin(s)
    n, page, value = s.bytes, s.page_bytes, common.mark(s)
    with s.phase("map"):
        m = bytearray(n)
    s.fact("before.rss_bytes", memory.present_in(s, memory.address_of(s, m), n))
    with s.phase("first-touch"):
        common.touch(m, n, page, value)
    with s.phase("re-touch"):
        common.touch(m, n, page, value)
    s.fact_digest(content.digest(m))
    with s.phase("unmap"):
        del m
