"""Six loops in each language that `pagewise bench` takes: as functions of a file, and as a bare program that times one of them.

`bench_text` is a file with as many functions as are named, each with the loop's text for itself; `Bare` compiles a program of
the same loop, which prints the median of its turns in nanoseconds."""
import os
import re
import subprocess

# What `n` counts: steps, bytes, blocks, numbers, words, pieces.
LOOPS = ("steps", "touch", "allocate", "sort", "sum", "text")
BARE_TURNS, WARM_UP_S = 61, 0.3

C_HEAD = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* Not static: the compiler would know that nobody writes to it, and leave the loop out. */
uint64_t words[1 << 12];
static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
"""
C_LOOPS = {
    "steps": "uint64_t x = 1; for (uint64_t i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } return x;",
    "touch": "char *p = (char *)malloc(n); for (uint64_t at = 0; at < n; at += 4096) ((volatile char *)p)[at] = 1; uint64_t "
             "x = (uint64_t)p[0]; "
             "free(p); return x;",
    "allocate": "uint64_t x = 0; for (uint64_t i = 0; i < n; i++) { char *volatile p = (char *)malloc(100); *p = 1; x += "
                "(uint64_t)*p; free(p); } "
                "return x;",
    "sort": "uint32_t *v = (uint32_t *)malloc(4 * n), s = 1; for (uint64_t i = 0; i < n; i++) v[i] = s = s * 1664525u + "
            "1013904223u; "
            "qsort(v, n, 4, by_value); uint64_t x = v[n / 2]; free(v); return x;",
    "sum": "uint64_t x = 0; for (uint64_t i = 0; i < n; i++) x += words[(i * 61) & 4095] ^ i; return x;",
    "text": "char *t = (char *)malloc(24 * n + 1); uint64_t x = 0; for (uint64_t i = 0; i < n; i++) x += (uint64_t)sprintf(t "
            "+ x, \"%llu,\", "
            "(unsigned long long)i); free(t); return x;",
}
C_MAIN = """static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(void) {
    static double spent[%(turns)d]; volatile uint64_t result;
    for (double end = now() + %(warm)g * 1e9; now() < end;) result = %(name)s(%(n)d);
    for (int i = 0; i < %(turns)d; i++) { double begun = now(); result = %(name)s(%(n)d); spent[i] = now() - begun; }
    (void)result;
    qsort(spent, %(turns)d, sizeof *spent, order);
    printf("%%.0f\\n", spent[%(turns)d / 2]);
}
"""
CPP_LOOPS = dict(C_LOOPS, **{
    "touch": "std::vector<char> v(n); volatile char *p = v.data(); for (uint64_t at = 0; at < n; at += 4096) p[at] = 1; "
             "return (uint64_t)v[0];",
    "allocate": "uint64_t x = 0; for (uint64_t i = 0; i < n; i++) { auto p = new char[100]; char *volatile q = p; *q = 1; x "
                "+= (uint64_t)*q; "
                "delete[] p; } return x;",
    "sort": "std::vector<uint32_t> v(n); uint32_t s = 1; for (auto &e : v) e = s = s * 1664525u + 1013904223u; "
            "std::sort(v.begin(), v.end()); "
            "return v[n / 2];",
    "text": "std::string t; for (uint64_t i = 0; i < n; i++) t += std::to_string(i) + ','; return t.size();",
})
RUST_LOOPS = {
    "steps": "let mut x = 1u64; for _ in 0..n { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } x",
    "touch": "let mut v = vec![0u8; n as usize]; for at in (0..v.len()).step_by(4096) { std::hint::black_box(&mut v)[at] = "
             "1; } u64::from(v[0])",
    "allocate": "let mut x = 0; for _ in 0..n { let mut b = std::hint::black_box(Box::new([0u8; 100])); b[0] = 1; x += "
                "u64::from(b[0]); } x",
    "sort": "let mut s = 1u32; let mut v: Vec<u32> = (0..n).map(|_| { s = s.wrapping_mul(1664525).wrapping_add(1013904223); "
            "s }).collect(); "
            "v.sort_unstable(); u64::from(v[v.len() / 2])",
    "sum": "let w = std::hint::black_box(&WORDS); let mut x = 0u64; for i in 0..n { x = x.wrapping_add(w[(i * 61 & 4095) as "
           "usize] ^ i); } x",
    "text": "let mut t = String::new(); for i in 0..n { t += &i.to_string(); t.push(','); } t.len() as u64",
}
RUST_MAIN = """fn main() {
    let n = std::hint::black_box(%(n)du64);
    let warm = std::time::Instant::now();
    while warm.elapsed().as_secs_f64() < %(warm)g { std::hint::black_box(%(name)s_work(n)); }
    let mut spent: Vec<u128> = (0..%(turns)d).map(|_| {
        let begun = std::time::Instant::now();
        std::hint::black_box(%(name)s_work(n));
        begun.elapsed().as_nanos()
    }).collect();
    spent.sort_unstable();
    println!("{}", spent[spent.len() / 2]);
}
"""
GO_LOOPS = {
    "steps": "x := uint64(1); for i := uint64(0); i < n; i++ { x ^= x << 13; x ^= x >> 7; x ^= x << 17 }; return x",
    "touch": "v := make([]byte, n); for at := uint64(0); at < n; at += 4096 { v[at] = 1 }; kept = v; return uint64(v[0])",
    "allocate": "x := uint64(0); for i := uint64(0); i < n; i++ { v := make([]byte, 100); v[0] = 1; kept = v; x += "
                "uint64(v[0]) }; return x",
    "sort": "v, s := make([]uint32, n), uint32(1); for i := range v { s = s*1664525 + 1013904223; v[i] = s }; "
            "slices.Sort(v); return uint64(v[n/2])",
    "sum": "x := uint64(0); for i := uint64(0); i < n; i++ { x += words[i*61&4095] ^ i }; return x",
    "text": "var t strings.Builder; for i := uint64(0); i < n; i++ { t.WriteString(strconv.FormatUint(i, 10)); "
            "t.WriteByte(',') }; return uint64(t.Len())",
}
GO_HEAD = """package main

