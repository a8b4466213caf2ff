"""One turn of one cell: what a method's run is given."""
import gc

from pagewise.phase import Phase


class Ended(Exception):
    """The slot ends here; the transcript's line says why."""


def collections():
    return sum(generation["collections"] for generation in gc.get_stats())


class Slot:
    def __init__(self, launch, cell, number, round_number):
        self.launch, self.cell, self.number, self.round = launch, cell, number, round_number
        self.transcript, self.trace_marks = launch.transcript, launch.request.trace_marks
        self.seed, self.page_bytes, self.huge_page_bytes = launch.request.seed, launch.page_bytes, launch.huge_page_bytes
        self.role = launch.request.role or "a"
        self.sides = launch.sides
        self.ops = 1  # units that the next phases are counted in; set by the method
        self.bytes = self.phase_bytes = int(cell.parameters.get("bytes", 0))
        self.in_phase, self.in_call = None, "run"

    def phase(self, name, call="run"):
        return Phase(self, name, call)

    def size(self, key):
        return int(self.cell.parameters[key])

    def word(self, key):
        return self.cell.parameters.get(key, "")

    def fact(self, name, value):
        self.transcript.line("fact", self.number, self.cell.number, name, int(value))

    def fact_word(self, name, word):
        self.transcript.line("fact", self.number, self.cell.number, name, word)

    def fact_digest(self, digest):
        self.fact_word("digest", "%016x" % digest)

    def skip(self, reason):
        raise Ended("skip\t%d\t%s" % (self.cell.number, reason))

    def skip_alike(self, reason):
        """Where the other side does the same by itself, so that both go on with the next cell."""
        self.launch.sides_agree = True
        self.skip(reason)

    def agree(self, obstacle=None):
        """Both sides say what keeps them from doing this cell; where there is something, both skip it."""
        theirs = self.sides.agree(obstacle)
        if obstacle or theirs:
            self.skip_alike(obstacle or theirs)

    def fail(self, call, message, errno=0):
        words = " ".join(str(message).split())
        raise Ended("fail\t%d\t%d\t%s\t%s\t%d\t%s" % (self.number, self.cell.number, self.in_phase or "-", call, errno, words))

    def numpy(self):
        """numpy, or the cell is skipped; both sides of a pair are run by one interpreter, so both skip it."""
        try:
            import numpy
        except ImportError:
            self.launch.sides_agree = self.sides is not None
            self.skip("this Python has no numpy: install it (the package python3-numpy), or name a Python that has it by --python")
        return numpy

    def run(self):
        module = self.cell.method.module()
        before = collections()
        (module.run_b if self.role == "b" else module.run)(self)
        self.fact("gc_count", collections() - before)
