#!/usr/bin/env python3
"""The loops of own.c in a bare program and under `pagewise bench`, in turn: own.py PAGEWISE [TURNS]. Prints the ratio of their
medians for each loop, and what an empty body costs beside the floor; an aim is 2 %."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

LOOPS = ("steps", "touch", "allocate")


def main(pagewise, turns="7"):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own.c")
    ours, bare, empty = {loop: [] for loop in LOOPS}, {loop: [] for loop in LOOPS}, []
    with tempfile.TemporaryDirectory() as place:
        program, run = os.path.join(place, "bare"), os.path.join(place, "run")
        subprocess.check_call(["cc", "-O2", "-g", "-DBARE", "-o", program, source])
        for turn in range(int(turns)):
            for loop, ns in zip(LOOPS, subprocess.check_output([program], text=True).split()):
                bare[loop].append(float(ns))
            words = [pagewise, "bench", source, "--budget", "4s", "--json", "--out", run + str(turn)]
            summary = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
            median = {cell["method"]: cell["phases"]["work"]["wall_ns"]["median"] for cell in summary["cells"]
                      if "work" in cell["phases"] and not cell.get("hidden")}
            for loop in LOOPS:
                ours[loop].append(median[loop])
            empty.append(median["nothing"] - median["empty"])
    for loop in LOOPS:
        ratios = [a / b for a, b in zip(ours[loop], bare[loop])]
        print("%-10s pagewise / bare program: %.4f (%.4f to %.4f)"
              % (loop, statistics.median(ratios), min(ratios), max(ratios)))
    print("an empty body costs %+.0f ns beside the floor" % statistics.median(empty))


main(*sys.argv[1:])
