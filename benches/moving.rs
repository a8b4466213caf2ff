//! Whether our figures for moving a block agree with others' and come near what the machine can do.
//!
//! `cargo bench --bench moving` takes `copy/memcpy` and `perf bench mem memcpy` over the same bytes in turn, payload counted
//! once in both; where perf is not installed, a plain C program copies as it does. Then the ways by a ring of shared memory
//! as a fraction of one memcpy of the block, within the same launch. Each alternation gives one ratio, and their median is
//! shown with the smallest and the largest. It reports; it fails only where a proof fails. `MOVING_BYTES`, `MOVING_TURNS` and
//! `MOVING_LAUNCHES` replace 1 GiB, 12 alternations and 2 launches of each in one.

#[allow(dead_code)]
#[path = "../tests/it/support/cache.rs"]
mod cache;
#[allow(dead_code)]
#[path = "../tests/it/support/native.rs"]
mod native;
#[allow(dead_code)]
#[path = "../tests/it/support/sides.rs"]
mod sides;

use std::process::Command;

use record::method::Method;
use sides::{Launch, Worker};
use stats::quantile::median;

/// What the ring is to reach of one memcpy of the block, with two free processors.
const AIM: f64 = 0.8;

/// What perf bench does, without perf: both blocks resident, one copy before the clock and one that is timed.
const PLAIN: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
int main(int argc, char **argv)
{
    size_t bytes = strtoull(argv[1], NULL, 10);
    char *from = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct timespec start, end;
    memset(from, 1, bytes);
    memcpy(to, from, bytes);
    clock_gettime(CLOCK_MONOTONIC, &start);
    memcpy(to, from, bytes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", bytes / ((end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9));
    return to[bytes - 1] != 1;
}
"#;

fn main() {
    let number = |name: &str, usual: u64| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(usual)
    };
    let (bytes, turns) = (
        number("MOVING_BYTES", 1 << 30),
        number("MOVING_TURNS", 12) as usize,
    );
    let worker = Worker::native("c-O3");
    memcpy_and_another(&worker, bytes, turns, number("MOVING_LAUNCHES", 2) as usize);
    rings(&worker, bytes, turns);
}

fn line(name: &str, bytes: u64, seconds: &mut [f64]) -> f64 {
    let middle = median(seconds).expect("at least one turn");
    println!(
        "{name:<28} {:>9.3} ms  {:>6.2} GB/s",
        middle * 1e3,
        bytes as f64 / middle / 1e9
    );
    middle
}

/// The median of the alternations' ratios, in words with their range.
fn ratio_words(ratios: &mut [f64]) -> (f64, String) {
    let (low, high) = ratios
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let middle = median(ratios).expect("at least one turn");
    (
        middle,
        format!(
            "{middle:.3} ({low:.3} to {high:.3}, {} alternations)",
            ratios.len()
        ),
    )
}

fn our_seconds(worker: &Worker, bytes: u64) -> f64 {
    let size = bytes.to_string();
    let parameters = [
        ("bytes", size.as_str()),
        ("destination", "warm"),
        ("batch_bytes", "1"),
        ("pages", "base"),
    ];
    let ended = Launch::new().alone(worker, &[(worker.method("copy", "memcpy"), &parameters)], 2);
    assert_eq!(ended.facts(1)["wrong_at"], size, "the copy is not whole");
    // The first of the two is the warm-up: the others copy once before their clock starts, too.
    ended.transcript.samples[1].counts.wall_ns as f64 / 1e9
}

