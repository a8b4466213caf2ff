//! Speed and size of the core: `cargo bench --bench core` (add `-- list` for the list alone, `-- build` for a clean
//! release build
//! as well). Prints ratios measured in turn; fails only where `list` takes longer than it may.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "../tests/it/support/native.rs"]
#[allow(dead_code)]
mod native;

type Any<T> = Result<T, Box<dyn std::error::Error>>;

/// Bytes of the compared loop: short enough for many launches of both programs.
const BYTES: u64 = 16 << 20;
const ALTERNATIONS: usize = 12;
/// Launches of each program in one alternation. Processes of one program differ by a tenth here, so one of each says nothing.
const LAUNCHES: usize = 16;
const ROUNDS: usize = 5;
/// Most that `list` may take, in milliseconds.
const LIST_MS: f64 = 5.0;

/// The touch loop without a laboratory around it: the same alignment, backing, advice, loop and clock. What follows the loop
/// is that of the method too (touched again, given back, faulted again, read): frames that a process has just used so often
/// are faulted in 3 to 6 % faster than frames it has used once, whoever measures.
const PLAIN: &str = r#"
static char *fresh(size_t bytes) {
    char *p = mapped(bytes);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}
static void touch(char *start, size_t bytes, char mark) {
    volatile char *p = start;
    for (size_t i = 0; i < bytes; i += 4096) p[i] = mark;
}
static void read_all(const char *start, size_t bytes) {
    const volatile uint64_t *p = (const void *)start;
    for (size_t i = 0; i < bytes / 8; i++) (void)p[i];
}
int main(int argc, char **argv) {
    size_t bytes = strtoull(argv[1], NULL, 10);
    for (int round = 0; round < atoi(argv[2]); round++) {
        char *p = fresh(bytes); touch(p, bytes, 1); munmap(p, bytes);
        p = fresh(bytes);
        uint64_t start = now(); touch(p, bytes, (char)argc); uint64_t spent = now() - start;
        printf("%llu\n", (unsigned long long)spent);
        touch(p, bytes, 1);
        madvise(p, bytes, MADV_DONTNEED);
        touch(p, bytes, 1);
        read_all(p, bytes);
        munmap(p, bytes);
    }
}
"#;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn pagewise() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pagewise"))
}

/// Runs the native worker on a request.
fn worker(program: &Path, request: &str) -> Any<String> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no input")?
        .write_all(request.as_bytes())?;
    Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
}

fn samples<'a>(transcript: &'a str, phase: &str) -> Vec<Vec<&'a str>> {
    let lines = transcript
        .lines()
        .map(|l| l.split('\t').collect::<Vec<_>>());
    lines
        .filter(|f| {
            f[0] == "sample" && !f[2].starts_with('-') && (phase.is_empty() || f[4] == phase)
        })
        .collect()
}

fn null_cost(program: &Path) -> Any<()> {
    let rounds: String = (0..2000).map(|r| format!("round={r} 0\n")).collect();
    let request =
        format!("protocol=1\nexperiment=fault\nseed=1\ncell=0\nmethod=null\nbytes=4096\n{rounds}");
    let text = worker(program, &request)?;
    let all = samples(&text, "");
    let starts: Vec<f64> = all
        .iter()
        .map(|f| f[7].parse::<f64>())
        .collect::<Result<_, _>>()?;
    let mut between: Vec<f64> = starts.windows(2).map(|w| w[1] - w[0]).collect();
    let mut walls: Vec<f64> = all
        .iter()
        .map(|f| f[8].parse::<f64>())
        .collect::<Result<_, _>>()?;
    println!(
        "null: {:.0} ns are measured of an empty phase; a sample costs {:.0} ns in all",
        median(&mut walls),
        median(&mut between)
    );
    Ok(())
}

