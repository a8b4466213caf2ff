//! Pairs of a laboratory that are disturbed from outside.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::place::entries;
use super::waiting::{PATIENCE, is_at_work};

/// The two processes of a launch below a laboratory, side a and side b, and what was asked of them.
fn sides_of(laboratory: &Child) -> Option<([Pid; 2], String)> {
    let mut found = [None; 2];
    let mut request = None;
    for process in entries(Path::new("/proc")) {
        let Some(number) = process
            .file_name()
            .and_then(|n| n.to_str()?.parse::<i32>().ok())
        else {
            continue;
        };
        let parent = std::fs::read_to_string(process.join("stat")).ok();
        let parent = parent.and_then(|text| {
            text.rsplit_once(')')?
                .1
                .split_whitespace()
                .nth(1)?
                .parse::<u32>()
                .ok()
        });
        let input = std::fs::read_link(process.join("fd/0")).unwrap_or_default();
        if parent == Some(laboratory.id()) {
            let name = input.to_string_lossy();
            let role = ["/request.a", "/request.b"]
                .iter()
                .position(|end| name.ends_with(end));
            role.into_iter()
                .for_each(|role| found[role] = Pid::from_raw(number));
            request = std::fs::read_to_string(&input).ok().or(request);
        }
    }
    Some(([found[0]?, found[1]?], request?))
}

/// Sends the signal to one side, 0 or 1, of every pair that measures this method, in the middle of its work, until the
/// laboratory ends: a pair that dies with several cells is tried cell by cell. The sides of those pairs are returned.
pub fn disturb_all(
    laboratory: &mut Child,
    method: &str,
    victim: usize,
    signal: Signal,
) -> Vec<Pid> {
    let line = format!("method={method}");
    let mut seen: Vec<Pid> = Vec::new();
    let mut begun = Instant::now();
    while laboratory.try_wait().unwrap().is_none() {
        if let Some((sides, request)) = sides_of(laboratory)
            && !seen.contains(&sides[victim])
            && request.lines().any(|own| own == line)
            // A side that waits for the other uses no time of the processor worth mentioning.
            && sides.iter().all(|side| is_at_work(side.as_raw_nonzero().get() as u32))
        {
            let _ = kill_process(sides[victim], signal);
            seen.extend(sides);
            begun = Instant::now();
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "waited too long for the next pair of {method}, or for the end"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(!seen.is_empty(), "{method} had no pair");
    seen
}
