"""multiprocessing.Pipe() as it is used: objects by send() and recv(), pickled."""
import os
import socket
from multiprocessing.connection import Connection

from pagewise.message import common


class Pipe(common.Link):
    """Its two ends are made as multiprocessing.Pipe() makes them, and one is handed over."""

    def __init__(self, s):
        super().__init__(s)
        if self.spin:
            s.skip_alike("a Connection waits asleep in the kernel; unix-stream is the same socket with either")
        if s.role == "a":
            mine, theirs = socket.socketpair()
            s.sides.tell_descriptor(theirs.fileno())
            theirs.close()
            self.connection = Connection(mine.detach())
        else:
            self.connection = Connection(s.sides.hear_descriptor())
            os.set_blocking(self.connection.fileno(), True)

    def send(self):
        self.connection.send(bytes(self.message))

    def receive(self):
        self.message[:] = self.connection.recv()

    def close(self):
        self.connection.close()


def run(s):
    common.run(s, Pipe)


def run_b(s):
    common.run_b(s, Pipe)
