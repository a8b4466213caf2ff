#!/usr/bin/env python3
"""Predicted against measured kernel time on real programs: the figures of docs/validity.md.

    validity/measure.py PAGEWISE FOLDER HALF [NAME …]   measures one half of validity/programs.tsv, appends to FOLDER/results.jsonl
    validity/measure.py --table FOLDER                  prints the table of what was measured

PAIRS=40 in the environment takes 40 pairs for each try instead of 12.
"""
import json, os, random, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAIRS = os.environ.get("PAIRS", "12")


def inputs(work):
    """Fills a folder with what the programs read, the same each time."""
    work.mkdir(parents=True, exist_ok=True)
    if (work / "done").exists():
        return
    numbers = list(range(1, 500_001))
    random.Random(1).shuffle(numbers)
    (work / "numbers.txt").write_text("".join(f"{n}\n" for n in numbers))
    (work / "arrays.py").write_text(
        "import numpy as n\nfor i in range(8):\n    a = n.ones(3_000_000)\n    b = a * 2 + i\n    c = b.sum()\nprint(c)\n")
    (work / "lists.py").write_text("print(sum(len(x) for x in [[i, i + 1] for i in range(500_000)]))\n")
    (work / "table.json").write_text(json.dumps([{"n": n, "text": f"row {n}"} for n in numbers[:150_000]]))
    (work / "table.py").write_text(
        "import json\nt = None\nfor i in range(3):\n    t = json.load(open('table.json'))\nprint(len(t))\n")
    (work / "lists.js").write_text(
        "let all = []; for (let i = 0; i < 600000; i++) all.push({n: i, s: 'x' + i}); console.log(all.length)\n")
    (work / "Lists.java").write_text(
        "import java.util.*;\npublic class Lists { public static void main(String[] a) { List<long[]> l = new ArrayList<>();\n"
        "for (int i = 0; i < 200; i++) l.add(new long[100_000]); System.out.println(l.size()); } }\n")
    rows = "".join(f"insert into t values({n}, 'row number {n}');\n" for n in numbers[:100_000])
    (work / "rows.sql").write_text("create table t(n, text);\nbegin;\n" + rows + "commit;\ncreate index i on t(text);\nselect count(*) from t;\n")
    (work / "many.c").write_text("".join(f"int f{i}(int a, int b) {{ return (a + {i}) * b ^ (a >> 3) % (b | 1); }}\n" for i in range(2500)))
    (work / "hash.pl").write_text("my %h; while (<>) { chomp; $h{$_} = $.; } print scalar(keys %h), \"\\n\";\n")
    (work / "hello.go").write_text("package main\n\nimport \"net/http\"\n\nfunc main() { http.ListenAndServe(\"\", nil) }\n")
    (work / "redis.sh").write_text(
        "redis-server --port 7391 --save '' --daemonize no >/dev/null & s=$!\n"
        "until redis-cli -p 7391 ping >/dev/null 2>&1; do sleep 0.05; done\n"
        "redis-benchmark -p 7391 -t set -n 40000 -r 40000 -d 200 -q >/dev/null; redis-cli -p 7391 shutdown nosave; wait $s\n")
    (work / "postgres.sh").write_text(
        "d=$(mktemp -d) || exit 1; chown nobody $d 2>/dev/null\n"
        "i=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb | tail -1)\n"
        "if [ $(id -u) = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups $i -D $d/db >/dev/null; else $i -D $d/db >/dev/null; fi\n"
        "r=$?; rm -rf $d; exit $r\n")
    repository = work / "repository"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(git + ["init", "-q"], check=True)
    for i in range(60):
        (repository / "file").write_text("".join(f"{n}\n" for n in numbers[i * 100:i * 100 + 20_000]))
        subprocess.run(git + ["add", "file"], check=True)
        subprocess.run(git + ["commit", "-qm", f"change {i}"], check=True)
    (work / "done").write_text("")