fn against_plain(program: &Path, place: &Path) -> Any<()> {
    let source = place.join("plain.c");
    fs::write(&source, [include_str!("plain.h"), PLAIN].concat())?;
    let plain = place.join("plain");
    let compiled = Command::new("cc")
        .args(["-O3", "-fno-tree-loop-distribute-patterns", "-o"])
        .arg(&plain)
        .arg(&source)
        .status()?;
    if !compiled.success() {
        return Err("the stand-alone program does not compile".into());
    }
    let rounds: String = (0..ROUNDS).map(|r| format!("round={r} 0\n")).collect();
    let cell = format!(
        "cell=0\nmethod=touch\nbytes={BYTES}\nrelease=dontneed\nthreads=1\nprocesses=1\nbacking=recycled\nidle_ms=1\nframes=cached\nrunning=1\n"
    );
    let request = format!("protocol=1\nexperiment=fault\nseed=1\n{cell}{rounds}");
    let ours = || -> Any<f64> {
        let text = worker(program, &request)?;
        let mut walls: Vec<f64> = samples(&text, "first-touch")
            .iter()
            .map(|f| f[8].parse::<f64>())
            .collect::<Result<_, _>>()?;
        Ok(median(&mut walls))
    };
    let theirs = || -> Any<f64> {
        let output = Command::new(&plain)
            .args([BYTES.to_string(), ROUNDS.to_string()])
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let mut walls: Vec<f64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        Ok(median(&mut walls))
    };
    let (mut ratios, mut itself) = (Vec::new(), Vec::new());
    for _ in 0..ALTERNATIONS {
        let (mut a, mut b, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for launch in 0..LAUNCHES {
            // Each of the three is first, second and last in turn.
            for place in 0..3 {
                match (launch + place) % 3 {
                    0 => a.push(ours()?),
                    1 => b.push(theirs()?),
                    _ => again.push(theirs()?),
                }
            }
        }
        let base = median(&mut b);
        ratios.push(median(&mut a) / base);
        itself.push(median(&mut again) / base);
    }
    let show = |what: &str, ratios: &mut [f64]| {
        let middle = median(ratios);
        println!(
            "touch: {what}: median {middle:.3} ({:.3} to {:.3})",
            ratios[0],
            ratios[ratios.len() - 1]
        );
    };
    let pages = BYTES / 4096;
    println!(
        "touch: {pages} pages, {ALTERNATIONS} alternations of {LAUNCHES} launches of each program"
    );
    show("worker / stand-alone loop", &mut ratios);
    show("stand-alone loop / itself", &mut itself);
    Ok(())
}

/// A real run: the laboratory's share of CPU time and its peak resident size.
fn laboratory(place: &Path, cache: &Path) -> Any<()> {
    let out = place.join("run");
    let mut command = pagewise();
    command
        .env("XDG_CACHE_HOME", cache)
        .args(["run", "fault", "--budget", "30s", "--out"])
        .arg(&out);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0_u64;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        peak_kib = line
            .and_then(|l| l.split_whitespace().next()?.parse().ok())
            .map_or(peak_kib, |kib: u64| kib.max(peak_kib));
        std::thread::sleep(Duration::from_millis(50));
    }
    let (mut cpu, mut wall) = (0.0, 0.0);
    for line in fs::read_to_string(out.join("launches.jsonl"))?.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        cpu += record["laboratory_cpu_s"].as_f64().unwrap_or(0.0);
        wall += record["wall_s"].as_f64().unwrap_or(0.0);
    }
    println!(
        "laboratory: {:.3} % of the wall time of launches; peak RSS {:.1} MiB",
        100.0 * cpu / wall,
        peak_kib as f64 / 1024.0
    );
    Ok(())
}

/// Every verb that says what there is begins like this one: it must be there before anybody notices.
fn list(cache: &Path) -> Any<()> {
    let mut times = Vec::new();
    for _ in 0..101 {
        let start = Instant::now();
        pagewise()
            .env("XDG_CACHE_HOME", cache)
            .arg("list")
            .stdout(Stdio::null())
            .status()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let median = median(&mut times);
    println!("list: median {median:.1} ms");
    if median < LIST_MS {
        Ok(())
    } else {
        Err(format!("list takes more than {LIST_MS} ms").into())
    }
}

fn build(place: &Path) -> Any<()> {
    let start = Instant::now();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let done = Command::new(cargo)
        .args(["build", "--release", "--target-dir"])
        .arg(place.join("target"))
        .status()?;
    println!(
        "clean release build: {:.0} s ({done})",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn main() -> Any<()> {
    let place = std::env::temp_dir().join(format!("pagewise-bench-{}", std::process::id()));
    let cache = place.join("cache");
    fs::create_dir_all(&cache)?;
    let listed = list(&cache);
    if listed.is_err() || std::env::args().any(|a| a == "list") {
        fs::remove_dir_all(&place)?;
        return listed;
    }
    let program = native::worker("c-O3", &cache);
    let result = null_cost(&program)
        .and_then(|()| against_plain(&program, &place))
        .and_then(|()| laboratory(&place, &cache));
    let result = result.and_then(|()| {
        if std::env::args().any(|a| a == "build") {
            build(&place)
        } else {
            Ok(())
        }
    });
    fs::remove_dir_all(&place)?;
    result
}
