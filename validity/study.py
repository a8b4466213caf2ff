#!/usr/bin/env python3
"""Predictions of `profile` compared with what `try` measures on real programs: the figures of docs/validity.md.

    validity/study.py PAGEWISE FOLDER [NAME …]     measures validity/programs.tsv; what FOLDER/results.jsonl has is not measured again
    validity/study.py --table FOLDER               prints tables and verdict of what was measured
    LIST=held-out.tsv validity/study.py PAGEWISE FOLDER; validity/study.py --held-out FOLDER
                                                   the same with programs that taught nothing; judged by the intervals that `profile` printed
    validity/study.py --repeat PAGEWISE FOLDER [NAME …]
                                                   measures both lists and judges their frozen half; the exit code is 0 where all of it holds
    validity/study.py --freeze                     prints what validity/frozen holds: the seal of the frozen half

The model's error is learnt on the first half by split conformal prediction: how far the measured change of CPU time was off, as a share of what
was predicted, at the rank that covers nine tenths. The second half tests it. PAIRS=30 takes 30 pairs for each try instead of 10.
"""
import hashlib, json, math, os, random, shutil, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAIRS = os.environ.get("PAIRS", "10")
LISTS = ["programs.tsv", "held-out.tsv"]
LEAST_PROGRAMS = 30
LEAST_LAUNCHES = 6  # blocks from which on a profile's interval assumes no distribution
SLOW_S = 10         # seconds in which a program of a second is profiled
FOLLOWED = (0.1, 0.2)   # overhead of following faults with stacks: the median, and the worst
COVERED = 0.9       # share of measured changes that an interval is to hold
EXPLAINED = (0.9, 1.1)  # the named parts of the kernel's time relative to all of it, in
MOSTLY = 0.8            # this share of programs
TICKS_S = 0.05      # kernel time below which the kernel's own clock does not divide it to a tenth
LARGE = 0.05        # effects from this share of CPU time on are to be foretold or called worth a try
COSTS = 0.01        # a proposed setting that costs more than this is a miss
OWN_MEMORY = {"heap", "anonymous", "again", "elsewhere", "zero-read", "zero-write"}  # kinds of page faults that settings take away
SLACK = 0.02        # share of CPU time within which any setting that brings no huge pages is foretold, and up to which none is proposed
NOT_PREDICTED = 0.1 # share of CPU time up to which huge pages are proposed against their prediction: the rule of crates/record/src/command/profile.rs

