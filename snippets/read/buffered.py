"""Sums a file's bytes by read(), a new object of bytes for each piece."""
import sys

# ---
def sum_of(path):
    total = 0
    with open(path, "rb") as file:
        while piece := file.read(64 * 1024):
            total += sum(piece)
    return total
# ---


print(sum_of(sys.argv[1]))
