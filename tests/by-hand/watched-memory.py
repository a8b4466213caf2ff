#!/usr/bin/env python3
"""Mean resident memory of each arm of `try --watch`, relative to the baseline's, beside launches of our own with the same
variables whose /proc/PID/statm is read each 4 ms: how many ratios are within 10 %. Nothing else may run meanwhile; 5 minutes.

    tests/by-hand/watched-memory.py PAGEWISE FOLDER

FOLDER gets the inputs of validity/study.py, or has them.
"""
import json, os, statistics, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validity"))
import study

LAUNCHES = 6
NEAR = 0.1
EACH_S = 0.004
BYTES = os.sysconf("SC_PAGE_SIZE")
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
# What settings/*.toml set, written once more.
SETTINGS = {
    "keep": {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1099511627776"},
    "hugetlb": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    "jemalloc": {"LD_PRELOAD": JEMALLOC},
}
COMMANDS = ["perl hash.pl numbers.txt", "ruby hash.rb", "lua5.4 tables.lua", "/usr/bin/python3 table.py", "jq length table.json", "./vec",
            "./unordered", "./blocks", "/usr/bin/python3 lists.py", "./hash"]


def resident(command, work, variables):
    """The mean over a launch, in bytes."""
    launch = subprocess.Popen(["sh", "-c", "exec " + command], cwd=work, env={**os.environ, **variables},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = []
    while launch.poll() is None:
        try:
            seen.append(int(Path(f"/proc/{launch.pid}/statm").read_text().split()[1]) * BYTES)
        except (OSError, IndexError):
            pass
        time.sleep(EACH_S)
    return statistics.mean(byte for byte in seen if byte)


def main(pagewise, folder):
    work = folder / "work"
    study.inputs(work)
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    near = count = 0
    for command in COMMANDS:
        words = ["try", "--watch", "--pairs", str(LAUNCHES), "--json", "--discard-output", "--with", ",".join(SETTINGS), "--", command]
        tried, _ = study.asked(pagewise, words, work)
        if "arms" not in tried:
            print(f"{command}: {tried.get('error')}")
            continue
        arms = {arm["name"]: arm for arm in tried["arms"]}
        base = next(arm for arm in tried["arms"] if arm["role"] == "baseline")["measured"]["rss"]["mean"]
        seen = {setting: [] for setting in ["", *SETTINGS]}
        for _ in range(LAUNCHES):  # in turns
            for setting in seen:
                seen[setting].append(resident(command, work, SETTINGS.get(setting, {})))
        own = {setting: statistics.median(values) for setting, values in seen.items()}
        for setting in SETTINGS:
            if arms[setting]["status"] != "ok":
                print(f"{command}, {setting}: {arms[setting]['status']}")
                continue
            ratio, own_ratio = arms[setting]["measured"]["rss"]["mean"] / base, own[setting] / own[""]
            count += 1
            near += abs(ratio / own_ratio - 1) <= NEAR
            print(f"{command}, {setting}: {ratio:.3f}, own {own_ratio:.3f}; baseline {base / 2**20:.0f} and {own[''] / 2**20:.0f} MiB", flush=True)
    print(f"{near} of {count} within {100 * NEAR:.0f} %")


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve())
