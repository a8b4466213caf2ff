"""The same, touched by one extended slice: the loop is the library's."""
import sys

# ---
import mmap


def fresh(size):
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[::mmap.PAGESIZE] = b"\1" * len(range(0, size, mmap.PAGESIZE))
    return memory
# ---


print(len(fresh(int(sys.argv[1]))))