def programs():
    for line in (HERE / "programs.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def asked(pagewise, words, work):
    said = subprocess.run([pagewise, *words], cwd=work, capture_output=True, text=True)
    try:
        return json.loads(said.stdout)
    except json.JSONDecodeError:
        return {"error": (said.stdout + said.stderr).strip()[-300:]}


def measure(pagewise, folder, half, names):
    work = folder / "work"
    inputs(work)
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    profiles = {}
    for number, name, setting, command in programs():
        if number != half or (names and name not in names):
            continue
        if command not in profiles:
            profiles[command] = asked(pagewise, ["profile", "--blocks", "8", "--json", "--discard-output", "--", command], work)
        profile = profiles[command]
        trial = asked(pagewise, ["try", "--pairs", PAIRS, "--json", "--discard-output", "--sample-kernel", "--with", setting, "--", command], work)
        result = {"half": half, "name": name, "setting": setting, "outcome": profile.get("outcome", "error"),
                  "reason": profile.get("reason", profile.get("error", "")), "cpu_s": profile.get("cpu_s"),
                  "faults": profile.get("faults"), "consistency": profile.get("consistency"), "kernel_s": profile.get("kernel_s"),
                  "by_kind": profile.get("by_kind")}
        found = [c for c in profile.get("candidates", []) if c["setting"] == setting]
        result["predicted"] = found[0]["kernel_s"] if found else None
        arm = trial["arms"][1] if "arms" in trial else {"status": "error", "reason": trial.get("error", "")}
        result["status"], result["status_reason"] = arm["status"], arm["reason"]
        against = arm.get("against") or {}
        for measure_name in ("kernel", "cpu"):
            result[f"measured_{measure_name}"] = (against.get(measure_name) or {}).get("change")
        result["agrees"], result["load"] = trial.get("trusted"), os.getloadavg()[0]
        with open(folder / "results.jsonl", "a") as file:
            file.write(json.dumps(result) + "\n")
        print(row(result), flush=True)


def ms(amount, sign=1):
    if not amount:
        return "–"
    low, high = sorted((sign * amount["low"], sign * amount["high"]))
    return f"{1e3 * sign * amount['value']:.0f} ({1e3 * low:.0f} to {1e3 * high:.0f})".replace("-", "−")


def verdict(r):
    """Frozen with the rules: 'narrow' where the measured interval's half-width is below 20 % of what was measured."""
    if r["outcome"] != "ok":
        return "no profile: " + r["reason"]
    if r["status"] not in ("ok", "no-effect") or (r["status"] == "ok" and not r["measured_kernel"]):
        return r["status"] + ": " + r["status_reason"]
    if r["status"] == "no-effect":
        return "agrees: no effect" if not r["predicted"] else "miss: no effect was seen"
    predicted = r["predicted"] or {"value": 0.0, "low": 0.0, "high": 0.0}
    measured = {"value": -r["measured_kernel"]["value"], "low": -r["measured_kernel"]["high"], "high": -r["measured_kernel"]["low"]}
    width = (measured["high"] - measured["low"]) / 2
    if width < 0.2 * abs(measured["value"]):
        off = abs(predicted["value"] - measured["value"]) / abs(measured["value"])
        return f"{'within' if off <= 0.2 else 'miss:'} {100 * off:.0f} %"
    inside = measured["low"] <= predicted["high"] and predicted["low"] <= measured["high"]
    return "wide, agrees" if inside else "wide, disagrees"


def row(r):
    explained = r["consistency"]
    share = f"{100 * explained['explained']['value']:.0f} %" + ("" if explained["holds"] else " (no)") if explained else "–"
    return "| " + " | ".join([r["half"], r["name"], r["setting"], ms(r["cpu_s"]), ms(r["kernel_s"]), ms(r["faults"] and r["faults"]["seconds"]), share,
                             ms(r["predicted"]), ms(r["measured_kernel"], -1), ms(r["measured_cpu"], -1), verdict(r)]) + " |"


def table(folder):
    print("| half | program | setting | CPU, ms | kernel, ms | faults, ms | explained | predicted kernel saved, ms | measured, ms | measured total CPU, ms | |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for line in (folder / "results.jsonl").read_text().splitlines():
        print(row(json.loads(line)))


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        table(Path(sys.argv[2]))
    else:
        measure(str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4:])
