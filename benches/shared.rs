//! Whether shared memory and messages cost here what they must: `cargo bench --bench shared`.
//!
//! First `share/anon-private@c-O3`, random-write with index=xorshift in 64 KiB, and a plain program that brings its
//! indices into
//! range by a mask, the cheapest way where the size is a power of two, in turn. Then the round trip of
//! `message/spin-ring` with 64 bytes and of `message/limit`, one cache line that goes to and
//! fro, in turn, with a CPU for each side and without. It reports medians of ratios and their range, and asserts nothing but
//! proofs. `SHARED_TURNS` and `SHARED_LAUNCHES` replace 12 alternations and 5 launches of each in one alternation.

#[allow(dead_code)]
#[path = "../tests/it/support/cache.rs"]
mod cache;
#[allow(dead_code)]
#[path = "../tests/it/support/native.rs"]
mod native;
#[allow(dead_code)]
#[path = "../tests/it/support/sides.rs"]
mod sides;

use std::path::{Path, PathBuf};
use std::process::Command;

use sides::{Ended, Launch, Worker};
use stats::quantile::median;

const BYTES: &str = "65536";
const OPS: &str = "1000000";
/// Rounds of one launch: processes differ by some percent, rounds within a process by far less, so launches are short.
const ROUNDS: u32 = 5;
const TRIPS: &str = "20000";
const AIM_SHARE: f64 = 1.1;
const AIM_RING: f64 = 2.0;

/// The job without a laboratory around it: the same alignment, first touch, generator, seed and clock, and a mask.
const PLAIN: &str = r#"
static char *fresh(size_t bytes) {
    char *p = mapped(bytes);
    for (size_t i = 0; i < bytes; i += 4096) ((volatile char *)p)[i] = 1;
    return p;
}
__attribute__((noinline)) static void fill(char *p, size_t size, uint64_t ops, uint64_t seed) {
    uint64_t x = seed | 1;
    for (uint64_t i = 0; i < ops; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        p[(x * 0x2545F4914F6CDD1Dull >> 32) & (size - 1)] = 0x55;
    }
}
int main(int argc, char **argv) {
    if (argc < 4) return 2;
    size_t bytes = strtoull(argv[1], NULL, 10);
    uint64_t ops = strtoull(argv[2], NULL, 10);
    for (int round = 0; round < atoi(argv[3]); round++) {
        char *p = fresh(bytes);
        uint64_t start = now();
        fill(p, bytes, ops, 9);
        uint64_t spent = now() - start;
        uint64_t sum = 0;
        for (size_t i = 0; i < bytes; i++) sum += (unsigned char)p[i];
        printf("%llu %llu\n", (unsigned long long)spent, (unsigned long long)sum);
        munmap(p, bytes);
    }
}
"#;

fn main() {
    let number = |name: &str, usual: usize| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(usual)
    };
    let (turns, launches) = (number("SHARED_TURNS", 12), number("SHARED_LAUNCHES", 5));
    let worker = Worker::native("c-O3");
    let place = tempfile::tempdir().expect("a temporary folder");
    let plain = compiled(place.path());
    let ours = || random_write(&worker);
    let theirs = || plain_write(&plain);
    let ratio = in_turn(
        "share/anon-private@c-O3 random-write / plain loop with a mask",
        turns,
        launches,
        &ours,
        &theirs,
    );
    println!(
        "    aim at most {AIM_SHARE}: {}",
        if ratio <= AIM_SHARE {
            "reached"
        } else {
            "missed"
        }
    );
    for pin in ["l3", "none"] {
        let ring = || round_trip(&worker, "spin-ring", pin);
        let limit = || round_trip(&worker, "limit", pin);
        let title = format!("message/spin-ring 64 B / limit, pin={pin}");
        let ratio = in_turn(&title, turns, launches, &ring, &limit);
        println!(
            "    aim below {AIM_RING}: {}",
            if ratio < AIM_RING {
                "reached"
            } else {
                "missed"
            }
        );
    }
}

/// Launches of both, one after the other within an alternation, and the other one first in the next; the median launch of
/// each side makes the alternation's ratio. The median ratio is returned.
fn in_turn(
    title: &str,
    turns: usize,
    launches: usize,
    ours: &dyn Fn() -> f64,
    theirs: &dyn Fn() -> f64,
) -> f64 {
    let (mut ratios, mut all_ours, mut all_theirs) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..turns {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for launch in 0..launches {
            if (turn + launch) % 2 == 0 {
                a.push(ours());
                b.push(theirs());
            } else {
                b.push(theirs());
                a.push(ours());
            }
        }
        let (a, b) = (middle(&mut a), middle(&mut b));
        ratios.push(a / b);
        all_ours.push(a);
        all_theirs.push(b);
    }
    let (low, high) = ratios
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let ratio = middle(&mut ratios);
    println!(
        "{title}: {turns} alternations of {launches} launches each: median {ratio:.3} ({low:.3} to {high:.3})"
    );
    println!(
        "    {:.2} ns and {:.2} ns",
        middle(&mut all_ours),
        middle(&mut all_theirs)
    );
    ratio
}

fn middle(values: &mut [f64]) -> f64 {
    median(values).expect("at least one value")
}

fn compiled(place: &Path) -> PathBuf {
    let (source, plain) = (place.join("plain.c"), place.join("plain"));
    std::fs::write(&source, [include_str!("plain.h"), PLAIN].concat())
        .expect("the temporary folder can be written");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O3", "-fno-tree-loop-distribute-patterns", "-o"])
        .args([&plain, &source]);
    assert!(
        compiler.status().is_ok_and(|status| status.success()),
        "the stand-alone program does not compile"
    );
    plain
}

/// Nanoseconds per unit of a phase: the median over the rounds of one launch, the first left out.
fn per_op(ended: &Ended, phase: &str) -> f64 {
    let named =
        |s: &&record::transcript::Sample| ended.transcript.phases[usize::from(s.phase)] == phase;
    let samples = ended.transcript.samples.iter().filter(named).skip(1);
    middle(
        &mut samples
            .map(|s| s.counts.wall_ns as f64 / s.counts.ops as f64)
            .collect::<Vec<f64>>(),
    )
}

fn random_write(worker: &Worker) -> f64 {
    let parameters = [
        ("bytes", BYTES),
        ("ops", OPS),
        ("clear_bytes", "1"),
        ("index", "xorshift"),
        ("load", "0"),
    ];
    let cell = (worker.method("share", "anon-private"), &parameters[..]);
    let ended = Launch::new().alone(worker, &[cell], ROUNDS + 1);
    assert_eq!(ended.facts(1)["wrong_bytes"], "0");
    per_op(&ended, "random-write")
}

fn plain_write(plain: &Path) -> f64 {
    let output = Command::new(plain)
        .args([BYTES, OPS, &(ROUNDS + 1).to_string()])
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    let spent = text
        .lines()
        .skip(1)
        .map(|line| line.split(' ').next().unwrap_or_default().parse::<f64>());
    let ops: f64 = OPS.parse().expect("a number");
    middle(
        &mut spent
            .map(|ns| ns.expect("it prints numbers") / ops)
            .collect::<Vec<f64>>(),
    )
}

fn round_trip(worker: &Worker, method: &str, pin: &str) -> f64 {
    let parameters = [
        ("bytes", "64"),
        ("ops", TRIPS),
        ("wait", "spin"),
        ("pin", pin),
    ];
    let cell = (worker.method("message", method), &parameters[..]);
    let (a, _) = Launch::new().pair(worker, worker, &[cell], ROUNDS + 1);
    per_op(&a, "round-trips")
}
