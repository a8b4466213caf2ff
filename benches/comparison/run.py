#!/usr/bin/env python3
"""Pagewise against criterion, divan, Google Benchmark and hyperfine on five pairs, each tool as its manual says, in turn:

    benches/comparison/run.py [--trials N] [--tools NAME,…] [--pairs NAME,…] [--pagewise PROGRAM]
    benches/comparison/run.py --bare [--languages NAME,…] [--trials N] [--pagewise PROGRAM]

A trial asks one tool about one pair: is b slower than a, faster, or neither? Prints for each pair and tool the trials, the
seconds of one, the share of right answers, and the seconds to one: those of all trials over the right answers. Last, for each
tool: false alarms about the identical pair, and the seconds to a right answer about any pair. Needs a C compiler; a tool that
is not installed is left out by name. Run it on a quiet machine. With --bare, six loops in each language under the harness
against the same loop in a bare program.

Rules of the answers. pagewise: its verdict, `--precision 1% --margin 1%`. criterion: its sentence on the change against a saved
baseline. divan gives no verdict: medians that differ by more than 1 %. Google Benchmark: the U test of its compare.py at 5 %, of
9 repetitions. hyperfine: the t test of its welch_ttest.py at 5 %, of 30 runs."""
import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from languages import LANGUAGES, LOOPS, Bare, bench_text

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAIRS = ["identical", "steps +2 %", "steps +5 %", "pages +5 %", "mmap : read"]
MADE = {"identical": 0, "steps +2 %": 1, "steps +5 %": 1, "pages +5 %": 1}
FILE_BYTES = 4 << 20
TRUTH_ROUNDS, CLEAR = 1500, 0.01
HYPERFINE_REPEAT, HYPERFINE_RUNS, GOOGLE_REPETITIONS = 10, 30, 9
DIVAN_SHARE, LEVEL = 0.01, 0.05
LIMIT_S, BUILD_S = 120, 900
BARE_BUDGET, TRIALS, BARE_TRIALS = "2.5s", 20, 3
BARE_COUNTS = {"steps": 1000000, "touch": 8 << 20, "allocate": 20000, "sort": 20000, "sum": 1000000, "text": 20000}


def output(command, limit_s=LIMIT_S, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), capture_output=True, text=True, timeout=limit_s)
    if done.returncode not in (0, 3):
        raise RuntimeError("%s: %s" % (" ".join(command), done.stderr.strip()[-500:]))
    return done.stdout


def sign(difference, differs=True):
    """-1: b is faster, 1: b is slower, 0: neither."""
    return 0 if not differs or difference == 0 else (1 if difference > 0 else -1)


def u_test(a, b):
    """Two-sided p of Mann and Whitney's test, exact: the share of all orders whose U is as extreme (no ties)."""
    m, n = len(a), len(b)
    u = sum(x > y for x in a for y in b)
    ways = [[[0] * (m * n + 1) for _ in range(n + 1)] for _ in range(m + 1)]
    for i in range(m + 1):
        for j in range(n + 1):
            for k in range(m * n + 1):
                if i == 0 or j == 0:
                    ways[i][j][k] = int(k == 0)
                else:
                    ways[i][j][k] = (ways[i - 1][j][k - j] if k >= j else 0) + ways[i][j - 1][k]
    tail = sum(ways[m][n][:min(u, m * n - u) + 1])
    return min(1.0, 2 * tail / math.comb(m + n, m))


