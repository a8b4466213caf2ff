#!/usr/bin/env python3
"""Time to an answer on a known effect: ten pairs of commands that differ by 5 %, and ten that do not, by hyperfine and by `try`.

    validity/pairs.py PAGEWISE FOLDER [KIND …]     measures, in turn; what FOLDER/pairs.jsonl has is not measured again
    validity/pairs.py --table FOLDER
    validity/pairs.py --long FOLDER [KIND …]       hyperfine with four times as many runs, into FOLDER/long.jsonl
    validity/pairs.py --equal FOLDER               its errors and its time by so many runs, cut from those

Both tools run with their defaults. hyperfine's runs are judged by Welch's test at 5 %, `try` by its own verdict on CPU time.
A cut at n runs takes the last n of the first command and the first n of the second: they ran as hyperfine runs n of each.
"""
import json, math, os, subprocess, sys, time
from pathlib import Path

from identical import welch

HERE = Path(__file__).resolve().parent
KINDS = ["spin", "small-blocks", "touch", "copies", "table", "sort", "reads", "lines", "maps", "list"]
TIMES, MORE = 1000, 1050
LONG, CUTS = 4, (1, 1.5, 2, 3, 4)   # multiples of hyperfine's usual runs: three seconds of a command, and ten runs at least


def by_hyperfine(folder, a, b):
    out = folder / "hyperfine.json"
    subprocess.run(["hyperfine", "-N", "--export-json", str(out), a, b + " "], check=True, capture_output=True)
    first, second = (result["times"] for result in json.loads(out.read_text())["results"])
    differs, _ = welch(first, second)
    return ("slower" if sum(second) / len(second) > sum(first) / len(first) else "faster") if differs else "same", len(first)


def by_try(pagewise, a, b):
    tried = subprocess.run([pagewise, "try", "--json", "--", a, b + " "], check=True, capture_output=True, text=True)
    summary = json.loads(tried.stdout)
    cpu = summary["arms"][1]["against"]["cpu"]
    word = cpu["verdict"]["word"]
    said = word if summary["trusted"] and cpu["holds_among_all"] and word in ("faster", "slower") else "same"
    return said, summary["blocks"]


def measure(pagewise, folder, wanted):
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    subprocess.run(["gcc", "-O2", "-o", str(folder / "work"), str(HERE / "pairs/work.c")], check=True)
    path = folder / "pairs.jsonl"
    done = {(r["kind"], r["more"]) for r in map(json.loads, path.read_text().splitlines())} if path.exists() else set()
    for kind in wanted or KINDS:
        for more in (TIMES, MORE):
            if (kind, more) in done:
                continue
            a, b = (f"{folder}/work {kind} {times}" for times in (TIMES, more))
            tools = [("hyperfine", lambda: by_hyperfine(folder, a, b)), ("try", lambda: by_try(pagewise, a, b))]
            row = {"kind": kind, "more": more, "load": os.getloadavg()[0]}
            for name, tool in tools if KINDS.index(kind) % 2 else reversed(tools):
                begun = time.time()
                said, runs = tool()
                row[name] = {"said": said, "runs": runs, "seconds": time.time() - begun}
            with open(path, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def long(folder, wanted):
    path = folder / "long.jsonl"
    done = {(r["kind"], r["more"]) for r in map(json.loads, path.read_text().splitlines())} if path.exists() else set()
    for kind, more in [(kind, more) for kind in wanted or KINDS for more in (TIMES, MORE) if (kind, more) not in done]:
        a, b = (f"{folder}/work {kind} {times}" for times in (TIMES, more))
        begun = time.time()
        subprocess.run(a.split(), check=True, capture_output=True)
        usual = max(10, math.ceil(3 / (time.time() - begun)))
        out, begun = folder / "long.json", time.time()
        subprocess.run(["hyperfine", "-N", "--runs", str(LONG * usual), "--export-json", str(out), a, b + " "], check=True, capture_output=True)
        seconds = time.time() - begun
        times = [result["times"] for result in json.loads(out.read_text())["results"]]
        with open(path, "a") as file:
            file.write(json.dumps({"kind": kind, "more": more, "usual": usual, "seconds": seconds, "times": times, "load": os.getloadavg()[0]}) + "\n")
        print(f"{kind} {more}: {usual} runs usually, {seconds:.0f} s", flush=True)


def equal(folder):
    every = [json.loads(line) for line in (folder / "long.jsonl").read_text().splitlines()]
    print("| runs of hyperfine | alike, called different | 5 %, not seen | time to the answer, 5 % (median) |\n|---|---|---|---|")
    for cut in CUTS:
        alarms, missed, seconds = [], [], []
        for row in every:
            n = round(cut * row["usual"])
            first, second = row["times"][0][-n:], row["times"][1][:n]
            differs = welch(first, second)[0]
            if row["more"] == TIMES:
                alarms += [row["kind"]] * differs
            else:
                missed += [row["kind"]] * (not differs or sum(second) < sum(first))
                # Times of runs, and their share of what hyperfine takes besides.
                seconds.append((sum(first) + sum(second)) * row["seconds"] / sum(map(sum, row["times"])))
        half = len(every) // 2
        print(f"| {cut:g} × usual | {len(alarms)} of {half} {' '.join(alarms)} | {len(missed)} of {half} {' '.join(missed)} | {sorted(seconds)[len(seconds) // 2]:.1f} s |")


def table(folder):
    every = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    print("| work | 5 % more: hyperfine | 5 % more: `try` | identical: hyperfine | identical: `try` |\n|---|---|---|---|---|")
    cell = lambda row, tool: f"{row[tool]['said']}, {row[tool]['seconds']:.1f} s, {row[tool]['runs']} runs" if row else "–"
    for kind in KINDS:
        of = {row["more"]: row for row in every if row["kind"] == kind}
        print(f"| {kind} | " + " | ".join(cell(of.get(more), tool) for more in (MORE, TIMES) for tool in ("hyperfine", "try")) + " |")
    for tool in ("hyperfine", "try"):
        right = [row[tool]["seconds"] for row in every if row["more"] == MORE and row[tool]["said"] == "slower"]
        alarms = sum(row["more"] == TIMES and row[tool]["said"] != "same" for row in every)
        all_s = sorted(row[tool]["seconds"] for row in every if row["more"] == MORE)
        print(f"{tool}: {len(right)} of {len(all_s)} right, median {all_s[len(all_s) // 2]:.1f} s; {alarms} false alarms in {len(every) - len(all_s)}")


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        table(Path(sys.argv[2]))
    elif sys.argv[1] == "--equal":
        equal(Path(sys.argv[2]))
    elif sys.argv[1] == "--long":
        long(Path(sys.argv[2]).resolve(), sys.argv[3:])
    else:
        measure(os.path.realpath(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:])
