"""What the methods of `fault` have in common: the loops, the state of the memory before the clock, the proofs."""
import mmap
import time

from pagewise import content, memory

ADVICE = {"dontneed": 4, "free": 8, "cold": 20, "pageout": 21}  # madvise(2); the library does not name all of them
cheapest = {}


def mark(s):
    return (s.seed | 1) & 0xFF


def touch(m, count, page, value):
    """The naive measured loop: one byte into each page."""
    for i in range(0, count, page):
        m[i] = value


def touch_by_slice(m, count, page, values):
    """The same stores by one extended slice: the loop is the library's."""
    m[0:count:page] = values


def begin(s):
    if s.bytes % s.page_bytes:
        s.skip("bytes is not a multiple of the page size")
    if s.word("threads") not in ("", "1"):
        s.skip("one thread at a time runs Python code: threads would wait for each other and not for the kernel")
    if s.word("release") == "pageout" and not swap_is_on():
        s.skip("MADV_PAGEOUT leaves anonymous memory where it is without swap; add some with mkswap and swapon")
    s.ops = s.bytes // s.page_bytes
    s.fact("footprint_bytes", s.bytes)
    if s.word("backing") == "recycled":
        s.fact("backing_level_ps", recycle(s))
    elif s.word("backing") == "cold":
        time.sleep(s.size("idle_ms") / 1000)


def swap_is_on():
    with open("/proc/swaps") as lines:
        return len(lines.readlines()) > 1


def recycle(s):
    """Touches and gives back until a pass is no longer dearer than the cheapest one seen: the host holds all frames then."""
    level = 0
    for _ in range(4):
        last, level = level, touch_and_give_back(s)
        best = cheapest[s.bytes] = min(level, cheapest.get(s.bytes, level))
        if last and level < 2 * best:
            break
    return level


def touch_and_give_back(s):
    """In picoseconds of this thread's CPU time a page."""
    values = bytes(s.bytes // s.page_bytes)
    with mmap.mmap(-1, s.bytes, flags=memory.PRIVATE, prot=memory.READ_WRITE) as m:
        m.madvise(mmap.MADV_NOHUGEPAGE)
        start = time.thread_time_ns()
        touch_by_slice(m, s.bytes, s.page_bytes, values)
        return (time.thread_time_ns() - start) * 1000 // len(values)


def before(s, m):
    """Between map and first-touch: nothing is there yet."""
    s.fact("before.rss_bytes", memory.present_in(s, memory.address_of(s, m), s.bytes))


def proofs(s, m):
    """After first-touch."""
    at = memory.address_of(s, m)
    s.fact("first-touch.rss_bytes", memory.present_in(s, at, s.bytes))
    s.fact("huge_bytes", memory.huge_bytes_around(at, s.bytes))


def rest(s, m, work, value):
    """From re-touch to unmap, the same for each way to touch."""
    n, page = s.bytes, s.page_bytes
    at = memory.address_of(s, m)
    advice = ADVICE[s.word("release")]
    with s.phase("re-touch"):
        work(m, n, page, value)
    with s.phase("release", "madvise"):
        m.madvise(advice)
    s.fact("release.rss_bytes", memory.present_in(s, at, n))
    with s.phase("refault"):
        work(m, n, page, value)
    s.fact("refault.rss_bytes", memory.present_in(s, at, n))
    s.fact("refault.huge_bytes", memory.huge_bytes_around(at, n))
    s.fact_digest(content.digest(m))
    with s.phase("unmap", "munmap"):
        m.close()
    if s.word("backing") == "cold":
        s.fact("backing_level_ps", recycle(s))
