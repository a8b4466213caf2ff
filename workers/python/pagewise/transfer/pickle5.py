"""Pickle protocol 5: the pickle has no bytes of the block in it; they go beside it, from memory into memory."""
import pickle
from socket import MSG_WAITALL

from pagewise.transfer import common
from pagewise.transfer.unix_stream import open_ends, receive_all, send_all


def send(end, view, chunk):
    buffers = []
    data = pickle.dumps(pickle.PickleBuffer(view), protocol=5, buffer_callback=buffers.append)
    end.sendall(len(data).to_bytes(8, "little") + data)
    return send_all(end.send, buffers[0].raw(), chunk)


def receive(end, view, chunk):
    length = int.from_bytes(end.recv(8, MSG_WAITALL), "little")
    data = end.recv(length, MSG_WAITALL)
    calls = receive_all(end.recv_into, view, chunk)
    return pickle.loads(data, buffers=[view]), calls


def side_a(s):
    end, block, chunk = open_ends(s), common.block(s, True), s.size("chunk")
    view = block.view
    s.sides.meet()
    with s.phase("send", "send"):
        calls = send(end, view, chunk)
    common.sent(s, view, calls, 0, block)
    end.close()


def side_b(s):
    end, block, chunk = open_ends(s), common.block(s, False), s.size("chunk")
    view = block.view
    s.sides.meet()
    with s.phase("receive", "recv"):
        thing, calls = receive(end, view, chunk)
    common.received(s, thing, calls, 0, block)
    end.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
