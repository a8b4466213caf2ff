#!/usr/bin/env python3
"""What timing single operations costs the headline phases: workers with it and without it, in turns.

    cargo build && tests/by-hand/latency-cost.py 40

The worker without is this one, with no clock read for an operation: each edit below names its line and fails where that is not
there. The code around stays, for another place of a loop in memory can move it by 5 %. Both are compiled alike and linked from the same objects otherwise (those of the
newest build of the debug profile).
So many pairs of launches per question, ABBA; a launch counts by the midmean of its rounds, the ratio with : without is the mean
over pairs, with its 95 % interval. A third row compares the worker with itself. Figures of one machine: docs/evidence/README.md.
"""
import glob, math, os, shutil, statistics, subprocess, sys, tempfile

EDITS = {
    "load/load.c": [("        last = now_ns();\n", "        last = *(volatile size_t *)&answer;\n"),
                    ("            now = now_ns();\n", "            now = *(volatile size_t *)&answer;\n"),
                    ("    latency_record(s, ns, asked);\n", "    if (asked > answer)\n        latency_record(s, ns, asked);\n")],
    "reset/reset.c": [("    if (latency_due(s) && s->threads == 1)", "    if (latency_due(s) && s->threads == 255)")],
    "output/output.h": [("uint64_t start = now_ns();", "uint64_t start = 0;"), ("now_ns() - start", "start")],
    "output/write.c": [("uint64_t start = now_ns();", "uint64_t start = 0;"), ("now_ns() - start", "start")],
}
# Method, its keys, the phases of its headline, rounds of a launch.
QUESTIONS = [
    ("reset", "memset", {"bytes": "1048576", "dirty": "10", "scatter": "spread", "image": "zero", "read": "none", "history": "same",
                         "pages": "small", "running": "1", "threads": "1"}, ["use", "reset"], 300),
    ("reset", "dontneed", {"bytes": "1048576", "dirty": "10", "scatter": "spread", "image": "zero", "read": "none",
                           "history": "same", "pages": "small", "running": "1", "threads": "1"}, ["use", "reset"], 300),
    ("load", "mmap-lazy", {"bytes": "16777216", "cache": "hot", "order": "sequential", "record": "4096", "share": "100",
                           "place": "folder", "memory": "unbounded"}, ["open", "bring", "answer", "first-use"], 12),
    ("output", "write", {"bytes": "16777216", "order": "sequential", "place": "tmpfs", "old": "none", "running": "1"},
     ["open", "size", "fill", "finish"], 25),
]
FLAGS = ["-O3", "-std=gnu11", "-pthread", "-fno-tree-loop-distribute-patterns", "-fno-tree-loop-distribution",
         "-Wno-maybe-uninitialized", "-D_GNU_SOURCE", "-Ic/harness", "-Ic", "-w"]


def edit(path, edits):
    with open(path) as file:
        text = file.read()
    for old, new in edits:
        if old not in text:
            sys.exit(f"{path} has no line {old!r}")
        text = text.replace(old, new)
    with open(path, "w") as file:
        file.write(text)


def built(place):
    """The two workers: as it is, and without."""
    out = max(glob.glob("target/debug/build/pagewise-workers-*/out"), key=os.path.getmtime)
    objects = {os.path.basename(path): path for folder in ["common", "c-O3", "c-O3-about"]
               for path in glob.glob(f"{out}/{folder}/*.o")}
    for which in ["with", "without"]:
        source = f"{place}/{which}-source"
        shutil.copytree("workers/c", f"{source}/c")
        for name, edits in EDITS.items() if which == "without" else []:
            edit(f"{source}/c/methods/{name}", edits)
        mine = dict(objects)
        for folder in {name.split("/")[0] for name in EDITS}:
            for path in sorted(glob.glob(f"{source}/c/methods/{folder}/*.c")):
                name = os.path.relpath(path, source).replace("/", "-")[:-2] + ".o"
                subprocess.run(["cc", *FLAGS, "-c", path, "-o", f"{source}/{name}"], check=True, cwd=source)
                assert name in objects, name
                mine[name] = f"{source}/{name}"
        subprocess.run(["cc", *mine.values(), "-pthread", "-ldl", "-lrt", "-Wl,-z,now", "-o", f"{place}/{which}"], check=True)
    return f"{place}/with", f"{place}/without"


def launched(worker, question, place):
    """The midmean of the headline over the rounds of one launch, in nanoseconds, and how many latencies it recorded."""
    experiment, method, keys, phases, rounds = question
    lines = ["protocol=1", f"experiment={experiment}", "seed=9", f"directory={place}", "name=pagewise-cost", "cell=0",
             f"method={method}", *(f"{key}={value}" for key, value in keys.items()), "warmup=1 0"]
    text = "\n".join(lines + [f"round={number} 0" for number in range(rounds)]) + "\n"
    ended = subprocess.run([worker], input=text, capture_output=True, text=True, check=True, cwd=place)
    sums, latencies = {}, 0
    for line in ended.stdout.splitlines():
        part = line.split("\t")
        if part[0] in ("skip", "fail", "crash"):
            sys.exit(line)
        if part[0] == "sample" and part[4] in phases and int(part[1]) > 0:
            sums[part[1]] = sums.get(part[1], 0) + int(part[8])
        latencies += part[0] == "latency"
    ordered = sorted(sums.values())
    quarter = len(ordered) // 4
    return statistics.mean(ordered[quarter:len(ordered) - quarter]), latencies


def ratio(a, b, question, place, pairs):
    logs, seen = [], [0, 0]
    for pair in range(pairs):
        order = [0, 1] if pair % 2 == 0 else [1, 0]
        took = {}
        for side in order:
            took[side], latencies = launched([a, b][side], question, place)
            seen[side] += latencies
        logs.append(math.log(took[0] / took[1]))
    half = 1.96 * (1 + 1.3 / pairs) * statistics.stdev(logs) / math.sqrt(pairs)
    mean = statistics.mean(logs)
    return [math.exp(x) for x in (mean, mean - half, mean + half)], seen


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    place = tempfile.mkdtemp(dir=os.getcwd())
    try:
        a, b = built(place)
        for question in QUESTIONS:
            for what, other in [("with : without", b), ("with : with", a)]:
                (middle, low, high), seen = ratio(a, other, question, place, pairs)
                if what == "with : without":
                    assert seen[0] and not seen[1], seen
                print(f"{question[0]}/{question[1]}: {what} {middle:.4f} ({low:.4f}-{high:.4f}), {pairs} pairs", flush=True)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
