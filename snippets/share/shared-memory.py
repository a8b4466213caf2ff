"""A segment of shared memory that a second process opens by its name."""
import subprocess
import sys
from multiprocessing.shared_memory import SharedMemory

# ---
def shared(bytes):
    segment = SharedMemory(create=True, size=bytes)
    return segment, segment.buf  # others: SharedMemory(name); at the end close() everywhere, unlink() once
# ---

OTHER = """
import sys
from multiprocessing.shared_memory import SharedMemory
segment = SharedMemory(sys.argv[1])
segment.buf[7] = 3
segment.close()
"""

segment, memory = shared(int(sys.argv[1]))
subprocess.run([sys.executable, "-c", OTHER, segment.name], check=True, stderr=subprocess.DEVNULL)
seen = memory[7]
memory.release()
segment.close()
try:
    segment.unlink()
except FileNotFoundError:
    pass  # before Python 3.13 the other process's tracker has removed it
print(sys.argv[1])
sys.exit(0 if seen == 3 else 1)