SOURCES = {
    "arrays.py": "import numpy as n\nfor i in range(8):\n    a = n.ones(3_000_000)\n    b = a * 2 + i\n    c = b.sum()\nprint(c)\n",
    "frame.py": "import numpy as n, pandas as p\nf = p.DataFrame({'k': n.arange(600_000) % 1000, 'v': n.arange(600_000.0)})\n"
                "for i in range(4):\n    f = f.sort_values('v', ascending=i % 2 == 0)\nprint(f.groupby('k').v.mean().sum())\n",
    "lists.py": "print(sum(len(x) for x in [[i, i + 1] for i in range(500_000)]))\n",
    "table.py": "import json\nt = None\nfor i in range(3):\n    t = json.load(open('table.json'))\nprint(len(t))\n",
    "lists.js": "let all = []; for (let i = 0; i < 600000; i++) all.push({n: i, s: 'x' + i}); console.log(all.length)\n",
    "Lists.java": "import java.util.*;\npublic class Lists { public static void main(String[] a) { long n = 0; for (int k = 0; k < 6; k++) {\n"
                  "List<long[]> l = new ArrayList<>(); for (int i = 0; i < 150; i++) l.add(new long[100_000]); n += l.size(); }\n"
                  "System.out.println(n); } }\n",
    "hash.pl": "my %h; while (<>) { chomp; $h{$_} = $.; } print scalar(keys %h), \"\\n\";\n",
    "hash.rb": "h = {}\n400_000.times { |i| h[\"key #{i}\"] = [i, i + 1] }\nputs h.size\n",
    "hash.tcl": "for {set i 0} {$i < 250000} {incr i} { set a(key$i) [list $i x$i] }\nputs [array size a]\n",
    "tables.lua": "local t = {}\nfor i = 1, 700000 do t[i] = {i, 'x' .. i} end\nprint(#t)\n",
    "arrays.php": "<?php $a = []; for ($i = 0; $i < 900000; $i++) $a[] = [$i, \"x$i\"]; echo count($a), \"\\n\";\n",
    "vectors.R": "s <- 0\nfor (i in 1:12) { x <- runif(2e6); s <- s + sum(sort(x)[1:10]) }\ncat(s > 0, '\\n')\n",
    "matrix.m": "s = 0; for i = 1:12, a = ones(1200) * i; b = a + a'; s = s + sum(b(:)); end, disp(s)\n",
    "vec.rs": "fn main() { let mut n = 0; for _ in 0..4 { let mut v = Vec::new(); for i in 0..8_000_000u64 { v.push(i); }\n"
              "n += v.len(); } println!(\"{n}\"); }\n",
    "hash.rs": "use std::collections::HashMap;\nfn main() { let mut h = HashMap::new(); for i in 0..1_500_000u64 { h.insert(i, [i; 3]); }\n"
               "println!(\"{}\", h.len()); }\n",
    "blocks.c": "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) { long n = 0; for (int i = 0; i < 60; i++) {\n"
                "char *p = malloc(40 << 20); memset(p, i, 8 << 20); n += p[i]; free(p); } printf(\"%ld\\n\", n); }\n",
    "unordered.cpp": "#include <cstdio>\n#include <string>\n#include <unordered_map>\nint main() { std::unordered_map<long, std::string> m;\n"
                     "for (long i = 0; i < 700000; i++) m[i * 7919] = \"a value of some length \" + std::to_string(i); printf(\"%zu\\n\", m.size()); }\n",
    "vector.cpp": "#include <cstdio>\n#include <vector>\nint main() { size_t n = 0; for (int k = 0; k < 6; k++) { std::vector<double> v;\n"
                  "for (int i = 0; i < 6000000; i++) v.push_back(i); n += v.size(); } printf(\"%zu\\n\", n); }\n",
    "templates.cpp": "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n"
                     "int f(const std::string &s) { return std::regex_match(s, std::regex(\"a+b\")); }\n",
    "fft.py": "import numpy as n\na = n.arange(2_500_000.0)\nfor i in range(4):\n    a = n.abs(n.fft.rfft(a, 2_500_000))[:2_500_000] * 1e-3 + i\nprint(a.sum() > 0)\n",
    "nsort.py": "import numpy as n\nr = n.random.default_rng(1)\nfor i in range(4):\n    a = n.sort(r.random(5_000_000).astype('f4').view('i4'))\nprint(len(a))\n",
    "squeeze.py": "import zlib\nd = bytes(range(256)) * 200_000\nfor i in range(4):\n    z = zlib.compress(d, 1)\n    e = zlib.decompress(z)\nprint(len(z), e == d)\n",
    "joined.py": "p = [b'x' * 1000] * 45_000\nn = 0\nfor i in range(8):\n    n += len(b''.join(p))\nprint(n)\n",
    "frames.rs": "fn main() { let mut n = 0u64; for k in 0..10u8 { let v: Vec<u8> = (0..45_000_000u32).map(|i| i as u8 ^ k).collect();\n"
                 "n += u64::from(v[k as usize * 1000]); } println!(\"{n}\"); }\n",
    "lines.rs": "fn main() { let text = std::fs::read_to_string(\"numbers.txt\").unwrap(); let mut n = 0; for _ in 0..5 {\n"
                "let l: Vec<String> = text.lines().map(str::to_owned).collect(); let s = l.concat().repeat(20); n += s.len(); } println!(\"{n}\"); }\n",
    "copies.cpp": "#include <algorithm>\n#include <cstdio>\n#include <vector>\nint main() { std::vector<int> a(12000000); for (size_t i = 0; i < a.size(); i++) a[i] = i * 7919;\n"
                  "long n = 0; for (int k = 0; k < 8; k++) { std::vector<int> b(a); std::reverse(b.begin(), b.end()); n += b[k]; } printf(\"%ld\\n\", n); }\n",
    "sums.cpp": "#include <cstdio>\n#include <valarray>\nint main() { std::valarray<double> a(1.5, 5000000), b(2.5, 5000000); double n = 0; for (int k = 0; k < 6; k++) {\n"
                "std::valarray<double> c = a * b; std::valarray<double> d = c + a; n += d[k]; } printf(\"%g\\n\", n); }\n",
    "buffers.js": "let n = 0; for (let i = 0; i < 8; i++) { const b = Buffer.alloc(48e6); b.fill(i); n += b[i]; } console.log(n)\n",
    "texts.rb": "n = 0\n10.times { |i| n += ('x' * 40_000_000 + i.to_s).size; GC.start }\nputs n\n",
    "texts.lua": "local n = 0\nfor i = 1, 8 do local s = string.rep('x', 40000000); n = n + #s; s = nil; collectgarbage() end\nprint(n)\n",
    "texts.pl": "my $n = 0; for my $i (1 .. 8) { my $s = join(',', 1 .. 400000) x 15; $n += length $s; undef $s } print \"$n\\n\";\n",
    "copies.c": "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) { char *p = NULL; size_t n = 0; for (int k = 0; k < 8; k++) { n = 0; p = NULL;\n"
                "for (int i = 0; i < 48; i++) { p = realloc(p, n + (1 << 20)); memset(p + n, i, 1 << 20); n += 1 << 20; } free(p); } printf(\"%zu\\n\", n); }\n",
    "list.cmake": "set(all \"\")\nforeach(i RANGE 3000)\n  list(APPEND all \"item ${i}\")\nendforeach()\nlist(LENGTH all n)\nmessage(\"${n}\")\n",
    "maps.go": "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tm := map[int][]int{}\n\tfor i := 0; i < 900000; i++ {\n\t\tm[i] = []int{i, i + 1}\n\t}\n"
               "\tfmt.Println(len(m))\n}\n",
}
BUILT = [
    ["rustc", "-O", "-o", "vec", "vec.rs"], ["rustc", "-O", "-o", "hash", "hash.rs"], ["gcc", "-O2", "-o", "blocks", "blocks.c"],
    ["g++", "-O2", "-o", "unordered", "unordered.cpp"], ["g++", "-O2", "-o", "vector", "vector.cpp"], ["go", "build", "-o", "maps", "maps.go"],
    ["rustc", "-O", "-o", "frames", "frames.rs"], ["rustc", "-O", "-o", "lines", "lines.rs"], ["gcc", "-O2", "-o", "copies", "copies.c"],
    ["g++", "-O2", "-o", "vcopies", "copies.cpp"], ["g++", "-O2", "-o", "sums", "sums.cpp"],
    ["javac", "Lists.java"], ["gcc", "-c", "many.c"], ["g++", "-c", "unordered.cpp"],
    ["rustc", "-O", "-o", "tree", "tree.rs"], ["rustc", "-O", "-o", "rows", "rows.rs"], ["gcc", "-O2", "-o", "lists", "lists.c"],
    ["gcc", "-O2", "-o", "matrix", "matrix.c"], ["gcc", "-O2", "-o", "filter", "filter.c"], ["g++", "-O2", "-o", "counts", "counts.cpp"], ["go", "build", "-o", "growth", "growth.go"],
    ["javac", "Texts.java"], ["gcc", "-O2", "-o", "turned", "turned.c"], ["gcc", "-O2", "-o", "overwritten", "overwritten.c"],
    ["g++", "-O2", "-o", "stable", "stable.cpp"], ["g++", "-O2", "-o", "pages", "pages.cpp"],
]


