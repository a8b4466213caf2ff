#!/usr/bin/env python3
"""Identical functions under `pagewise bench`: how many pairs are called different?

    tests/by-hand/identical_pairs.py PAGEWISE [--languages c,c++,rust,go,java,python] [--pairs 60] [--seed 1] [--budget TIME]

A pair is a file with two functions of the same text, one of six loops in one of ten sizes (benches/comparison/languages.py);
fewer pairs are spread over the sizes. It is measured as a user does it, without a budget, with a seed of its own. Prints each
pair that has a word, with the ratio and its interval, and for each language the words and the median width of an interval.
Aim: 0 of 60 faster or slower, in each. A cause shows in its direction: the columns count whether the second function of the
file was called faster or slower than the first.
Run it on a quiet machine: about 20 minutes.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../benches/comparison"))
sys.dont_write_bytecode = True
from languages import LANGUAGES, LOOPS, bench_text  # noqa: E402

# Work of the smallest size; each further one has twice as much.
SMALLEST = {"steps": 300, "touch": 16 << 10, "allocate": 30, "sort": 30, "sum": 300, "text": 30}
SIZES = 10
PROGRAMS = {"c": "cc", "c++": "c++", "rust": "rustc", "go": "go", "java": "javac", "python": "python3"}


def measured(given, place, language, loop, n, seed):
    """The comparison of the second function with the first; None where it has none, with what was said instead."""
    file = os.path.join(place, LANGUAGES[language].file)
    with open(file, "w", encoding="utf-8") as out:
        out.write(bench_text(language, [("first", loop, n), ("second", loop, n)]))
    command = [given.pagewise, "bench", file, "--json", "--seed", str(seed)]
    if given.budget:
        command += ["--budget", given.budget]
    while True:
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, XDG_DATA_HOME=place), check=False)
        if "another run is measuring" not in done.stderr:
            break
        time.sleep(1)
    try:
        summary = json.loads(done.stdout)
    except ValueError:
        return None, done.stderr.strip()[-300:]
    cells = [i for i, cell in enumerate(summary["cells"]) if cell["method"] == "second" and not cell.get("hidden")]
    compared = [c for group in summary["groups"] for c in group["comparisons"] if c["cell"] in cells and c["phase"] == "run"]
    if not compared:
        reasons = ["%s %s" % (summary["cells"][i]["status"], summary["cells"][i].get("cause", "")) for i in cells]
        return None, "; ".join(reasons)
    return compared[0], ""


def pairs_of(given, language):
    """Words, directions and widths of a language's pairs."""
    words, widths, scale = Counter(), [], LANGUAGES[language].scale
    for number in range(given.pairs):
        loop, size = LOOPS[number % len(LOOPS)], number // len(LOOPS) * SIZES // -(-given.pairs // len(LOOPS)) % SIZES
        n = max(8, int((SMALLEST[loop] << size) * scale))
        with tempfile.TemporaryDirectory(prefix="pagewise-pairs-") as place:
            compared, reason = measured(given, place, language, loop, n, given.seed + number)
        if compared is None:
            words["unmeasured"] += 1
            print("%-7s %-9s n=%-8d not measured: %s" % (language, loop, n, reason), flush=True)
            continue
        word, ratio = compared["verdict"]["word"], compared.get("ratio")
        # A word that does not hold among all comparisons of the run, or that is in doubt, is none.
        is_said = word in ("faster", "slower") and compared["holds_among_all"] and not compared.get("doubt")
        words[word if is_said or word == "within" else "open"] += 1
        if ratio:
            widths.append(ratio["high"] / ratio["low"] - 1)
        if is_said:
            print("%-7s %-9s n=%-8d second is %s: %.4f (%.4f to %.4f)"
                  % (language, loop, n, word, ratio["ratio"], ratio["low"], ratio["high"]), flush=True)
    return words, widths


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pagewise")
    arguments.add_argument("--languages", default=",".join(LANGUAGES))
    arguments.add_argument("--pairs", type=int, default=len(LOOPS) * SIZES)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--budget", help="otherwise that of a file without one")
    given = arguments.parse_args()
    given.pagewise = os.path.abspath(given.pagewise)
    rows, wrong = [], 0
    for language in given.languages.split(","):
        if not shutil.which(PROGRAMS[language]):
            print("%s is left out: %s is not installed" % (language, PROGRAMS[language]))
            continue
        words, widths = pairs_of(given, language)
        wrong += words["faster"] + words["slower"] + words["unmeasured"]
        rows.append((language, words, 100 * statistics.median(widths) if widths else float("nan")))
    print("%-7s %6s %6s %6s %6s %10s %12s" % ("", "faster", "slower", "within", "open", "unmeasured", "median width"))
    for language, words, width in rows:
        counts = tuple(words[word] for word in ("faster", "slower", "within", "open", "unmeasured"))
        print("%-7s %6d %6d %6d %6d %10d %10.1f %%" % ((language,) + counts + (width,)))
    return 1 if wrong else 0


sys.exit(main())
