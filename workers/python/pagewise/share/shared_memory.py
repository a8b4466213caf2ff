"""multiprocessing.shared_memory.SharedMemory, worked in by its memoryview."""
import os
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

from pagewise.share.common import Elements, Share


def run(s):
    share = Share(s, "/dev/shm")
    elements, name, n = Elements(share), share.name, s.bytes
    resource_tracker.ensure_running()  # a process that the library starts once, at the first segment of a program
    s.ops = 1
    with s.phase("map", "shm_open"):
        memory = SharedMemory(name, create=True, size=n)
        m = memory.buf
    share.proof()
    descriptor = os.open(share.path, os.O_RDWR | os.O_CLOEXEC)
    s.ops = n // s.page_bytes
    elements.touch(m)
    share.witness(m, descriptor)
    os.close(descriptor)
    elements.use(m)
    with s.phase("unmap", "munmap"):
        m.release()
        memory.close()
        memory.unlink()
