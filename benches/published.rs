//! Whether P2 "as published" is the published job: our cells and an independent program like the original, in turn.
//!
//! `cargo bench --bench published` compiles `published/programs/P2.c` without optimisation and takes the ratio vmsplice : memcpy of each side's
//! CPU time from both. Ours over theirs must lie within 0.75 to 1.33 for each side by itself; it ends with status 1 where one
//! does not. `PUBLISHED_BYTES` and `PUBLISHED_TURNS` replace 256 MiB and 7.

#[allow(dead_code)]
#[path = "../tests/it/support/cache.rs"]
mod cache;
#[allow(dead_code)]
#[path = "../tests/it/support/native.rs"]
mod native;
#[allow(dead_code)]
#[path = "../tests/it/support/sides.rs"]
mod sides;

use std::path::Path;
use std::process::Command;

use record::method::Method;
use sides::{Ended, Launch, Worker};
use stats::quantile::median;

const WAYS: [&str; 2] = ["memcpy", "vmsplice"];
const SIDES: [&str; 2] = ["send", "receive"];

fn main() {
    let number = |name: &str, usual: u64| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(usual)
    };
    let (bytes, turns) = (
        number("PUBLISHED_BYTES", 256 << 20),
        number("PUBLISHED_TURNS", 7),
    );
    let place = tempfile::tempdir().expect("a temporary folder");
    let (program, file) = (place.path().join("p2"), place.path().join("data"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/published/programs/P2.c");
    let compiled = Command::new("cc")
        .args(["-O0", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .status();
    assert!(compiled.is_ok_and(|s| s.success()), "P2.c does not compile");
    let data: Vec<u8> = (0..bytes / 8)
        .flat_map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes())
        .collect();
    std::fs::write(&file, data).expect("the file is written");
    let worker = Worker::native("c-O0");
    let mut ours = [const { [const { Vec::new() }; 2] }; 2];
    let mut theirs = ours.clone();
    for turn in 0..turns {
        for step in 0..2 {
            for way in 0..2 {
                let mine = (turn + step) % 2 == 0;
                let seconds = if mine {
                    our_seconds(&worker, way, bytes)
                } else {
                    their_seconds(&program, way, bytes, &file)
                };
                let into = if mine { &mut ours } else { &mut theirs };
                (0..2).for_each(|side| into[way][side].push(seconds[side]));
            }
        }
    }
    std::process::exit(i32::from(!report(&mut ours, &mut theirs)));
}

type Seconds = [[Vec<f64>; 2]; 2];

/// Medians and ratios in words; whether every side agrees.
fn report(ours: &mut Seconds, theirs: &mut Seconds) -> bool {
    let mut agree = true;
    for (side, name) in SIDES.iter().enumerate() {
        let of = |all: &mut Seconds| {
            [0, 1].map(|way| median(&mut all[way][side]).expect("at least one turn"))
        };
        let (own, other) = (of(ours), of(theirs));
        let ratio = (own[1] / own[0]) / (other[1] / other[0]);
        let good = (0.75..=1.33).contains(&ratio);
        agree &= good;
        println!(
            "{name:<8} CPU s   {:>10} {:>10}   vmsplice : memcpy",
            WAYS[0], WAYS[1]
        );
        println!(
            "  ours           {:>10.4} {:>10.4}   {:.3}",
            own[0],
            own[1],
            own[1] / own[0]
        );
        println!(
            "  P2.c           {:>10.4} {:>10.4}   {:.3}",
            other[0],
            other[1],
            other[1] / other[0]
        );
        println!(
            "  ours over theirs {ratio:.3} ({} 0.75 to 1.33)",
            if good { "within" } else { "NOT within" }
        );
    }
    agree
}

fn our_seconds(worker: &Worker, way: usize, bytes: u64) -> [f64; 2] {
    let size = bytes.to_string();
    let method: &Method = worker.method(
        "transfer",
        ["shm-memcpy-published", "vmsplice-published"][way],
    );
    let parameters = [
        ("bytes", size.as_str()),
        ("pin", "none"),
        ("block", "untouched"),
        ("segment", "fresh"),
    ];
    let (a, b) = Launch::new().pair(worker, worker, &[(method, &parameters)], 1);
    assert_eq!(b.facts(0)["wrong_at"], size, "not every byte came");
    let seconds = |side: &Ended, phase: &str| {
        let of =
            |s: &&record::transcript::Sample| side.transcript.phases[usize::from(s.phase)] == phase;
        side.transcript
            .samples
            .iter()
            .find(of)
            .expect("the side's phase")
            .counts
            .cpu_ns as f64
            / 1e9
    };
    [seconds(&a, SIDES[0]), seconds(&b, SIDES[1])]
}

fn their_seconds(program: &Path, way: usize, bytes: u64, file: &Path) -> [f64; 2] {
    let output = Command::new(program)
        .args([WAYS[way], &bytes.to_string()])
        .arg(file)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("numbers");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let seconds: Vec<f64> = text
        .split_whitespace()
        .map(|w| w.parse().expect("seconds"))
        .collect();
    [seconds[0], seconds[1]]
}
