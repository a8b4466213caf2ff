//! Whether our figures for moving a block agree with others' and come near what the machine can do.
//!
//! `cargo bench --bench moving` takes `copy/memcpy` and `perf bench mem memcpy` (where perf is installed) over the same bytes
//! in turn, payload counted once in both; then the ways by a ring of shared memory as a fraction of one memcpy of the block.
//! It reports; it fails only where a proof fails. `MOVING_BYTES` and `MOVING_TURNS` replace 1 GiB and 9.

#[path = "../tests/sides/mod.rs"]
mod sides;

use std::process::Command;

use pagewise::method::Method;
use pagewise::stats::quantile::median;
use sides::{Launch, Worker};

/// What the ring is to reach of one memcpy of the block, with two free processors.
const AIM: f64 = 0.8;

fn main() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual);
    let (bytes, turns) = (number("MOVING_BYTES", 1 << 30), number("MOVING_TURNS", 9) as usize);
    let worker = Worker::native("c-O3");
    memcpy_and_perf(&worker, bytes, turns);
    rings(&worker, bytes, turns);
}

fn line(name: &str, bytes: u64, seconds: &mut [f64]) -> f64 {
    let middle = median(seconds).expect("at least one turn");
    println!("{name:<28} {:>9.3} ms  {:>6.2} GB/s", middle * 1e3, bytes as f64 / middle / 1e9);
    middle
}

fn memcpy_and_perf(worker: &Worker, bytes: u64, turns: usize) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let size = bytes.to_string();
    let parameters = [("bytes", size.as_str()), ("destination", "warm"), ("batch_bytes", "1")];
    for _ in 0..turns {
        let ended = Launch::new().alone(worker, &[(worker.method("copy", "memcpy"), &parameters)], 2);
        assert_eq!(ended.facts(1)["wrong_at"], size, "the copy is not whole");
        // The first of the two is the warm-up: perf copies once before its clock starts, too.
        ours.push(ended.transcript.samples[1].counts.wall_ns as f64 / 1e9);
        theirs.extend(perf_seconds(bytes));
    }
    let mine = line("copy/memcpy", bytes, &mut ours);
    if theirs.is_empty() {
        println!("perf bench mem memcpy        not installed, or not permitted");
    } else {
        let perf = line("perf bench mem memcpy", bytes, &mut theirs);
        println!("copy/memcpy takes {:.3} times as long", mine / perf);
    }
}

/// One copy by perf, in seconds. Its simple format is bytes in a second.
fn perf_seconds(bytes: u64) -> Option<f64> {
    let size = format!("{}MB", bytes >> 20);
    let arguments = ["bench", "-f", "simple", "mem", "memcpy", "-f", "default", "-l", "1", "-s", &size];
    let output = Command::new("perf").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let speed: f64 = text.lines().rev().find_map(|l| l.trim().parse().ok())?;
    (speed > 0.0).then(|| bytes as f64 / speed)
}

fn rings(worker: &Worker, bytes: u64, turns: usize) {
    let size = bytes.to_string();
    let parameters = [("bytes", size.as_str()), ("chunk", "262144"), ("ring_chunks", "4")];
    let methods: Vec<&Method> =
        ["limit", "shm-ring", "shm-ring-cached"].iter().map(|n| worker.method("transfer", n)).collect();
    let cells: Vec<(&Method, &[(&str, &str)])> = methods.iter().map(|m| (*m, &parameters[..])).collect();
    let mut seconds = vec![Vec::new(); methods.len()];
    for _ in 0..turns {
        let (a, b) = Launch::new().pair(worker, worker, &cells, 2);
        for (cell, method) in methods.iter().enumerate() {
            let slot = (methods.len() + cell) as u32;
            let prover = if method.name == "limit" { &a } else { &b };
            assert_eq!(prover.facts(slot)["wrong_at"], size, "{} did not bring every byte", method.name);
            let own = |side: &sides::Ended| {
                let of_slot = side.transcript.samples.iter().filter(|s| s.slot == slot);
                let timed = of_slot.filter(|s| side.transcript.phases[usize::from(s.phase)] != "read-through");
                timed.map(|s| (s.counts.start_ns, s.counts.start_ns + s.counts.wall_ns)).next()
            };
            let spans: Vec<(u64, u64)> = own(&a).into_iter().chain(own(&b)).collect();
            let start = spans.iter().map(|s| s.0).min().expect("a sample of each slot");
            let end = spans.iter().map(|s| s.1).max().expect("a sample of each slot");
            seconds[cell].push((end - start) as f64 / 1e9);
        }
    }
    let limit = line("transfer/limit", bytes, &mut seconds[0]);
    for (cell, method) in methods.iter().enumerate().skip(1) {
        let mine = line(&format!("transfer/{}", method.name), bytes, &mut seconds[cell]);
        let word = if limit / mine > AIM { "reached" } else { "missed" };
        println!("    {:.2} of the limit (aim {AIM}: {word})", limit / mine);
    }
}
