"""multiprocessing.Pipe() without pickle: send_bytes() of the block, recv_bytes_into() the other one."""
from pagewise.transfer import common
from pagewise.transfer.objects import connection


def side_a(s):
    pipe, block = connection(s), common.block(s, True)
    view = block.view
    s.sides.meet()
    with s.phase("send", "write"):
        pipe.send_bytes(view)
    common.sent(s, view, 1, 0, block)
    pipe.close()


def side_b(s):
    pipe, block = connection(s), common.block(s, False)
    view = block.view
    s.sides.meet()
    with s.phase("receive", "read"):
        pipe.recv_bytes_into(view)
    common.received(s, view, 1, 0, block)
    pipe.close()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
