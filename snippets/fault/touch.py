"""Fresh memory outside the heap, whose pages come one by one when they are touched."""
import sys

# ---
import mmap


def fresh(size):
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, mmap.PAGESIZE):
        memory[at] = 1
    return memory
# ---


print(len(fresh(int(sys.argv[1]))))