import (
%s	"slices"
	"strconv"
	"strings"
)

var words [4096]uint64
var kept []byte
var _ = slices.Sort[[]int]
var _ = strconv.Itoa
var _ strings.Builder

"""
GO_MAIN = """func main() {
	for warm := time.Now(); time.Since(warm).Seconds() < %(warm)g; {
		result = %(name)s(%(n)d)
	}
	spent := make([]int64, 0, %(turns)d)
	for i := 0; i < %(turns)d; i++ {
		begun := time.Now()
		result = %(name)s(%(n)d)
		spent = append(spent, time.Since(begun).Nanoseconds())
	}
	slices.Sort(spent)
	fmt.Println(spent[len(spent)/2])
}

var result uint64
"""
JAVA_LOOPS = {
    "steps": "long x = 1; for (long i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; } return x;",
    "touch": "byte[] v = new byte[(int) n]; for (int at = 0; at < v.length; at += 4096) v[at] = 1; kept = v; return v[0];",
    "allocate": "long x = 0; for (long i = 0; i < n; i++) { byte[] v = new byte[100]; v[0] = 1; kept = v; x += v[0]; } "
                "return x;",
    "sort": "int[] v = new int[(int) n]; int s = 1; for (int i = 0; i < v.length; i++) v[i] = s = s * 1664525 + 1013904223; "
            "java.util.Arrays.sort(v); "
            "return v[v.length / 2];",
    "sum": "long x = 0; for (long i = 0; i < n; i++) x += WORDS[(int) (i * 61 & 4095)] ^ i; return x;",
    "text": "var t = new StringBuilder(); for (long i = 0; i < n; i++) t.append(i).append(','); return t.length();",
}
JAVA_MAIN = """    public static void main(String[] arguments) {
        for (long end = System.nanoTime() + (long) (%(warm)g * 1e9); System.nanoTime() < end;)
            result = %(name)sWork(%(n)dL);
        long[] spent = new long[%(turns)d];
        for (int i = 0; i < spent.length; i++) {
            long begun = System.nanoTime();
            result = %(name)sWork(%(n)dL);
            spent[i] = System.nanoTime() - begun;
        }
        java.util.Arrays.sort(spent);
        System.out.println(spent[spent.length / 2]);
    }

    static volatile long result;
"""
PYTHON_LOOPS = {
    "steps": "x = 1\nfor _ in range(n):\n    x ^= x << 13 & MASK\n    x ^= x >> 7\n    x ^= x << 17 & MASK\nreturn x",
    "touch": "v = bytearray(n)\nfor at in range(0, n, 4096):\n    v[at] = 1\nreturn v[0]",
    "allocate": "x = 0\nfor _ in range(n):\n    v = bytearray(1000)\n    v[0] = 1\n    x += v[0]\nreturn x",
    "sort": "s, v = 1, []\nfor _ in range(n):\n    s = s * 1664525 + 1013904223 & 0xFFFFFFFF\n    "
            "v.append(s)\nv.sort()\nreturn v[n // 2]",
    "sum": "x = 0\nfor i in range(n):\n    x += WORDS[i * 61 & 4095] ^ i\nreturn x",
    "text": "return len(\"\".join(\"%d,\" % i for i in range(n)))",
}
PYTHON_MAIN = """warm = time.perf_counter()
while time.perf_counter() - warm < %(warm)g:
    %(name)s_work(%(n)d)
gc.disable()
spent = []
for _ in range(%(turns)d):
    begun = time.perf_counter_ns()
    %(name)s_work(%(n)d)
    spent.append(time.perf_counter_ns() - begun)
