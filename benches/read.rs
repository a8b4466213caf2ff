//! `read/read` and `read/mmap` over a cached file with consume=sum, against the same loops in a plain C program and against
//! fio where it is installed, in turn: `cargo bench --bench read`. Prints ratios; asserts nothing.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use pagewise::carried;

type Any<T> = Result<T, Box<dyn std::error::Error>>;

const BYTES: u64 = 128 << 20;
const CHUNK: u64 = 64 << 10;
const ALTERNATIONS: usize = 12;
const ROUNDS: usize = 9;

/// The two loops without a laboratory around them: the same buffer, alignment, sum and clock.
const PLAIN: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
__attribute__((noinline)) static uint64_t sum_words(const char *p, size_t bytes) {
    uint64_t sum = 0, word;
    for (size_t i = 0; i < bytes; i += 8) { memcpy(&word, p + i, 8); sum += word; }
    return sum;
}
static uint64_t by_read(const char *path, char *buffer, size_t chunk) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t sum = 0;
    for (ssize_t got; (got = read(fd, buffer, chunk)) > 0;) sum += sum_words(buffer, got);
    close(fd);
    return sum;
}
static uint64_t by_mmap(const char *path, char *at, size_t bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    uint64_t sum = sum_words(p, bytes);
    munmap(p, bytes);
    close(fd);
    return sum;
}
int main(int argc, char **argv) {
    size_t bytes = strtoull(argv[2], NULL, 10), chunk = strtoull(argv[3], NULL, 10), huge = 2 << 20;
    char *buffer = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    uint64_t sum = 0;
    for (int round = 0; round < atoi(argv[4]); round++) {
        char *area = mmap(NULL, bytes + 3 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        munmap(area, bytes + 3 * huge);
        char *at = (char *)(((uintptr_t)area + 2 * huge - 1) / huge * huge);
        uint64_t start = now();
        sum += strcmp(argv[5], "read") ? by_mmap(argv[1], at, bytes) : by_read(argv[1], buffer, chunk);
        printf("%llu\n", (unsigned long long)(now() - start));
    }
    return sum == 1;
}
"#;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The sum of a slot's phases, median over rounds, in nanoseconds.
fn ours(program: &Path, file: &Path, method: &str, consume: &str) -> Any<f64> {
    let rounds: String = (0..ROUNDS).map(|r| format!("round={r} 0\n")).collect();
    let chunk = if method == "mmap" { String::new() } else { format!("chunk={CHUNK}\n") };
    let request = format!(
        "protocol=1\nexperiment=read\nseed=1\ncell=0\nmethod={method}\nfile={}\nbytes={BYTES}\nplace=disk\nconsume={consume}\n\
         order=sequential\ncache=hot\nmemory=unbounded\n{chunk}{rounds}",
        file.display()
    );
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(request.as_bytes())?;
    let text = String::from_utf8(child.wait_with_output()?.stdout)?;
    let mut walls = vec![0.0; ROUNDS];
    for fields in text.lines().map(|l| l.split('\t').collect::<Vec<_>>()).filter(|f| f[0] == "sample") {
        walls[fields[1].parse::<usize>()?] += fields[8].parse::<f64>()?;
    }
    Ok(median(&mut walls))
}

fn plain(program: &Path, file: &Path, loop_name: &str) -> Any<f64> {
    let numbers = [BYTES, CHUNK, ROUNDS as u64].map(|n| n.to_string());
    let output = Command::new(program).arg(file).args(numbers).arg(loop_name).output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut walls: Vec<f64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    Ok(median(&mut walls))
}

/// fio's time for one pass over the cached file. Its psync engine reads and looks at nothing; its mmap engine copies.
fn fio(file: &Path, engine: &str) -> Any<f64> {
    let output = Command::new("fio")
        .args(["--name=pass", "--rw=read", "--invalidate=0", "--output-format=json", "--group_reporting"])
        .arg(format!("--filename={}", file.display()))
        .args([
            format!("--ioengine={engine}"),
            format!("--bs={CHUNK}"),
            format!("--size={BYTES}"),
            format!("--loops={ROUNDS}"),
        ])
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').ok_or("fio says nothing")?..])?;
    let rate = json["jobs"][0]["read"]["bw_bytes"].as_f64().ok_or("fio has no rate")?;
    Ok(BYTES as f64 / rate * 1e9)
}

/// Measures both alternately, each first as often as second, and prints the ratio.
fn compare(name: &str, mut a: impl FnMut() -> Any<f64>, mut b: impl FnMut() -> Any<f64>) -> Any<()> {
    let mut ratios = Vec::new();
    for turn in 0..ALTERNATIONS {
        let (mine, theirs) = if turn % 2 == 0 {
            let mine = a()?;
            (mine, b()?)
        } else {
            let theirs = b()?;
            (a()?, theirs)
        };
        ratios.push(mine / theirs);
    }
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    println!("{name}: median {:.3} ({low:.3} to {high:.3}, {ALTERNATIONS} alternations)", median(&mut ratios));
    Ok(())
}

fn main() -> Any<()> {
    let place = std::env::temp_dir().join(format!("pagewise-bench-read-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let result = measure(&place);
    fs::remove_dir_all(&place)?;
    result
}

fn measure(place: &Path) -> Any<()> {
    use std::os::unix::fs::PermissionsExt;
    let (worker, program, file) = (place.join("worker"), place.join("plain"), place.join("capture.pcap"));
    fs::write(&worker, carried::NATIVE_WORKERS.last().ok_or("no worker is carried")?.1)?;
    fs::set_permissions(&worker, fs::Permissions::from_mode(0o755))?;
    fs::write(place.join("plain.c"), PLAIN)?;
    let flags = ["-O3", "-w", "-fno-tree-loop-distribute-patterns", "-o"];
    if !Command::new("cc").args(flags).args([&program, &place.join("plain.c")]).status()?.success() {
        return Err("the plain program does not compile".into());
    }
    let made =
        Command::new(&worker).arg("make-capture").arg(&file).args([BYTES.to_string(), "1".to_owned()]).status()?;
    if !made.success() {
        return Err("the capture cannot be made".into());
    }
    for name in ["read", "mmap"] {
        let words = format!("{name}, cached, sum: worker / plain loop");
        compare(&words, || ours(&worker, &file, name, "sum"), || plain(&program, &file, name))?;
    }
    if Command::new("fio").arg("--version").stdout(Stdio::null()).status().is_ok() {
        compare(
            "read, cached, nothing consumed: worker / fio psync",
            || ours(&worker, &file, "read", "none"),
            || fio(&file, "psync"),
        )?;
        compare(
            "mmap, cached, sum: worker / fio mmap (which copies)",
            || ours(&worker, &file, "mmap", "sum"),
            || fio(&file, "mmap"),
        )?;
    } else {
        println!("fio is not installed");
    }
    Ok(())
}
