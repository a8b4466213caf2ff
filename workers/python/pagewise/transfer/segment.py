"""A SharedMemory segment that both sides have, its pages there; it has no name any more once they have it."""
import sys
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory


def open_segment(s, count):
    name = s.launch.request.name + "-segment"
    if s.role == "a":
        memory = SharedMemory(name, create=True, size=count)
        memory.buf[::s.page_bytes] = bytes(-(-count // s.page_bytes))
        s.sides.meet()
        s.sides.meet()
        memory.unlink()
        return memory
    s.sides.meet()
    if sys.version_info >= (3, 13):
        memory = SharedMemory(name, track=False)
    else:
        memory = SharedMemory(name)
        resource_tracker.unregister(memory._name, "shared_memory")  # or this side's tracker removes what a owns
    sum(memory.buf[::s.page_bytes])
    s.sides.meet()
    return memory