print(sorted(spent)[len(spent) // 2])
"""


def c_text(functions, loops, main=""):
    text = "" if main else "#include <pagewise.h>\n"
    if loops is CPP_LOOPS:
        text += "#include <algorithm>\n#include <string>\n#include <vector>\n"
    text += C_HEAD
    for name, loop, n in functions:
        text += "__attribute__((noinline)) static uint64_t %s_work(uint64_t n) { %s }\n" % (name, loops[loop])
        if not main:
            text += "BENCH(%s) { uint64_t x; PHASE(\"run\") { x = %s_work(%d); } RESULT(x); }\n" % (name, name, n)
    # Each file has all helpers, and no loop needs all of them.
    return text.replace("static int by_value", "__attribute__((unused)) static int by_value") + main


def rust_text(functions, main=""):
    text = "static WORDS: [u64; 4096] = [0; 4096];\n"
    for name, loop, n in functions:
        text += "#[inline(never)]\nfn %s_work(n: u64) -> u64 { %s }\n" % (name, RUST_LOOPS[loop])
        if not main:
            text += "#[pagewise::bench]\nfn %s() -> u64 { pagewise::phase!(\"run\", %s_work(%d)) }\n" % (name, name, n)
    return text.replace("static WORDS", "#[allow(dead_code)]\nstatic WORDS") + main


def go_text(functions, main=""):
    text = GO_HEAD % ("\t\"fmt\"\n\t\"time\"\n" if main else "\t\"pagewise\"\n")
    for name, loop, n in functions:
        text += "//go:noinline\nfunc %s(n uint64) uint64 { %s }\n" % (name + "_work", GO_LOOPS[loop])
        if not main:
            text += ("func Benchmark_%s(b *pagewise.B) {\n\tb.Begin(\"run\")\n\tx := %s_work(%d)\n\tb.End()\n\tb.Result(x)\n}\n"
                     % (name, name, n))
    return text + main


def java_text(functions, main=""):
    text = "class Loops {\n    static final long[] WORDS = new long[4096];\n    static volatile byte[] kept;\n"
    for name, loop, n in functions:
        text += "    static long %sWork(long n) { %s }\n" % (name, JAVA_LOOPS[loop])
        if not main:
            text += ("    @pagewise.Bench\n    static long %s(pagewise.Run run) {\n"
                     "        try (var phase = run.phase(\"run\")) {\n            return %sWork(%dL);\n        }\n    }\n"
                     % (name, name, n))
    return text + main + "}\n"


def python_text(functions, main=""):
    text = "import gc\nimport time\n" + ("" if main else "import pagewise\n")
    text += "MASK = 0xFFFFFFFFFFFFFFFF\nWORDS = [0] * 4096\n\n"
    for name, loop, n in functions:
        text += "def %s_work(n):\n    %s\n\n" % (name, PYTHON_LOOPS[loop].replace("\n", "\n    "))
        if not main:
            text += "@pagewise.bench\ndef %s(run):\n    with run.phase(\"run\"):\n" % name
            text += "        x = %s_work(%d)\n    return x\n\n" % (name, n)
    return text + main


class Language:
    """`scale` is the share of the other languages' work that takes as long in this one."""

    def __init__(self, file, text, main, bare_name, build, run, scale=1.0):
        self.file, self.text, self.main, self.bare_name, self.build, self.run = file, text, main, bare_name, build, run
        self.scale = scale


def c_build(compiler, file):
    return [compiler, "-O2", "-g", file, "-o", "bare"]


LANGUAGES = {
    "c": Language("loops.c", lambda f, m="": c_text(f, C_LOOPS, m), C_MAIN, "%s_work", c_build("cc", "loops.c"), ["./bare"]),
    "c++": Language("loops.cpp", lambda f, m="": c_text(f, CPP_LOOPS, m), C_MAIN, "%s_work", c_build("c++", "loops.cpp"),
                    ["./bare"]),
    "rust": Language("loops.rs", rust_text, RUST_MAIN, "%s", ["rustc", "-O", "-g", "loops.rs", "-o", "bare"], ["./bare"]),
    "go": Language("loops.go", go_text, GO_MAIN, "%s_work", ["go", "build", "-o", "bare", "loops.go"], ["./bare"]),
    "java": Language("Loops.java", java_text, JAVA_MAIN, "%s", ["javac", "-g", "Loops.java"], ["java", "Loops"]),
    "python": Language("loops.py", python_text, PYTHON_MAIN, "%s", None, ["python3", "loops.py"], 1 / 30),
}


def bench_text(language, functions):
    """A file of functions: each its name, its loop and `n`."""
    return LANGUAGES[language].text(functions)


class Bare:
    """A program that does one loop and times each turn of it."""

    def __init__(self, place, language, loop, n):
        self.place, self.language = place, LANGUAGES[language]
        facts = {"name": self.language.bare_name % loop, "n": n, "turns": BARE_TURNS, "warm": WARM_UP_S}
        text = self.language.text([(loop, loop, n)], self.language.main % facts)
        with open(os.path.join(place, self.language.file), "w", encoding="utf-8") as file:
            file.write(text)
        if self.language.build:
            self.started(self.language.build)

    def started(self, command):
        done = subprocess.run(command, cwd=self.place, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (" ".join(command), re.sub(r"\s+", " ", done.stderr)[-500:]))
        return done.stdout

    def nanoseconds(self):
        return float(self.started(self.language.run))
