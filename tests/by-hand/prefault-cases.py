#!/usr/bin/env python3
"""Held-out cases of `advise prefault`: the advised method beside the best one of all that are measured.

    tests/by-hand/prefault-cases.py PAGEWISE [--cases 20] [--seed 60] [--budget 30s] [--keep FOLDER]

A case is a size, a number of threads, a kind of sharing and a way to pin. Each is asked of `advise prefault` as a user asks it
(20 seconds, no kept run helps). Then all methods of the experiment are measured in the same case, in a run of its own. The
advised method is within 5 % where its time until ready is at most 1.05 times that of the fastest method. The measure is 19 of 20.
A method's time is the lower quartile of its launches: in a virtual machine whichever launch first touches memory that the host has
not given yet takes five times as long, whatever the method; of eight launches, chance decides on which side their median lies.
Methods that this machine lacks (hugetlb without a pool) take no part in either. Run it alone: it takes some 20 minutes.
The runs stay in FOLDER, where one is named, for `pagewise report`.
"""
import argparse, itertools, json, os, random, subprocess, sys, tempfile, time

SIZES = ["64MiB", "96MiB", "128MiB", "192MiB", "256MiB", "384MiB", "512MiB", "768MiB", "1GiB"]
SHARING = ["private", "shared", "memfd"]
PINNED = ["no", "lock"]
NEAR = 1.05


def asked(pagewise, arguments, store):
    """The JSON that a command prints, and the seconds it took."""
    environment = dict(os.environ, XDG_DATA_HOME=store)
    begun = time.monotonic()
    output = subprocess.run([pagewise, *arguments, "--json"], env=environment, capture_output=True, text=True)
    spent = time.monotonic() - begun
    if not output.stdout.strip():
        sys.exit(f"{' '.join(arguments)}: {output.stderr.strip()}")
    return json.loads(output.stdout), spent


def advised(pagewise, case, store):
    size, threads, sharing, pinned = case
    arguments = ["advise", "prefault", "--bytes", size, "--threads", str(threads), "--set", f"sharing={sharing}", "--fresh"]
    answer, spent = asked(pagewise, arguments + (["--pinned"] if pinned == "lock" else []), store)
    return answer["case"]["use"], spent


def measured(pagewise, case, budget, store):
    """Lower quartile of the time until ready by method, of those that do the same job and can be believed."""
    size, threads, sharing, pinned = case
    settings = [f"bytes={size}", f"threads={threads}", f"sharing={sharing}", f"pinned={pinned}"]
    arguments = ["run", "prefault", "--budget", budget] + [word for setting in settings for word in ("--set", setting)]
    summary, _ = asked(pagewise, arguments, store)
    times = {}
    for cell in summary["cells"]:
        is_answer = cell["role"] == "method" and not cell["group"] and not cell.get("hidden") and cell["worker"] == "c-O3"
        if is_answer and cell["status"] == "ok" and "ready" in cell["phases"]:
            launches = sorted(cell["per_launch"]["wall_ns"]["ready"])
            ns = launches[len(launches) // 4]
            times[cell["method"]] = min(ns, times.get(cell["method"], ns))
    return times


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("pagewise")
    words.add_argument("--cases", type=int, default=20)
    words.add_argument("--seed", type=int, default=60)
    words.add_argument("--budget", default="30s")
    words.add_argument("--keep")
    given = words.parse_args()
    threads = range(1, min(os.cpu_count(), 4) + 1)
    cases = list(itertools.product(SIZES, threads, SHARING, PINNED))
    cases = random.Random(given.seed).sample(cases, min(given.cases, len(cases)))
    near, asked_cases = 0, 0
    with tempfile.TemporaryDirectory() as place:
        store = given.keep or place
        for case in cases:
            name, spent = advised(given.pagewise, case, store)
            times = measured(given.pagewise, case, given.budget, store)
            label = "bytes={} threads={} sharing={} pinned={}".format(*case)
            if not times:
                print(f"{label}: nothing can be measured here", flush=True)
                continue
            asked_cases += 1
            best = min(times, key=times.get)
            factor = times[name] / times[best] if name in times else None
            near += factor is not None and factor <= NEAR
            shown = "nothing is advised" if factor is None else f"{name} takes {factor:.3f} of the best"
            print(f"{label}: {shown}, {best} ({times[best] / 1e6:.1f} ms); answered in {spent:.0f} s", flush=True)
    print(f"within {NEAR - 1:.0%} of the best: {near} of {asked_cases}")
    return 0 if near >= asked_cases - asked_cases // 20 else 1


if __name__ == "__main__":
    sys.exit(main())