def t_test(a, b):
    """Two-sided p of Welch's test, Student's distribution by Simpson's rule."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    if va + vb == 0:
        return 1.0
    t = abs(statistics.mean(a) - statistics.mean(b)) / math.sqrt(va + vb)
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    steps = 2000
    width = min(t, 60.0) / steps
    density = [(1 + (i * width) ** 2 / df) ** (-(df + 1) / 2) for i in range(steps + 1)]
    inner = density[0] + density[-1] + 4 * sum(density[1:-1:2]) + 2 * sum(density[2:-1:2])
    return max(0.0, 1 - 2 * scale * inner * width / 3)


class Pagewise:
    def __init__(self, place, program):
        self.place, self.program = place, program or os.path.join(ROOT, "target/release/pagewise")
        output([self.program, "--version"])

    def summary(self, pair):
        return json.loads(output([self.program, "bench", os.path.join(HERE, "pagewise.c"), "--set", "pair=%d" % pair, "--precision",
                                  "1%", "--margin", "1%", "--budget", "10s", "--json"], XDG_DATA_HOME=self.place))

    def answer(self, pair):
        summary = self.summary(pair)
        b = next(i for i, cell in enumerate(summary["cells"]) if cell["method"] == "b" and not cell.get("hidden"))
        compared = [c for group in summary["groups"] for c in group["comparisons"] if c["cell"] == b and c["phase"] == "run"]
        if not compared or not compared[0]["holds_among_all"] or compared[0].get("doubt"):
            return 0
        return {"slower": 1, "faster": -1}.get(compared[0]["verdict"]["word"], 0)


class Criterion:
    name = "by_criterion"

    def __init__(self, place, _):
        self.place = place
        if not shutil.which("cargo"):
            raise RuntimeError("cargo is not installed")
        text = output(["cargo", "bench", "--quiet", "--no-run", "--message-format", "json", "--bench", self.name, "--manifest-path",
                       os.path.join(HERE, "Cargo.toml"), "--target-dir", os.path.join(ROOT, "target/comparison")], BUILD_S)
        built = (json.loads(line) for line in text.splitlines())
        self.program = next(one["executable"] for one in built if one.get("executable") and one["target"]["name"] == self.name)

    def side(self, pair, side, *words):
        return output([self.program, "--bench", *words], WORK_PAIR=str(pair), WORK_SIDE=str(side), CRITERION_HOME=os.path.join(self.place, "criterion"))

    def answer(self, pair):
        self.side(pair, 0, "--save-baseline", "a")
        text = self.side(pair, 1, "--baseline", "a")
        return 1 if "Performance has regressed" in text else -1 if "Performance has improved" in text else 0


class Divan(Criterion):
    name = "by_divan"

    def answer(self, pair):
        text = output([self.program, "--bench"], WORK_PAIR=str(pair))
        # Columns: fastest, slowest, median, mean, samples, iterations.
        medians = re.findall(r"[├╰]─ [ab] +[\d.]+ \S+ +│ [\d.]+ \S+ +│ ([\d.]+) (\S+)", text)
        a, b = (float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit] for number, unit in medians)
        return sign(b - a, abs(b / a - 1) > DIVAN_SHARE)


class Google:
    def __init__(self, place, _):
        self.program = os.path.join(place, "google")
        source = [os.path.join(HERE, name) for name in ("google.cpp", "work.c")]
        work = os.path.join(place, "google.o")
        output(["cc", "-O2", "-c", source[1], "-o", work])
        output(["c++", "-O2", source[0], work, "-lbenchmark", "-lpthread", "-o", self.program])

    def answer(self, pair):
        text = output([self.program, "--benchmark_repetitions=%d" % GOOGLE_REPETITIONS, "--benchmark_format=json"],
                      WORK_PAIR=str(pair))
        runs = [one for one in json.loads(text)["benchmarks"] if one["run_type"] == "iteration"]
        a, b = ([one["real_time"] for one in runs if one["run_name"].startswith(side)] for side in "ab")
        return sign(statistics.median(b) - statistics.median(a), u_test(a, b) < LEVEL)


class Hyperfine:
    def __init__(self, place, _):
        self.place, self.program = place, os.path.join(place, "work")
        output(["hyperfine", "--version"])

    def answer(self, pair):
        path = os.path.join(self.place, "hyperfine.json")
        sides = ["%s %d %d %d" % (self.program, pair, side, HYPERFINE_REPEAT) for side in (0, 1)]
        output(["hyperfine", "--shell=none", "--warmup", "3", "--runs", str(HYPERFINE_RUNS), "--export-json", path, *sides])
        with open(path, encoding="utf-8") as results:
            a, b = (one["times"] for one in json.load(results)["results"])
        return sign(statistics.mean(b) - statistics.mean(a), t_test(a, b) < LEVEL)


TOOLS = {"pagewise": Pagewise, "criterion": Criterion, "divan": Divan, "google": Google, "hyperfine": Hyperfine}


def chosen(text, known):
    names = text.split(",") if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit("%s: known are %s" % (", ".join(unknown), ", ".join(known)))
    return names


def ready(names, place, program):
    """The tools that can be used here."""
    tools = {}
    for name in names:
        try:
            tools[name] = TOOLS[name](place, program)
        except (OSError, RuntimeError, StopIteration, subprocess.TimeoutExpired) as error:
            print("%s is left out: %s" % (name, str(error).splitlines()[0] if str(error) else error), flush=True)
    return tools


def number(pair):
    """The pair's number in work.h."""
    return PAIRS.index(pair) + 1


def write_file():
    """Writes the file anew: a kernel that took it back and read it again holds it in smaller pieces, which turns the answer."""
    with open(os.environ["WORK_FILE"], "wb") as data:
        data.write(os.urandom(FILE_BYTES))


def truths(program, pairs):
    """The right answers: what the pair is made to be; of the last, the sign of its ratio in a plain program, if it is clear."""
    right = {}
    for name in pairs:
        write_file()
        ratio = float(output([program, str(number(name)), "truth", str(TRUTH_ROUNDS)]))
        right[name] = MADE.get(name, sign(ratio - 1, abs(ratio - 1) > CLEAR))
        if right[name] == 0 and name not in MADE:
            print("%s: no clear truth here (%.3f); left out" % (name, ratio))
            del right[name]
        else:
            print("%s: the plain program's ratio is %.3f" % (name, ratio), flush=True)
    return right