def inputs(work):
    """Fills a folder with what the programs read, the same each time, and builds what is to be built."""
    work.mkdir(parents=True, exist_ok=True)
    if (work / "done").exists():
        return
    numbers = list(range(1, 400_001))
    random.Random(1).shuffle(numbers)
    for name, text in SOURCES.items():
        (work / name).write_text(text)
    (work / "numbers.txt").write_text("".join(f"{n}\n" for n in numbers))
    (work / "large.bin").write_bytes(random.Random(2).randbytes(60_000_000))
    (work / "table.json").write_text(json.dumps([{"n": n, "text": f"row {n}"} for n in numbers[:150_000]]))
    rows = "".join(f"insert into t values({n}, 'row number {n}');\n" for n in numbers[:100_000])
    (work / "rows.sql").write_text("create table t(n, text);\nbegin;\n" + rows + "commit;\ncreate index i on t(text);\nselect count(*) from t;\n")
    (work / "many.c").write_text("".join(f"int f{i}(int a, int b) {{ return (a + {i}) * b ^ (a >> 3) % (b | 1); }}\n" for i in range(600)))
    shutil.copytree(HERE / "held-out", work, dirs_exist_ok=True)
    chance = random.Random(3)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(60_000)]
    (work / "words.txt").write_text("".join(" ".join(chance.choices(words, k=10)) + "\n" for _ in range(60_000)))
    (work / "page.md").write_text("".join(f"# Part {i}\n\n{' '.join(chance.choices(words, k=60))}\n\n- *{words[i]}*\n- **{words[-i]}**\n\n"
                                          for i in range(900)))
    for command in BUILT:
        if shutil.which(command[0]):
            subprocess.run(command, cwd=work, check=True, env={**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    repository = work / "repository"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(git + ["init", "-q"], check=True)
    for i in range(40):
        (repository / "file").write_text("".join(f"{n}\n" for n in numbers[i * 100:i * 100 + 20_000]))
        subprocess.run(git + ["add", "file"], check=True)
        subprocess.run(git + ["commit", "-qm", f"change {i}"], check=True)
    (work / "done").write_text("")


def programs(listed=None):
    for line in (HERE / (listed or os.environ.get("LIST", "programs.tsv"))).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def seal():
    """The programs that teach nothing, half 2 and all of held-out.tsv, with their sources: none may change after a model has seen them."""
    lines = [row for listed in LISTS for row in programs(listed) if row[0] != "1"]
    named = [name for name in sorted(SOURCES) if any(name.split(".")[0] in row[4] for row in lines)]
    parts = ["\t".join(row) for row in lines] + [name + SOURCES[name] for name in named]
    parts += [path.name + path.read_text() for path in sorted((HERE / "held-out").iterdir())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_here(needs):
    if needs in ("numpy", "pandas"):
        return subprocess.run(["/usr/bin/python3", "-c", f"import {needs}"], capture_output=True).returncode == 0
    return shutil.which(needs) is not None


def asked(pagewise, words, work):
    """The summary that a verb prints, and the seconds that it took."""
    begun = time.time()
    said = subprocess.run([pagewise, *words], cwd=work, capture_output=True, text=True)
    try:
        return json.loads(said.stdout), time.time() - begun
    except json.JSONDecodeError:
        return {"error": (said.stdout + said.stderr).strip()[-300:]}, time.time() - begun


def measure(pagewise, folder, wanted):
    work, results = folder / "work", folder / "results.jsonl"
    inputs(work)
    os.environ["XDG_DATA_HOME"] = str(folder / "kept")
    done = {json.loads(line)["name"] for line in results.read_text().splitlines()} if results.exists() else set()
    for half, name, settings, needs, command in programs():
        if name in done or (wanted and name not in wanted):
            continue
        if not is_here(needs):
            print(f"{name}: not here", flush=True)
            continue
        profile, took_s = asked(pagewise, ["profile", "--json", "--discard-output", "--", command], work)
        words = ["try", "--pairs", PAIRS, "--json", "--discard-output", "--with", settings, "--", command]
        trial, tried_s = asked(pagewise, words, work)
        kept = {key: profile.get(key) for key in ("outcome", "failure", "error", "blocks", "cpu_s", "kernel_s", "faults", "consistency",
                                                  "overhead", "prices", "mappings", "candidates", "kernel", "notes")}
        arms = {arm["name"]: {"status": arm["status"], "failure": arm.get("failure"), **{m: arm["against"].get(m) for m in ("cpu", "kernel", "faults")}}
                for arm in trial.get("arms", []) if arm["role"] == "setting"}
        with open(results, "a") as file:
            file.write(json.dumps({"half": half, "name": name, "took_s": took_s, "tried_s": tried_s, "load": os.getloadavg()[0],
                                   "profile": kept, "arms": arms, "trusted": trial.get("trusted"), "error": trial.get("error")}) + "\n")
        print(f"{name}: {took_s:.0f} s + {tried_s:.0f} s", flush=True)


def removed_fault_s(profile):
    """Seconds of a page fault that a setting takes away, and of its page given back: of the kinds that the program has, as `profile` has it."""
    prices = [p for p in profile.get("prices") or [] if p["kind"] in OWN_MEMORY and p["count"] > 0]
    given_back_s = sum(p["each_s"]["value"] for p in profile.get("prices") or [] if p["kind"] == "free-base")
    count = sum(p["count"] for p in prices)
    return sum(p["count"] * p["each_s"]["value"] for p in prices) / count + given_back_s if count else 0


def rows(folder):
    """A row a program and setting: predicted and measured saving of CPU time, in seconds."""
    for line in (folder / "results.jsonl").read_text().splitlines():
        r = json.loads(line)
        profile = r["profile"]
        found = {c["setting"]: c for c in profile["candidates"] or []}
        removed_s = removed_fault_s(profile)
        for setting, arm in r["arms"].items():
            change = (arm["cpu"] or {}).get("change")
            c = found.get(setting)
            least = c and (-NOT_PREDICTED if c["huge_pages"] > 0 else SLACK) * profile["cpu_s"]["value"]
            yield {
                "half": r["half"], "name": r["name"], "setting": setting, "status": arm["status"], "cpu": profile["cpu_s"] and profile["cpu_s"]["value"],
                "share": profile["faults"] and profile["faults"]["share"]["value"], "agreement": (profile["consistency"] or {}).get("agreement"),
                "predicted": c and c["kernel_s"]["value"], "proposed": bool(c and c["kernel_s"]["value"] > least),
                "removed": c and c["faults_saved"] * removed_s,
                "candidate": c and (c["kernel_s"]["low"], c["kernel_s"]["high"]),
                # A saving is printed where the interval excludes none.
                "figure": c and c["kernel_s"]["low"] > 0 and (c["kernel_s"]["low"], c["kernel_s"]["high"]),
                "saved": -change["value"] if change and arm["status"] == "ok" else 0.0 if arm["status"] == "no-effect" else None,
                "bounds": (-change["high"], -change["low"]) if change and arm["status"] == "ok" else (0.0, 0.0),
                "outcome": profile["outcome"], "trusted": r["trusted"],
            }


def held_out(folder):
    """Verdict on programs that taught nothing: the interval of each figure that `profile` printed, and what it proposed."""
    every = [row for row in rows(folder) if is_usable(row)]
    figures = [row for row in every if row["figure"]]
    held = [row for row in figures if row["figure"][0] <= row["saved"] <= row["figure"][1]]
    wide = [row for row in every if row["candidate"] and not row["figure"]]
    within = [row for row in wide if row["candidate"][0] <= row["saved"] <= row["candidate"][1]]
    name = lambda row: f"{row['name']} {row['setting']} ({1e3 * row['saved']:.0f} ms)"
    print(f"figures: {len(held)} of {len(figures)} intervals hold the measured mean; outside: {', '.join(name(r) for r in figures if r not in held) or 'none'}")
    print(f"without a figure: {len(within)} of {len(wide)} intervals hold it")
    large = [row for row in every if row["bounds"][0] > 0 and row["saved"] >= LARGE * row["cpu"]]
    missed = [row for row in large if not row["proposed"]]
    costly = [row for row in every if row["proposed"] and row["bounds"][1] < -COSTS * row["cpu"]]
    print(f"effects from {100 * LARGE:.0f} % of CPU on: {len(large) - len(missed)} of {len(large)} proposed; missed: {', '.join(map(name, missed)) or 'none'}")
    print(f"proposed and shown to cost more than {100 * COSTS:.0f} %: {', '.join(map(name, costly)) or 'none'} (of {sum(row['proposed'] for row in every)} proposed)")


def repeat(pagewise, folder, wanted):
    """Measures everything that is here, and judges the frozen half by the words and intervals that `profile` printed."""
    if seal() != (HERE / "frozen").read_text().strip():
        sys.exit("the frozen half is not what it was: validity/study.py --freeze says what it is now")
    for listed in LISTS:
        os.environ["LIST"] = listed
        measure(pagewise, folder, wanted)
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    frozen = [r for r in results if r["half"] != "1"]
    every = [row for row in rows(folder) if row["half"] != "1" and is_usable(row)]
    figures = [row for row in every if row["figure"]]
    held = [row for row in figures if row["figure"][0] <= row["saved"] <= row["figure"][1]]
    large = [row for row in every if row["bounds"][0] > 0 and row["saved"] >= LARGE * row["cpu"]]
    costly = [row for row in every if row["proposed"] and row["bounds"][1] < -COSTS * row["cpu"]]
    answered = [r for r in frozen if r["profile"]["faults"]]
    overheads = sorted(r["profile"]["overhead"]["value"] - 1 for r in frozen if r["profile"].get("overhead"))
    short = [r["took_s"] for r in frozen if r["profile"]["cpu_s"] and r["profile"]["cpu_s"]["value"] <= 1]
    few = [r["name"] for r in frozen if (r["profile"].get("blocks") or 0) in range(1, LEAST_LAUNCHES)]
    share = lambda some, all_of: len(some) / len(all_of) if all_of else 1
    parts = [kernel_explained(r["profile"]) for r in frozen]
    parts = [part for part in parts if part is not None]
    explained = [part for part in parts if EXPLAINED[0] <= part <= EXPLAINED[1]]
    checks = [
        (f"programs of which half are frozen: {len(results)} and {len(frozen)}", len(results) >= LEAST_PROGRAMS and 2 * len(frozen) >= len(results)),
        (f"profiles with an answer: {len(answered)} of {len(frozen)}", share(answered, frozen) >= COVERED),
        (f"figures that hold: {len(held)} of {len(figures)}", share(held, figures) >= COVERED),
        (f"effects from {100 * LARGE:.0f} % on that were proposed: {sum(r['proposed'] for r in large)} of {len(large)}",
         share([r for r in large if r["proposed"]], large) >= COVERED),
        (f"proposed and shown to cost more than {100 * COSTS:.0f} %: {', '.join(r['name'] + ' ' + r['setting'] for r in costly) or 'none'}", not costly),
        (f"kernel time explained by {100 * EXPLAINED[0]:.0f} to {100 * EXPLAINED[1]:.0f} %: {len(explained)} of {len(parts)}", share(explained, parts) >= MOSTLY),
        (f"overhead of following: {overheads and f'{100 * overheads[len(overheads) // 2]:.1f} % (median), {100 * overheads[-1]:.1f} % (worst)'}",
         not overheads or (overheads[len(overheads) // 2] <= FOLLOWED[0] and overheads[-1] <= FOLLOWED[1])),
        (f"seconds of a profile of a program up to 1 s: {max(short, default=0):.1f} at most", max(short, default=0) <= SLOW_S),
    ]
    for text, holds in checks:
        print(f"{'holds' if holds else 'FAILS'}  {text}")
    print(f"by fewer than {LEAST_LAUNCHES} blocks, with Student's interval: {', '.join(few) or 'none'}")
    sys.exit(not all(holds for _, holds in checks))


def kernel_explained(profile):
    """The named parts of the kernel's time, by samples, relative to what the kernel's clock says; none where that is too short."""
    whole_s = profile["kernel_s"]["value"] if profile.get("kernel_s") else 0
    if whole_s < TICKS_S or not profile.get("kernel"):
        return None
    return sum(part["seconds"]["value"] for part in profile["kernel"] if part["event"] != "kernel") / whole_s


def is_usable(row):
    return row["outcome"] == "ok" and row["saved"] is not None and row["cpu"] and row["trusted"]


def is_predicted(row, settings):
    return is_usable(row) and row["setting"] in settings and row["removed"]


def score(row):
    """The error, of `keep` as a share of the prediction beyond the slack, of huge pages of what the removed faults cost."""
    off = abs(row["saved"] - row["predicted"])
    return max(0, off - SLACK * row["cpu"]) / abs(row["predicted"]) if row["setting"] == "keep" else off / row["removed"]


def learnt(all_rows, settings):
    """The error that covers nine tenths of the first half, as a share of the cost of the faults that the setting takes away."""
    scores = sorted(score(r) for r in all_rows if r["half"] == "1" and is_predicted(r, settings))
    rank = math.ceil((len(scores) + 1) * COVERED)
    return scores[min(rank, len(scores)) - 1] if scores else math.inf, len(scores), rank <= len(scores)


def table(folder):
    every = list(rows(folder))
    ms = lambda s: "–" if s is None else f"{1e3 * s:.0f}".replace("-", "−")
    print("| half | program | setting | CPU, ms | faults, % | kernel time explained | predicted, ms | measured, ms (95 %) | proposed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in every:
        measured = f"{ms(r['saved'])} ({ms(r['bounds'][0])} to {ms(r['bounds'][1])})" if r["saved"] is not None else r["status"]
        measured = "no effect" if r["status"] == "no-effect" else measured
        share = "–" if r["share"] is None else f"{100 * r['share']:.0f}"
        print(f"| {r['half']} | {r['name']} | {r['setting']} | {ms(r['cpu'])} | {share} | {r['agreement'] or r['outcome']} | {ms(r['predicted'])} | "
              f"{measured} | {'yes' if r['proposed'] else 'no'} |")
    for settings in (("thp", "java-thp"), ("keep",)):
        error, count, enough = learnt(every, settings)
        tested = [r for r in every if r["half"] == "2" and is_predicted(r, settings)]
        held = [r for r in tested if score(r) <= error]
        print(f"\n{'/'.join(settings)}: error {error:.2f}, learnt on {count}{'' if enough else ' (the largest: too few for the rank)'}; "
              f"holds {len(held)} of {len(tested)} held out")
        for r in tested:
            if r not in held:
                print(f"  outside: {r['name']}: predicted {ms(r['predicted'])}, measured {ms(r['saved'])}")
    for half in "12":
        usable = [r for r in every if r["half"] == half and is_usable(r)]
        large = [r for r in usable if r["bounds"][0] > 0 and r["saved"] >= LARGE * r["cpu"]]
        missed = [f"{r['name']} {r['setting']}" for r in large if not r["proposed"]]
        costly = [f"{r['name']} {r['setting']}" for r in usable if r["proposed"] and r["bounds"][1] < -COSTS * r["cpu"]]
        print(f"\nhalf {half}: {len(usable)} usable rows; of {len(large)} effects from {100 * LARGE:.0f} % of CPU on {len(large) - len(missed)} proposed"
              f" (not: {', '.join(missed) or 'none'}); proposed and costly: {', '.join(costly) or 'none'}")
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    overheads = sorted(r["profile"]["overhead"]["value"] - 1 for r in results if r["profile"].get("overhead"))
    if overheads:
        print(f"\nprograms {len(results)}; overhead of following faults with stacks: median {100 * overheads[len(overheads) // 2]:.1f} %; "
              f"profiles took {min(r['took_s'] for r in results):.0f} to {max(r['took_s'] for r in results):.0f} s; load "
              f"{min(r['load'] for r in results):.1f} to {max(r['load'] for r in results):.1f}")


if __name__ == "__main__":
    if len(sys.argv) < 2 or (sys.argv[1] != "--freeze" and len(sys.argv) < 3):
        sys.exit(__doc__)
    if sys.argv[1] == "--freeze":
        print(seal())
    elif sys.argv[1] == "--repeat":
        repeat(str(Path(sys.argv[2]).resolve()), Path(sys.argv[3]).resolve(), sys.argv[4:])
    elif sys.argv[1] in ("--table", "--held-out"):
        (table if sys.argv[1] == "--table" else held_out)(Path(sys.argv[2]))
    else:
        measure(str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), sys.argv[3:])
