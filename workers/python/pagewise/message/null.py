"""Both phases with an empty body; the sides only meet."""
from pagewise.message import common


def run(s):
    common.begin(s)
    for phase in s.cell.method.phases:
        s.sides.meet()
        with s.phase(phase):
            pass


run_b = run
