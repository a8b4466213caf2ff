"""Fresh memory of the heap, which the interpreter clears: every page is there at once."""
import sys

# ---
def fresh(size):
    return bytearray(size)
# ---


print(len(fresh(int(sys.argv[1]))))
