"""`pin=`: where this side runs, by the same choice as the native worker's, which the helper makes."""
import os
import struct

from pagewise import helper, memory


class Pin:
    """Used as `with Pin(s, spins):` around all that a side does in a slot."""

    def __init__(self, s, spins=False):
        self.s, self.before = s, os.sched_getaffinity(0)
        wish = s.word("pin")
        if spins and (wish == "same" or wish == "none" and len(self.before) < 2):
            s.skip_alike("two sides that spin on one CPU wait for the scheduler and not for each other")
        if wish in ("", "none"):
            return
        chosen = helper.answer(s, "pin=" + wish, "choose-cpus", wish).strip()
        if chosen.startswith("skip "):
            s.skip_alike(chosen[5:])
        os.sched_setaffinity(0, {int(chosen.split()[s.role == "b"])})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)

    def facts(self):
        """Both sides tell each other where they ran."""
        s, mine = self.s, memory.cpu()
        s.sides.tell(struct.pack("=i", mine))
        theirs = struct.unpack("=i", s.sides.hear(4))[0]
        here = helper.answer(s, "pin=", "place-of", mine).split()
        there = helper.answer(s, "pin=", "place-of", theirs).split()
        side = "b." if s.role == "b" else ""
        for name, value in (("cpu", mine), ("l3", here[0]), ("node", here[1])):
            s.fact(side + name, value)
        if s.role == "a":
            s.fact("cpus", 1 + (mine != theirs))
            s.fact("l3s", 1 + (here[0] != there[0]))
            s.fact("nodes", 1 + (here[1] != there[1]))
