"""The rendezvous of a two-sided launch, the same as the native worker's: `a` listens, `b` connects. Never measured."""
import array
import os
import select
import socket
import struct
import sys
import time

from pagewise import memory
from pagewise.request import refuse

WAIT_S = 30


class Sides:
    def __init__(self, launch):
        self.launch = launch
        path = launch.request.rendezvous
        if not path or len(os.fsencode(path)) > 107:
            refuse(1, "a side needs rendezvous=PATH of at most 107 bytes")
        try:
            self.peer = self.accept(path) if launch.request.role == "a" else self.connect(path)
        except OSError as error:
            self.lost("accept" if launch.request.role == "a" else "connect", error)

    @staticmethod
    def accept(path):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)
            if not select.select([listener], [], [], WAIT_S)[0]:
                raise OSError("the other side did not connect within 30 s")
            peer, _ = listener.accept()
        os.unlink(path)
        return peer

    @staticmethod
    def connect(path):
        for _ in range(100 * WAIT_S):
            peer = socket.socket(socket.AF_UNIX)
            try:
                peer.connect(path)
                return peer
            except OSError:
                peer.close()
                time.sleep(0.01)
        raise OSError("the other side did not listen within 30 s")

    def lost(self, call, error):
        sys.stderr.write("rendezvous: %s: %s\n" % (call, getattr(error, "strerror", None) or error))
        self.launch.transcript.end(False)
        os._exit(4)

    def tell(self, data):
        try:
            self.peer.sendall(data)
        except OSError as error:
            self.lost("send", error)

    def hear(self, count):
        data = bytearray(count)
        view = memoryview(data)
        try:
            while view:
                got = self.peer.recv_into(view)
                if not got:
                    raise OSError("the other side ended")
                view = view[got:]
        except OSError as error:
            self.lost("recv", error)
        return bytes(data)

    def agree(self, obstacle):
        """Tells what is in this side's way and returns what is in the other's; None: nothing."""
        mine = (obstacle + "\0").encode() if obstacle else b""
        self.tell(struct.pack("=I", len(mine)) + mine)
        theirs = self.hear(struct.unpack("=I", self.hear(4))[0])
        return theirs[:-1].decode() if theirs else None

    def meet(self):
        """Both sides say their mark and their CPU, then that they are here; b steps aside where both are on one CPU."""
        mine = memory.cpu()
        self.tell(struct.pack("=ii", ord("m"), mine))
        mark, theirs = struct.unpack("=ii", self.hear(8))
        if mark != ord("m"):
            self.lost("recv", OSError("the two sides are not at the same place"))
        if self.launch.request.role == "b" and theirs == memory.cpu():
            leave_cpu(theirs)
        self.tell(b"h")
        self.hear(1)

    def tell_descriptor(self, descriptor):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        self.peer.sendmsg([b"d"], rights)

    def hear_descriptor(self):
        _, ancillary, _, _ = self.peer.recvmsg(1, socket.CMSG_SPACE(4))
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                return struct.unpack("=i", data[:4])[0]
        raise OSError("no descriptor came")

    def gone(self):
        """Whether the other side has ended; for the slow path of whoever waits on shared memory."""
        poll = select.poll()
        poll.register(self.peer, getattr(select, "POLLRDHUP", 0x2000))
        return bool(poll.poll(0))


def leave_cpu(cpu):
    """Moves to another processor at once; afterwards the kernel may choose again."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) > 1 and cpu in allowed:
        os.sched_setaffinity(0, allowed - {cpu})
        os.sched_setaffinity(0, allowed)
