"""What two processes that did not start each other need to share the library's locks. A program gets them by starting its own
child (Process), which pickles them; here the pickle goes by the rendezvous. Never measured."""
import os
import pickle
import struct
from multiprocessing import context, get_context, process, reduction, synchronize, util


class Spawning:
    """Locks may only be pickled while a child is being started; this stands for the child."""

    def __enter__(self):
        context.set_spawning_popen(self)

    def __exit__(self, *_):
        context.set_spawning_popen(None)


def shared(s, make):
    """The same lock, semaphore or condition on both sides; its names are gone once both have it."""
    if s.role == "b":
        made = pickle.loads(s.sides.hear(struct.unpack("=I", s.sides.hear(4))[0]))
        s.sides.meet()
        return made
    process.current_process()._config["semprefix"] = "/" + s.launch.request.name
    made = make(get_context("spawn"))
    with Spawning():
        data = bytes(reduction.ForkingPickler.dumps(made))
    s.sides.tell(struct.pack("=I", len(data)) + data)
    s.sides.meet()
    remove_names()
    return made


def remove_names():
    """What the library does when a lock is no longer used, done now: both sides have it, so it needs no name."""
    for finalizer in list(util._finalizer_registry.values()):
        if finalizer._callback is synchronize.SemLock._cleanup:
            finalizer()


class shared_file:
    """A file on tmpfs that both sides have open; it has no name any more once they have."""

    def __init__(self, s, count):
        self.s, self.count = s, count
        self.path = "/dev/shm/%s-both" % s.launch.request.name

    def __enter__(self):
        s = self.s
        if s.role == "a":
            with open(self.path, "xb") as file:
                file.write(bytes(self.count))
        s.sides.meet()
        self.file = open(self.path, "r+b")
        s.sides.meet()
        if s.role == "a":
            os.unlink(self.path)
        return self.file

    def __exit__(self, *_):
        self.file.close()
