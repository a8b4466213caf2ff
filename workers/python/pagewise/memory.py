"""Memory: where it lies, and what the kernel says of it. Never timed."""
import mmap

READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
KINDS = ("AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:")


def huge_page_bytes():
    try:
        with open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") as file:
            return int(file.read())
    except OSError:
        return 0


def cpu():
    """The CPU that this process runs on; -1 where /proc does not say."""
    try:
        with open("/proc/self/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[36])
    except (OSError, IndexError):
        return -1


def address_of(s, memory):
    """Where a writable buffer begins."""
    try:
        import ctypes
    except ImportError:
        s.skip("this Python was built without ctypes, which tells where memory lies")
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def residents(chosen):
    """Resident bytes and those of them in huge pages, of the mappings that are chosen by their limits, by smaps."""
    rss = huge = 0
    inside = False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            first = line.split(" ", 1)[0]
            if "-" in first and not first.endswith(":"):
                inside = chosen(*(int(word, 16) for word in first.split("-")))
            elif inside and line.startswith("Rss:"):
                rss += int(line.split()[1]) * 1024
            elif inside and line.startswith(KINDS):
                huge += int(line.split()[1]) * 1024
    return rss, huge


def resident_in(start, count):
    """The same of the mappings inside a range."""
    return residents(lambda low, high: low >= start and high <= start + count)


def present_in(s, start, count):
    """Bytes of whole pages that are there by the page table, also within a larger mapping (bit 63 of a pagemap entry)."""
    first, end = start // s.page_bytes, (start + count + s.page_bytes - 1) // s.page_bytes
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        file.seek(first * 8)
        entries = bytearray()
        while len(entries) < (end - first) * 8:
            entries += file.read((end - first) * 8 - len(entries))
    return sum(entries[7::8][i] >> 7 for i in range(end - first)) * s.page_bytes


def counted(file, name):
    """A number of a file of /proc/self."""
    with open("/proc/self/" + file) as lines:
        for line in lines:
            if line.startswith(name):
                return int(line.split()[1])
    return 0


class Block:
    """A private block aligned to huge pages, in the pages that `pages=` asks for (base where the method has no such key)."""

    def __init__(self, s, count):
        align = s.huge_page_bytes or s.page_bytes
        self.mapping = mmap.mmap(-1, count + 2 * align, flags=PRIVATE, prot=READ_WRITE)
        whole = (count + s.page_bytes - 1) // s.page_bytes * s.page_bytes
        start = address_of(s, self.mapping)
        offset = -start % align
        self.huge = s.word("pages") == "huge"
        advice = getattr(mmap, "MADV_HUGEPAGE" if self.huge else "MADV_NOHUGEPAGE", None)
        if advice is not None:
            self.mapping.madvise(advice, offset, whole)
        self.start, self.whole = start + offset, whole
        self.view = memoryview(self.mapping)[offset:offset + count]

    def resident(self):
        return resident_in(self.start, self.whole)


def pages_obstacle(s):
    """Why huge pages cannot be had where the cell asks for them, in the native worker's terms; None: nothing is in the way."""
    if s.word("pages") != "huge":
        return None
    if not s.huge_page_bytes:
        return "this kernel has no transparent huge pages"
    if s.bytes < s.huge_page_bytes:
        return "pages=huge needs a block of at least one huge page"
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
        if "[never]" in file.read():
            return "transparent huge pages are set to never (/sys/kernel/mm/transparent_hugepage/enabled)"
    return None


def huge_bytes_around(start, count):
    """Bytes in huge pages of all mappings that touch the range: for memory whose mapping may have been merged with a
    neighbour's."""
    return residents(lambda low, high: low < start + count and high > start)[1]
