"""send() and recv_into() on a pair of Unix stream sockets, a piece at a time; the other side may be in C."""
import socket

from pagewise.transfer import common

lasting = {}


def open_ends(s):
    if s.role == "b":
        return socket.socket(fileno=s.sides.hear_descriptor())
    mine, theirs = socket.socketpair()
    s.sides.tell_descriptor(theirs.fileno())
    theirs.close()
    return mine


def lasting_ends(s):
    """Those of the cell, for the whole launch, as a program's are; the other side does the same by itself."""
    if lasting.get("cell") is not s.cell:
        lasting.update(cell=s.cell, end=open_ends(s))
    return lasting["end"]


def send_all(push, view, chunk):
    calls = done = 0
    while done < len(view):
        done += push(view[done:done + chunk])
        calls += 1
    return calls


def receive_all(pull, view, chunk):
    calls = done = 0
    while done < len(view):
        got = pull(view[done:done + chunk])
        if not got:
            raise BrokenPipeError(32, "Broken pipe: the other side ended")
        done += got
        calls += 1
    return calls


def side_a(s):
    end, chunk = lasting_ends(s), s.size("chunk")
    block = common.block(s, True)
    push, view = end.send, block.view
    room = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    s.sides.meet()
    with s.phase("send", "send"):
        calls = send_all(push, view, chunk)
    common.sent(s, view, calls, room, block)


def side_b(s):
    end, chunk = lasting_ends(s), s.size("chunk")
    block = common.block(s, False)
    pull, view = end.recv_into, block.view
    room = end.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    s.sides.meet()
    with s.phase("receive", "recv"):
        calls = receive_all(pull, view, chunk)
    common.received(s, view, calls, room, block)


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
