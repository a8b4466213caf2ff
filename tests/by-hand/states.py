#!/usr/bin/env python3
"""States of the machine, many times: how often each is reached and undone, and what is left after kill -9.

    tests/by-hand/states.py times PAGEWISE 20 STATE...     each state so many times
    tests/by-hand/states.py kills PAGEWISE 100 [SEED [STATE...]]
                                                           so many kills at random moments of making, holding and undoing

Root only. It times nothing but the making, so it runs beside other runs (--force). Figures of one machine are in
docs/evidence/README.md.
"""
import glob, json, os, random, shutil, signal, statistics, subprocess, sys, tempfile, time

SETTINGS = [
    "/proc/swaps", "/proc/sys/vm/page-cluster", "/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_background_bytes", "/proc/sys/vm/dirty_background_ratio", "/proc/sys/vm/compaction_proactiveness",
    "/proc/sys/vm/compact_unevictable_allowed", "/proc/sys/vm/percpu_pagelist_high_fraction",
    "/sys/kernel/mm/transparent_hugepage/defrag", "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "/sys/module/zswap/parameters/enabled", "/sys/block/zram0/disksize",
    "/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "/sys/kernel/mm/damon/admin/kdamonds/0/state",
    "/proc/sys/vm/nr_hugepages", *sorted(glob.glob("/sys/class/bdi/*/read_ahead_kb")),
]
# A method for each state in which it shows, and its parameters.
WORK = {
    "output": ["output/write@c-O3", "--set", "bytes=16MiB"],
    "load": ["load/mmap-lazy@c-O3", "--set", "bytes=16MiB", "--set", "cache=cold"],
    "thp": ["fault/touch@c-O3", "fault/thp@c-O3", "--set", "bytes=64MiB"],
    "copy": ["copy/memcpy@c-O3", "--set", "bytes=4MiB"],
    "fault": ["fault/touch@c-O3", "--set", "bytes=2MiB"],
}
OF_STATE = {"read-ahead-128": "load", "bound": "load", "writeback": "output", "cold": "copy", "fragmented-pinned": "thp",
            "storage-latency": "load", "storage-latency-5ms": "load", "storage-rate": "load"}


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def huge_share():
    """Share of the free memory in blocks of a huge page (order 9 and 10)."""
    free = huge = 0
    for line in text("/proc/buddyinfo").splitlines():
        for order, count in enumerate(line.split()[4:]):
            free += int(count) << order
            huge += int(count) << order if order >= 9 else 0
    return huge / max(free, 1)


def machine():
    """What states change: settings, swap, control groups, and processes that hold a state."""
    groups = sorted(glob.glob("/sys/fs/cgroup/**/pagewise-*", recursive=True))
    holders = [path for path in glob.glob("/proc/[0-9]*/cmdline") if b"\0state\0" in text_bytes(path)]
    mounts = [line for line in text("/proc/self/mounts").splitlines() if "scratch-pagewise" in line]
    loops = [text(path) for path in sorted(glob.glob("/sys/block/loop*/loop/backing_file"))]
    return [text(path) for path in SETTINGS] + groups + holders + mounts + loops


def text_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def command(pagewise, state, out):
    work = WORK[OF_STATE.get(state, "fault")]
    return [pagewise, "run", *work, "--state", state, "--launches", "2", "--budget", "90s", "--allow-system-changes",
            "--force", "--json", "--out", out]


def launches(out):
    for line in text(f"{out}/launches.jsonl").splitlines():
        record = json.loads(line.partition("\t")[2] or line)
        if record.get("state"):
            yield record["state"]


def until_as(before, seconds=20):
    end = time.monotonic() + seconds
    while machine() != before and time.monotonic() < end:
        time.sleep(0.05)
    return machine() == before