fn memcpy_and_another(worker: &Worker, bytes: u64, turns: usize, launches: usize) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let plain = place.path().join("plain");
    let by_perf = perf_seconds(bytes).is_some();
    if !by_perf {
        std::fs::write(place.path().join("plain.c"), PLAIN).expect("the plain program is written");
        let compiled = Command::new("cc")
            .args(["-O3", "-w", "-o"])
            .arg(&plain)
            .arg(place.path().join("plain.c"))
            .status();
        assert!(
            compiled.is_ok_and(|s| s.success()),
            "the plain program does not compile"
        );
    }
    let another = || match by_perf {
        true => perf_seconds(bytes),
        false => seconds_by(Command::new(&plain).arg(bytes.to_string()), bytes),
    };
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..turns {
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        for launch in 0..launches {
            let first_ours = (turn + launch) % 2 == 0;
            if first_ours {
                mine.push(our_seconds(worker, bytes));
            }
            others.push(another().expect("the other program copies"));
            if !first_ours {
                mine.push(our_seconds(worker, bytes));
            }
        }
        ratios.extend(
            median(&mut mine)
                .zip(median(&mut others))
                .map(|(a, b)| a / b),
        );
        ours.extend(mine);
        theirs.extend(others);
    }
    line("copy/memcpy", bytes, &mut ours);
    line(
        if by_perf {
            "perf bench mem memcpy"
        } else {
            "plain memcpy (no perf here)"
        },
        bytes,
        &mut theirs,
    );
    println!(
        "    copy/memcpy takes {} times as long",
        ratio_words(&mut ratios).1
    );
}

/// One copy by perf, in seconds; none where perf is not installed or not permitted.
fn perf_seconds(bytes: u64) -> Option<f64> {
    let size = format!("{}MB", bytes >> 20);
    let arguments = [
        "bench", "-f", "simple", "mem", "memcpy", "-f", "default", "-l", "1", "-s", &size,
    ];
    seconds_by(Command::new("perf").args(arguments), bytes)
}

/// One copy by a program that ends with the bytes it copied in a second.
fn seconds_by(command: &mut Command, bytes: u64) -> Option<f64> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let speed: f64 = text.lines().rev().find_map(|l| l.trim().parse().ok())?;
    (speed > 0.0).then(|| bytes as f64 / speed)
}

fn rings(worker: &Worker, bytes: u64, turns: usize) {
    let size = bytes.to_string();
    let parameters = [
        ("bytes", size.as_str()),
        ("chunk", "262144"),
        ("ring_chunks", "4"),
        ("pages", "base"),
        ("pin", "l3"),
    ];
    let methods: Vec<&Method> = ["limit", "shm-ring", "shm-ring-cached"]
        .iter()
        .map(|n| worker.method("transfer", n))
        .collect();
    let cells: Vec<(&Method, &[(&str, &str)])> =
        methods.iter().map(|m| (*m, &parameters[..])).collect();
    let mut seconds = vec![Vec::new(); methods.len()];
    for _ in 0..turns {
        let (a, b) = Launch::new().pair(worker, worker, &cells, 2);
        for (cell, method) in methods.iter().enumerate() {
            let slot = (methods.len() + cell) as u32;
            let prover = if method.name == "limit" { &a } else { &b };
            assert_eq!(
                prover.facts(slot)["wrong_at"],
                size,
                "{} did not bring every byte",
                method.name
            );
            let own = |side: &sides::Ended| {
                let of_slot = side.transcript.samples.iter().filter(|s| s.slot == slot);
                let timed = of_slot
                    .filter(|s| side.transcript.phases[usize::from(s.phase)] != "read-through");
                timed
                    .map(|s| (s.counts.start_ns, s.counts.start_ns + s.counts.wall_ns))
                    .next()
            };
            let spans: Vec<(u64, u64)> = own(&a).into_iter().chain(own(&b)).collect();
            let start = spans
                .iter()
                .map(|s| s.0)
                .min()
                .expect("a sample of each slot");
            let end = spans
                .iter()
                .map(|s| s.1)
                .max()
                .expect("a sample of each slot");
            seconds[cell].push((end - start) as f64 / 1e9);
        }
    }
    line("transfer/limit", bytes, &mut seconds[0].clone());
    for (cell, method) in methods.iter().enumerate().skip(1) {
        line(
            &format!("transfer/{}", method.name),
            bytes,
            &mut seconds[cell].clone(),
        );
        let mut fractions: Vec<f64> = seconds[0]
            .iter()
            .zip(&seconds[cell])
            .map(|(limit, mine)| limit / mine)
            .collect();
        let (fraction, words) = ratio_words(&mut fractions);
        let word = if fraction > AIM { "reached" } else { "missed" };
        println!("    {words} of the limit (aim {AIM}: {word})");
    }
}
