#!/usr/bin/env python3
"""Identical commands, compared by hyperfine and by `pagewise try`, side by side: how often each calls them different.

    validity/identical.py PAGEWISE TIMES CMD [CMD …]

hyperfine's runs are judged as its users do: two means, Welch's t test at 5 %. Both get as many runs of each command. A row of
Markdown for each command and way is printed, with the load of the machine.
"""
import json, math, os, subprocess, sys, tempfile

RUNS = 12


def welch(a, b):
    """Whether two samples differ at 5 %, and the half-width of their ratio's interval, as a share."""
    n, m = len(a), len(b)
    ma, mb = sum(a) / n, sum(b) / m
    va, vb = (sum((x - k) ** 2 for x in v) / (len(v) - 1) / len(v) for v, k in ((a, ma), (b, mb)))
    error = math.sqrt(va + vb)
    freedom = (va + vb) ** 2 / (va ** 2 / (n - 1) + vb ** 2 / (m - 1))
    # Student's quantile by Hill's expansion around the normal's (Hill 1970), good to a thousandth here.
    z = 1.959964
    t = z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
    return abs(ma - mb) > t * error, t * error / ma


def once(pagewise, place, command, found):
    """One comparison by each; whether `try` called its own not to be believed."""
    out = os.path.join(place, "h.json")
    hyperfine = ["hyperfine", "-N", "--warmup", "1", "--runs", str(RUNS), "--export-json", out, command, command + " "]
    subprocess.run(hyperfine, check=True, capture_output=True)
    results = json.load(open(out))["results"]
    found["hyperfine, wall time"].append(welch(results[0]["times"], results[1]["times"]))
    ours = [pagewise, "try", "--pairs", str(RUNS), "--discard-output", "--json", "--", command, command + " "]
    summary = json.loads(subprocess.run(ours, check=True, capture_output=True, text=True).stdout)
    for measure, name in (("wall", "`try`, wall time"), ("cpu", "`try`, CPU time")):
        against = summary["arms"][1]["against"][measure]
        ratio = against["ratio"]
        alarm = summary["trusted"] and against["holds_among_all"] and against["verdict"]["word"] in ("faster", "slower")
        found[name].append((alarm, (ratio["high"] - ratio["low"]) / 2))
    return not summary["trusted"]


def main():
    pagewise, times, commands = os.path.realpath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    print("| command | way | called different | half-width of the ratio (median) | load |")
    print("|---|---|---|---|---|")
    for command in commands:
        found = {"hyperfine, wall time": [], "`try`, wall time": [], "`try`, CPU time": []}
        with tempfile.TemporaryDirectory() as place:
            os.environ["XDG_DATA_HOME"] = place
            untrusted, loads = 0, []
            for _ in range(times):
                untrusted += once(pagewise, place, command, found)
                loads.append(os.getloadavg()[0])
        for name, all_of in found.items():
            widths = sorted(width for _, width in all_of)
            alarms, half = sum(a for a, _ in all_of), 100 * widths[len(widths) // 2]
            load = f"{min(loads):.0f} to {max(loads):.0f}"
            print(f"| `{command}` | {name} | {alarms} of {len(all_of)} | ±{half:.1f} % | {load} |", flush=True)
        print(f"| `{command}` | A/A check of `try` refused | {untrusted} of {times} | | |", flush=True)


if __name__ == "__main__":
    main()
