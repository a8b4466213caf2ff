"""A Unix stream socket by its path, by send() and recv_into(): the other side may be in any language."""
import os
import socket

from pagewise.message import common

TRIES = 200  # fruitless tries after which a spinning side gives its turn of the CPU away, as the native worker's does


class Stream(common.Link):
    def __init__(self, s):
        super().__init__(s)
        self.view = memoryview(self.message)
        path = s.launch.request.rendezvous + "m"
        if s.role == "a":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path)
                listener.listen(1)
                listener.settimeout(10)
                s.sides.meet()
                try:
                    self.socket, _ = listener.accept()
                finally:
                    os.unlink(path)
        else:
            s.sides.meet()
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
        self.socket.setblocking(not self.spin)

    def wait(self, tries):
        if tries % TRIES == 0:
            os.sched_yield()
        return tries + 1

    def send(self):
        view, tries, push = self.view, 1, self.socket.send
        while view:
            try:
                view = view[push(view):]
            except BlockingIOError:
                tries = self.wait(tries)

    def receive(self):
        view, tries, pull = self.view, 1, self.socket.recv_into
        while view:
            try:
                got = pull(view)
            except BlockingIOError:
                tries = self.wait(tries)
                continue
            if not got:
                raise BrokenPipeError(32, "Broken pipe: the other side ended")
            view = view[got:]

    def close(self):
        self.socket.close()


def run(s):
    common.run(s, Stream)


def run_b(s):
    common.run_b(s, Stream)
