#!/usr/bin/env python3
"""The five articles' tables beside their own programs: each row "as published" and the same job by `published/programs`, in turn.

    tests/by-hand/articles.py PAGEWISE [--articles P1,P2,P3,P4,P5] [--turns 3] [--folder FOLDER]

A turn is `pagewise run --published PN`, without options, and the programs that `pagewise show --published PN` prints, compiled
as they say and run at the sizes of our rows. Both are scaled to the article's count. Prints both medians, their ratio with its
range over the turns, and whether it lies within 20 % or both ranges overlap. FOLDER is on a disk. P3's cold rows need root
(they drop the page cache, as the article did) and are left out without it; rows beside a load are not repeated.
Run it alone: some 3 minutes a turn, and 2 GiB in FOLDER.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../published/programs")
MIB = 1 << 20
WRITES, CLEARS = 20_000_000, 200_000
MOVED = 256 * MIB
CAPTURE = 1 << 30
OUR_CAPTURE = os.path.expanduser("~/.cache/pagewise/captures/%d-1.pcap" % CAPTURE)


def output(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(map(str, command)), done.stderr.strip()[-500:]))
    return done.stdout


def numbers(command):
    return [float(word) for word in output(command).split()]


def compiled(place, source, level):
    program = os.path.join(place, source.replace(".c", level))
    output(["cc", level, "-pthread", "-o", program, os.path.join(PROGRAMS, source)])
    return program


def p1(place):
    """Seconds of 1e9 writes and 1e7 clears of 64 KiB."""
    rows = {}
    programs = [("C", "-O0"), ("C -O3", "-O3")]
    for name, level in programs:
        program = compiled(place, "P1.c", level)
        for way in ("mmap", "shm"):
            file = [os.path.join(place, "region")] if way == "mmap" else []
            written, cleared = numbers([program, way, 65536, WRITES, CLEARS] + file)
            rows["64 KiB, 1e9 writes, %s %s" % (name, way)] = written * 1e9 / WRITES
            rows["64 KiB, 1e7 clears, %s %s" % (name, way)] = cleared * 1e7 / CLEARS
    output(["javac", "-d", place, os.path.join(PROGRAMS, "P1.java")])
    # Ten times as many: of 5e8 ns the compiler's start would be a quarter.
    written, cleared = numbers(["java", "-cp", place, "P1", os.path.join(place, "buffer"), 65536, 10 * WRITES, CLEARS])
    rows["64 KiB, 1e9 writes, Java MappedByteBuffer"] = written * 1e9 / (10 * WRITES)
    rows["64 KiB, 1e7 clears, Java MappedByteBuffer"] = cleared * 1e7 / CLEARS
    return rows


def p2(place):
    """CPU seconds of each side, scaled from 256 MiB."""
    rows = {}
    file, target = os.path.join(place, "block"), os.path.join(place, "target")
    if not os.path.exists(file):
        with open(file, "wb") as out:
            for _ in range(MOVED // MIB):
                out.write(os.urandom(MIB))
    program = compiled(place, "P2.c", "-O0")
    for way, name in (("memcpy", "shm + memcpy"), ("vmsplice", "vmsplice")):
        seconds = [s * (1 << 30) / MOVED for s in numbers([program, way, MOVED, file])]
        for side, value in zip(("A sends", "B receives", "both"), seconds + [sum(seconds)]):
            rows["1 GiB, %s, %s" % (name, side)] = value
    program = compiled(place, "P2b.c", "-O0")
    for way, name in (("memcpy", "memcpy"), ("vmsplice", "memcpy made of vmsplice")):
        rows["%s, 1000 MiB, CPU time" % name] = numbers([program, way, MOVED])[0] * 1000 * MIB / MOVED
    program = compiled(place, "P2c.c", "-O0")
    for way, name in (("pipe", "read, pipe, write"), ("mmap", "mmap, memcpy"), ("splice", "splice")):
        if os.path.exists(target):
            os.remove(target)
        seconds = [s * 1.4e9 / MOVED for s in numbers([program, way, file, target])]
        for side, value in zip(("A sends", "B receives", "both"), seconds + [sum(seconds)]):
            rows["1.4 GB into a file, %s, %s" % (name, side)] = value
    return rows


def p3(place):
    """What time -v says of each program, scaled to 1,115,844,608 bytes."""
    rows = {}
    program = compiled(place, "P3.c", "-O3")
    cases = [("/dev/shm", "mmap", "mmap"), ("/dev/shm", "read", "fread")]
    if os.geteuid() == 0:
        cases = [("disk", "mmap", "mmap"), ("disk", "read", "fread"), ("disk", "mmap + populate", "populate")] + cases
    shm = tempfile.mkdtemp(dir="/dev/shm")
    for where, name, way in cases:
        file = os.path.join(shm if where == "/dev/shm" else place, "capture")
        if not os.path.exists(file):
            # The packets of our rows, which fread takes two calls each for; the first turn has made them.
            if os.path.exists(OUR_CAPTURE):
                shutil.copyfile(OUR_CAPTURE, file)
            else:
                output([program, "make", file, CAPTURE])
        if where == "disk":
            os.sync()
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as drop:
                drop.write("3")
        elif way == "mmap":
            # The first walk over a file that was just copied to /dev/shm takes 1.2 times as long as any later one; ours
            # was read before.
            output([program, way, file])
        begun = time.monotonic()
        process = subprocess.Popen([program, way, file], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.monotonic() - begun
        if status:
            sys.exit("P3 %s failed" % way)
        scale = 1115844608 / CAPTURE
        for label, value in (("elapsed", elapsed), ("user", usage.ru_utime), ("system", usage.ru_stime)):
            rows["%s: %s, %s" % (label, where, name)] = value * scale
    os.remove(os.path.join(shm, "capture"))
    os.rmdir(shm)
    return rows


def p4(place):
    program = compiled(place, "P4.c", "-O0")
    pairs = [output([program, 104857600]).split() for _ in range(5)]
    return {
        "malloc and zero, median of 5 runs": statistics.median(float(p[1]) for p in pairs),
        "mmap and write 1, median of 5 runs": statistics.median(float(p[3]) for p in pairs),
    }


def p5(place):
    """Seconds of an iteration, as Go's benchmark prints them."""
    folder = os.path.join(place, "p5")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(PROGRAMS, "P5_test.go"), encoding="utf-8") as program:
        text = program.read()
    with open(os.path.join(folder, "p5_test.go"), "w", encoding="utf-8") as out:
        out.write(text)
    environment = dict(os.environ, GO111MODULE="off")
    said = output(["go", "test", "-bench", ".", "-benchtime", "100ms", "p5_test.go"], cwd=folder, env=environment)
    rows = {}
    for line in said.splitlines():
        match = re.match(r"Benchmark(Touch|GiveBack)/(prefetch|fault)(?:/(dontneed|free))?/(\d+)MiB\S*\s+\d+\s+([\d.]+) ns/op", line)
        if match:
            _, kind, release, size, ns = match.groups()
            kind = "page fault" if kind == "fault" else kind
            size = "1 GiB" if size == "1024" else size + " MiB"
            label = ", ".join([kind] + ([release.upper()] if release else []) + [size])
            rows[label] = float(ns) / 1e9
    return rows