def share(count, of):
    return "%d/%d" % (count, of)


def table(results, right, tools):
    line = "%-12s %-10s %7s %9s %7s %7s %11s"
    print(line % ("pair", "tool", "trials", "s a trial", "right", "wrong", "s to right"))
    for pair in right:
        for tool in tools:
            answers = results[tool, pair]
            seconds = [s for s, _ in answers]
            good = sum(answer == right[pair] for _, answer in answers)
            wrong = sum(answer not in (0, None, right[pair]) for _, answer in answers)
            to_right = "%.1f" % (sum(seconds) / good) if good else "never"
            print(line % (pair, tool, len(answers), "%.1f" % statistics.median(seconds), share(good, len(answers)),
                          share(wrong, len(answers)), to_right))
    print("\n%-12s %13s %28s" % ("tool", "false alarms", "s to right, sum of all pairs"))
    for tool in tools:
        same = results.get((tool, PAIRS[0]), [])
        alarms = sum(answer not in (0, None) for _, answer in same)
        good = {pair: sum(answer == right[pair] for _, answer in results[tool, pair]) for pair in right}
        spent = {pair: sum(s for s, _ in results[tool, pair]) for pair in right}
        total = "%.1f" % sum(spent[pair] / good[pair] for pair in right) if all(good.values()) else "never for one"
        print("%-12s %13s %28s" % (tool, share(alarms, len(same)), total))


def in_bench(pagewise, place, language, loop):
    """The median turn of a loop under the harness, in nanoseconds."""
    file = os.path.join(place, LANGUAGES[language].file)
    with open(file, "w", encoding="utf-8") as out:
        out.write(bench_text(language, [(loop, loop, count(language, loop))]))
    text = output([pagewise, "bench", file, "--budget", BARE_BUDGET, "--json"], XDG_DATA_HOME=place)
    cells = [cell for cell in json.loads(text)["cells"] if cell["method"] == loop and not cell.get("hidden")]
    return cells[0]["phases"]["run"]["wall_ns"]["median"]


def count(language, loop):
    return max(8, int(BARE_COUNTS[loop] * LANGUAGES[language].scale))


def bare(pagewise, languages, trials):
    """Prints the time of each loop under the harness to that of the same loop in a bare program, both in turn."""
    for language in languages:
        ratios = {loop: [] for loop in LOOPS}
        with tempfile.TemporaryDirectory(prefix="pagewise-bare-") as place:
            for loop in LOOPS:
                os.mkdir(os.path.join(place, loop))
                program = Bare(os.path.join(place, loop), language, loop, count(language, loop))
                for _ in range(trials):
                    before = program.nanoseconds()
                    ours = in_bench(pagewise, place, language, loop)
                    ratios[loop].append(2 * ours / (before + program.nanoseconds()))
        for loop, of_loop in ratios.items():
            print("%-7s %-9s %.4f of the bare program (%.4f to %.4f)"
                  % (language, loop, statistics.median(of_loop), min(of_loop), max(of_loop)), flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--trials", type=int, help="otherwise %d, with --bare %d" % (TRIALS, BARE_TRIALS))
    arguments.add_argument("--tools")
    arguments.add_argument("--pairs")
    arguments.add_argument("--pagewise", help="the program; otherwise that of the release build")
    arguments.add_argument("--bare", action="store_true", help="compare loops under the harness with the same in bare programs")
    arguments.add_argument("--languages", help="those of --bare: " + ", ".join(LANGUAGES))
    given = arguments.parse_args()
    pairs = chosen(given.pairs, PAIRS)
    if given.bare:
        program = os.path.abspath(given.pagewise or os.path.join(ROOT, "target/release/pagewise"))
        return bare(program, chosen(given.languages, LANGUAGES), given.trials or BARE_TRIALS)
    with tempfile.TemporaryDirectory(prefix="pagewise-comparison-") as place:
        os.environ["WORK_FILE"] = os.path.join(place, "file")
        program = os.path.join(place, "work")
        output(["cc", "-O2", "-DPROGRAM", os.path.join(HERE, "work.c"), "-o", program])
        right = truths(program, pairs)
        tools = ready(chosen(given.tools, TOOLS), place, given.pagewise)
        results = {(tool, pair): [] for tool in tools for pair in right}
        for _ in range(given.trials or TRIALS):
            for pair in right:
                for name, tool in tools.items():
                    write_file()
                    begun = time.monotonic()
                    try:
                        answer = tool.answer(number(pair))
                    except (RuntimeError, subprocess.TimeoutExpired) as error:
                        print("%s gave no answer: %s" % (name, error), flush=True)
                        answer = None
                    results[name, pair].append((time.monotonic() - begun, answer))
        table(results, right, tools)


main()
