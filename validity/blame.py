#!/usr/bin/env python3
"""Functions that `profile` blames for page faults, compared with those of perf: a table of docs/validity.md.

    validity/blame.py PAGEWISE FOLDER NAME …       programs of validity/programs.tsv in the folder that validity/study.py filled

A fault belongs to the innermost function of its stack that has a symbol of its own, since perf does not expand inlined calls here. The
overlap is the sum over functions of the smaller of both shares: perf's of faults, `profile`'s of their cost.
"""
import collections, json, os, re, subprocess, sys
from pathlib import Path

from study import programs

USER = 1 << 47
PERIOD = "23"


def plain(name, module):
    """A function's name without hash, arguments and version; its module where it has none."""
    if name in ("", "[unknown]"):
        return f"[{os.path.basename(module)}]"
    name = re.sub(r"::h[0-9a-f]{16}$", "", re.sub(r"\+0x[0-9a-f]+$", "", name)).split("@")[0]
    return re.sub(r"(?<=[\w>])\(.*", "", name)


def by_perf(command, work):
    """Share of faults by innermost function, and every name that perf saw."""
    data = "/tmp/pagewise-blame.data"
    record = ["perf", "record", "-q", "-e", "page-faults", "-c", PERIOD, "--call-graph", "dwarf,8192", "-o", data, "--", "sh", "-c", command]
    subprocess.run(record, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", data], capture_output=True, text=True).stdout
    os.unlink(data)
    shares, names = collections.Counter(), set()
    for sample in script.split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]+) (.*?) \((.*?)\)\s*$", sample, re.M)
        user = [plain(name, module) for ip, name, module in frames if int(ip, 16) < USER]
        names.update(user)
        shares.update(user[:1])
    return normal(shares), names


def by_profile(pagewise, command, work, names):
    said = subprocess.run([pagewise, "profile", "--blocks", "6", "--json", "--discard-output", "--", command], cwd=work, capture_output=True, text=True)
    stacks = json.loads(said.stdout)["stacks"]
    shares = collections.Counter()
    for stack in stacks["stacks"]:
        frames = [plain(stacks["frames"][at]["function"], stacks["frames"][at]["module"]) for at in reversed(stack["frames"])]
        shares[next((name for name in frames if name in names), frames[0] if frames else "[no stack]")] += stack["weight"]
    return normal(shares)


def normal(shares):
    whole = sum(shares.values()) or 1
    return {name: share / whole for name, share in shares.items()}


if __name__ == "__main__":
    pagewise, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    commands = {name: command for _, name, _, _, command in programs()}
    print("| program | perf: most of the faults | `profile`: most of their cost | overlap |\n|---|---|---|---|")
    for name in sys.argv[3:]:
        perf, names = by_perf(commands[name], folder / "work")
        own = by_profile(pagewise, commands[name], folder / "work", names)
        most = lambda shares: ", ".join(f"`{n}` {100 * s:.0f} %" for n, s in sorted(shares.items(), key=lambda x: -x[1])[:2])
        overlap = sum(min(share, own.get(name, 0)) for name, share in perf.items())
        print(f"| {name} | {most(perf)} | {most(own)} | {100 * overlap:.0f} % |", flush=True)