ARTICLES = {"P1": p1, "P2": p2, "P3": p3, "P4": p4, "P5": p5}


def figures(article):
    """Label, cell, parameters, phase, column and count of each row as published."""
    import tomllib

    with open(os.path.join(PROGRAMS, "..", article.lower() + ".toml"), "rb") as file:
        rows = tomllib.load(file)["figure"]
    return [row for row in rows if row["job"] == "as published" and "against" not in row and row.get("ops")]


def in_bytes(text):
    match = re.fullmatch(r"(\d+)(KiB|MiB|GiB)?", text)
    return str(int(match[1]) * {None: 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}[match[2]]) if match else text


def ours(summary, row):
    """A row's seconds in a run of ours; None where it was not measured."""
    for cell in summary["cells"]:
        # A method lacks the parameters that mean nothing to it.
        wanted = {key: [in_bytes(one) for one in value.split("|")] for key, value in row["parameters"].items()}
        fits = all(cell["parameters"].get(key, values[0]) in values for key, values in wanted.items())
        name = row["cell"]
        # A cell of two sides has both workers, and a figure may name one for both.
        named = cell["cell"].startswith(name[:-1]) if name.endswith("*") else cell["cell"] in (name, name + "+" + name.split("@")[1])
        if cell.get("hidden") or not named or not fits or row["phase"] not in cell["phases"]:
            continue
        phase = cell["phases"][row["phase"]]
        per_unit = phase["per_unit_ns"]["median"] / phase["wall_ns"]["median"]
        column = phase[row["column"]]
        value = column["median"] if isinstance(column, dict) else column
        return value * per_unit * row["ops"] / 1e9
    return None


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("pagewise")
    words.add_argument("--articles", default=",".join(ARTICLES))
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--folder", default=".")
    given = words.parse_args()
    near = compared = 0
    for article in given.articles.split(","):
        rows = figures(article)
        mine = {row["label"]: [] for row in rows}
        theirs = {row["label"]: [] for row in rows}
        with tempfile.TemporaryDirectory(dir=given.folder) as place:
            for turn in range(given.turns):
                for step in range(2):
                    if (turn + step) % 2:
                        for label, value in ARTICLES[article](place).items():
                            if label in theirs:
                                theirs[label].append(value)
                    else:
                        command = [os.path.abspath(given.pagewise), "run", "--published", article, "--json"]
                        summary = json.loads(output(command, env=dict(os.environ, XDG_DATA_HOME=os.path.join(place, "store"))))
                        for row in rows:
                            value = ours(summary, row)
                            if value is not None:
                                mine[row["label"]].append(value)
        print("\n%s: %d rows as published" % (article, len(rows)))
        for label in mine:
            a, b = mine[label], theirs[label]
            if not a or not b:
                print("  %-52s %s" % (label, "not measured by us" if not a else "no program"))
                continue
            if min(b) <= 0: # `time` has steps of 10 ms
                print("  %-52s ours %.4g s  program %.4g s: below its clock" % (label, statistics.median(a), statistics.median(b)))
                continue
            ratio = statistics.median(a) / statistics.median(b)
            overlap = min(a) <= max(b) and min(b) <= max(a)
            is_near = 1 / 1.2 <= ratio <= 1.2
            compared += 1
            near += is_near or overlap
            word = "within 20 %" if is_near else "ranges overlap" if overlap else "DIFFERS"
            low, high = min(a) / max(b), max(a) / min(b)
            print("  %-52s ours %.4g s  program %.4g s  %.2f (%.2f-%.2f)  %s" % (
                label, statistics.median(a), statistics.median(b), ratio, low, high, word))
        sys.stdout.flush()
    print("\n%d of %d rows agree" % (near, compared))


if __name__ == "__main__":
    main()
