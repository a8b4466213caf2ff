"""Both sides meet and do nothing."""
from pagewise.transfer import common


def side_a(s):
    s.sides.meet()
    with s.phase("send"):
        pass
    s.sides.meet()


def side_b(s):
    s.sides.meet()
    with s.phase("receive"):
        pass
    with s.phase("read-through"):
        pass
    s.sides.meet()


def run(s):
    common.run(s, side_a)


def run_b(s):
    common.run(s, side_b)
