#!/usr/bin/env python3
"""Identical commands, compared by hyperfine and by `pagewise try`, side by side: how often each calls them different.

    validity/identical.py PAGEWISE TIMES CMD

hyperfine's runs are judged as its users do: two means, Welch's t test at 5 %. Both get as many runs of each command.
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


def main():
    pagewise, times, command = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    found = {"hyperfine wall": [], "try wall": [], "try cpu": []}
    untrusted = 0
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_DATA_HOME"] = place
        for _ in range(times):
            out = os.path.join(place, "h.json")
            subprocess.run(["hyperfine", "-N", "--warmup", "1", "--runs", str(RUNS), "--export-json", out, command, command + " "],
                           check=True, capture_output=True)
            results = json.load(open(out))["results"]
            found["hyperfine wall"].append(welch(results[0]["times"], results[1]["times"]))
            said = subprocess.run([pagewise, "try", "--pairs", str(RUNS), "--discard-output", "--json", "--", command, command + " "],
                                  check=True, capture_output=True, text=True)
            summary = json.loads(said.stdout)
            untrusted += not summary["trusted"]
            for measure in ("wall", "cpu"):
                against = summary["arms"][1]["against"][measure]
                ratio = against["ratio"]
                alarm = summary["trusted"] and against["holds_among_all"] and against["verdict"]["word"] in ("faster", "slower")
                found[f"try {measure}"].append((alarm, (ratio["high"] - ratio["low"]) / 2))
    for name, all_of in found.items():
        widths = sorted(width for _, width in all_of)
        print(f"{name}: called different in {sum(a for a, _ in all_of)} of {len(all_of)}, half-width {100 * widths[len(widths) // 2]:.1f} % (median)")
    print(f"try: {untrusted} of {times} called not to be believed by its A/A check")


main()