def times(pagewise, count, states):
    for state in states:
        reached = undone = proved = seen = 0
        made, shares, reason = [], [], ""
        for _ in range(count):
            place = tempfile.mkdtemp(dir=os.getcwd())
            before, share = machine(), huge_share()
            ran = subprocess.run(command(pagewise, state, f"{place}/run"), capture_output=True, text=True)
            held = list(launches(f"{place}/run"))
            reached += bool(held)
            seen += len(held)
            proved += sum(not one.get("lost") for one in held)
            made += [max(one["made_s"] for one in held)] if held else []
            undone += until_as(before)
            shares.append(huge_share() - share)
            lost = [(one["lost"][0]["counter"], one["lost"][0].get("value")) for one in held if one.get("lost")]
            cells = json.loads(ran.stdout)["cells"] if ran.stdout.startswith("{") else []
            reasons = {json.dumps(cell.get("cause")) for cell in cells if cell.get("status") != "ok"}
            reason = f"{lost or ''} {reasons or ''}" if lost or reasons else reason
            shutil.rmtree(place)
        longest = f"{max(made):.2f} s at most" if made else "never"
        print(f"{state}: reached {reached} of {count} ({longest}), {proved} of {seen} launches proved, undone {undone} of "
              f"{count}, huge free blocks {statistics.median(shares):+.2f} {reason}", flush=True)


def leftovers(place):
    return glob.glob(f"{place}/run/scratch-*") + glob.glob(f"{place}/[!r]*")


def children(pid):
    return [int(child) for child in text(f"/proc/{pid}/task/{pid}/children").split()]


ALL = ["fragmented-movable", "fragmented-pinned", "swap-zram", "swap-zram-lzo", "swap-zswap", "swap-file", "writeback",
       "neighbour", "bound", "many-vmas", "page-tables", "fresh", "cold", "read-ahead-128", "cache-full", "storage-latency", "storage-rate"]


def kills(pagewise, count, seed, states):
    rng = random.Random(seed)
    tally = {}
    for number in range(count):
        state, victim = rng.choice(states), rng.choice(["laboratory", "holder", "laboratory and guard"])
        place = tempfile.mkdtemp(dir=os.getcwd())
        before = machine()
        run = subprocess.Popen(command(pagewise, state, f"{place}/run"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 4.0))
        helpers = {pid: text_bytes(f"/proc/{pid}/cmdline").split(b"\0") for pid in children(run.pid)}
        verbs = {pid: words[1].decode() if len(words) > 1 else "" for pid, words in helpers.items()}
        holders = [pid for pid, verb in verbs.items() if verb == "state"]
        guards = [pid for pid, verb in verbs.items() if verb == "guard"]
        wanted = {"laboratory": [run.pid], "holder": holders, "laboratory and guard": guards + [run.pid]}[victim]
        was = "ended" if run.poll() is not None else "held" if holders else "before or between"
        for pid in wanted:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        run.wait()
        if victim == "laboratory and guard":
            time.sleep(0.3)
            subprocess.run([pagewise, "list"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        undone = until_as(before)
        # A killed run keeps its folder; nothing else may be there. The guard removes the state's own folder last.
        left = leftovers(place)
        for _ in range(100):
            time.sleep(0.05 if left else 0)
            left = leftovers(place)
        if not undone or left:
            print(f"{number}: {state}, {victim} killed ({was}): left {left}, machine differs: "
                  f"{[(a, b) for a, b in zip(before, machine()) if a != b]}", flush=True)
        kind = tally.setdefault((victim, was), [0, 0])
        kind[0] += 1
        kind[1] += undone and not left
        shutil.rmtree(place)
    for (victim, was), (all_of, clean) in sorted(tally.items()):
        print(f"{victim} killed, state {was}: {clean} of {all_of} left nothing", flush=True)


if __name__ == "__main__":
    what, pagewise, count = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3])
    if what == "times":
        times(pagewise, count, sys.argv[4:])
    else:
        kills(pagewise, count, int(sys.argv[4]) if len(sys.argv) > 4 else 1, sys.argv[5:] or ALL)
