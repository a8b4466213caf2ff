"""The stopwatch. The body of `with s.phase("map"):` is what is timed, and nothing else: counters are read before the first
read of the clock and after the second one."""
import mmap
import os
import resource
from time import CLOCK_MONOTONIC, clock_gettime_ns, monotonic_ns, process_time_ns

BASE = ("slot round cell phase ops bytes start_ns wall_ns cpu_ns user_ns system_ns minor_faults major_faults "
        "voluntary_switches involuntary_switches").split()


def check_clock():
    """Ends the worker where Python's clock is not the one that all workers share."""
    before, now, after = clock_gettime_ns(CLOCK_MONOTONIC), monotonic_ns(), clock_gettime_ns(CLOCK_MONOTONIC)
    if not before <= now <= after:
        raise SystemExit("the monotonic clock of this Python is not CLOCK_MONOTONIC")


def clock_read_ns():
    """What one clock read costs: the smallest mean of 64 rows of 65 reads."""
    best = 1 << 62
    for _ in range(64):
        start = monotonic_ns()
        for _ in range(64):
            monotonic_ns()
        best = min(best, (monotonic_ns() - start) // 65)
    return best


def mark(word, phase):
    """A system call that fails and changes nothing; a tracer sees by it where a phase begins and ends."""
    try:
        os.write(-1, b"%s %s" % (word, phase.encode()))
    except OSError:
        pass


def usage():
    """Time in user mode and in the kernel in ns, faults and switches of the whole process."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    return (round(now.ru_utime * 1e6) * 1000, round(now.ru_stime * 1e6) * 1000, now.ru_minflt, now.ru_majflt,
            now.ru_nvcsw, now.ru_nivcsw)


class Counts:
    """What a tracer and a preloaded library count, where a launch is counted and not timed (workers/c/harness/counts.h)."""

    NAMES = ("calls", "read_bytes", "written_bytes", "allocations", "allocated_bytes", "copied_bytes")

    def __init__(self):
        descriptor = os.environ.get("PAGEWISE_COUNTS")
        self.numbers = memoryview(mmap.mmap(int(descriptor), 56, prot=mmap.PROT_READ)).cast("Q") if descriptor else None
        flags = self.numbers[6] if descriptor else 0
        traced, preloaded = flags & 0xffffffff, flags >> 32
        self.start, self.end = (0 if traced else 3), (6 if preloaded else 3)
        self.columns = self.NAMES[self.start:self.end] if traced or preloaded else ()

    def read(self):
        return self.numbers[self.start:self.end].tolist() if self.columns else ()


class Phase:
    """One phase of one slot; `call` names the system call that it is made of, for the words of a failure."""

    def __init__(self, slot, name, call):
        self.slot, self.name, self.call = slot, name, call

    def __enter__(self):
        slot = self.slot
        slot.in_phase, slot.in_call = self.name, self.call
        self.before = usage()
        self.cpu_ns = process_time_ns()
        if slot.trace_marks:
            mark(b"phase", self.name)
        self.counted = slot.launch.counts.read()
        self.start_ns = monotonic_ns()
        return self

    def __exit__(self, kind, error, trace):
        wall_ns = monotonic_ns() - self.start_ns
        slot = self.slot
        counted = slot.launch.counts.read()
        if slot.trace_marks:
            mark(b"end", self.name)
        cpu_ns = process_time_ns() - self.cpu_ns
        spent = [now - then for now, then in zip((*usage(), *counted), (*self.before, *self.counted))]
        if kind is None:
            slot.transcript.sample(slot.number, slot.round, slot.cell.number, self.name, slot.ops, slot.phase_bytes,
                                   self.start_ns, wall_ns, cpu_ns, *spent)
            slot.in_phase, slot.in_call = None, "run"
        return False
