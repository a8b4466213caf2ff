"""Reads a request, runs its slots in the order given, writes the transcript."""
import gc
import os
import pickle
import platform
import signal
import sys
from time import monotonic_ns

from pagewise import declared, memory, phase
from pagewise.request import Request
from pagewise.sides import Sides
from pagewise.slot import Ended, Slot
from pagewise.transcript import Transcript


SHORT_TURN_NS, SETTLING_NS = 1_000_000, 20_000


def name():
    return "python-%d.%d" % sys.version_info[:2]


def about(worker=None):
    return ["pagewise\t1\t" + (worker or name()),
            "about\tcompiler\t%s %s (%s)" % (platform.python_implementation(), platform.python_version(), platform.python_compiler()),
            "about\tgarbage_collector\toff while slots run",
            "about\tpage_bytes\t%d" % os.sysconf("SC_PAGESIZE"),
            "about\thuge_page_bytes\t%d" % memory.huge_page_bytes()]


class Launch:
    def __init__(self, request, lines):
        self.request, self.transcript, self.lines, self.counts = request, Transcript(), lines, phase.Counts()
        self.page_bytes, self.huge_page_bytes = os.sysconf("SC_PAGESIZE"), memory.huge_page_bytes()
        self.sides, self.sides_agree, self.current = None, False, None
        self.fresh = self.settles = False

    def run(self):
        phase.check_clock()
        lines = self.lines + ["about\tclock_read_ns\t%d" % phase.clock_read_ns()]
        if self.request.hardware_counters:
            lines += ["absent\t%s\tthe Python worker opens no hardware counters" % column for column in ("cycles", "dtlb_misses")]
        self.transcript.begin(lines, self.counts.columns)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.crash)
        if self.request.role:
            self.sides = Sides(self)
        self.warm()
        number = 0
        for round_number, cells in self.request.rounds:
            for cell in cells:
                if not cell.ended:
                    turn = Slot(self, cell, number, round_number)
                    self.forked(turn) if self.fresh else self.slot(turn)
                number += 1
        self.transcript.end(True)

    def warm(self):
        """Loads the methods, has the counters' pages there, and keeps the collector out of the slots."""
        for cell in self.request.cells:
            cell.method.module()
        for _ in range(8):
            phase.usage()
        gc.collect()
        gc.disable()

    def slot(self, s):
        self.current = s
        try:
            if self.sides:
                self.sides.meet()
            self.settled(s)
        except Ended as end:
            self.end(s, str(end))
        except OSError as error:
            self.failed(s, s.in_call, error.strerror or error, error.errno or 0)
        except MemoryError:
            self.failed(s, s.in_call, "Cannot allocate memory", 12)
        except Exception as error:  # a method's own mistake fails its cell, not the launch
            self.failed(s, s.in_call, "%s: %s" % (type(error).__name__, error))
        self.current = None

    def settled(self, s):
        """A turn; a short one of a user's function follows turns of itself that are not recorded (workers/PROTOCOL.md)."""
        transcript, cell = self.transcript, s.cell
        if self.settles and not s.trace_marks and cell.least_ns is not None and cell.least_ns < SHORT_TURN_NS:
            samples, lines, start = len(transcript.samples), len(transcript.rest), monotonic_ns()
            while True:
                Slot(self, cell, s.number, s.round).run()
                transcript.forget(samples, lines)
                if monotonic_ns() - start >= SETTLING_NS:
                    break
        start = monotonic_ns()
        s.run()
        spent = monotonic_ns() - start
        cell.least_ns = spent if cell.least_ns is None else min(spent, cell.least_ns)

    def forked(self, s):
        """A slot in a process of its own, which sends back what it has recorded."""
        gc.freeze()  # a collection there would copy every page of what was loaded
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            own = self.transcript.take()
            self.slot(s)
            own = self.transcript.take()
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump((own, s.cell.ended), pipe)
            os._exit(0)
        os.close(writer)
        self.current = s
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if data and status == 0:
            own, s.cell.ended = pickle.loads(data)
            self.transcript.add(own)
        else:
            how = signal.Signals(-status).name if status < 0 else "exit(%d)" % status
            self.failed(s, s.cell.method.name, "its process ended by " + how)
        self.current = None

    def failed(self, s, call, message, errno=0):
        try:
            s.fail(call, message, errno)
        except Ended as end:
            self.end(s, str(end))

    def end(self, s, line):
        s.cell.ended = True
        self.transcript.endings.append(line)
        # A side that stopped in the middle must not leave its peer waiting: ending the process closes all it holds.
        if self.sides and not self.sides_agree:
            self.transcript.end(False)
            os._exit(4)
        self.sides_agree = False

    def crash(self, number, _frame):
        s = self.current
        where = (s.number, s.cell.number, s.in_phase or "-") if s else (-1, -1, "-")
        Transcript.put(["crash\t%d\t%d\t%s\t%s" % (*where, signal.Signals(number).name)])
        os._exit(128 + number)


def main(arguments):
    serve(arguments, declared.methods(), about())


def serve(arguments, known, lines, more=(), fresh=False, settles=False):
    """Lists these methods after lines about the worker and more, or runs a request for them, each slot in a fresh process, or
    after turns of itself."""
    if arguments == ["--list"]:
        Transcript.put([*lines, *more, *(method.line for method in known)])
        return
    if arguments:
        sys.stderr.write("usage: worker.py [--list], or a request on standard input\n")
        sys.exit(2)
    launch = Launch(Request(sys.stdin.buffer.read(), known), lines)
    launch.fresh, launch.settles = fresh, settles and not launch.counts.columns
    launch.run()
    sys.stderr.flush()
    os._exit(0)  # nothing that a method left behind may keep the worker alive
