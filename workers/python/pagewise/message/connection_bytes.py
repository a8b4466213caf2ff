"""multiprocessing.Pipe() without pickle: send_bytes() and recv_bytes_into()."""
from pagewise.message import common
from pagewise.message.connection import Pipe


class Bytes(Pipe):
    def send(self):
        self.connection.send_bytes(self.message)

    def receive(self):
        self.connection.recv_bytes_into(self.message)


def run(s):
    common.run(s, Bytes)


def run_b(s):
    common.run_b(s, Bytes)
