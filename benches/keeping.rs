//! What keeping runs costs. Judging a run of 3,000 launches, from the record to the summary, must take less than 1.2 s and
//! 200 MiB (a million samples in memory: `judging.rs`), its whole report less than 3 s; reading it less than 0.5 s; the list of
//! ten thousand kept runs less than 1 s; a page opens in Chromium in less than 1 s (PAGEWISE_PAGE names another than a recorded
//! overview's).
//!
//! `cargo bench --bench keeping` multiplies a recorded run (`tests/fixtures/runs`) and a short one of its own, prints
//! the figures and fails where a limit is exceeded; `-- judging` (or `reading`, `list`, `page`) takes that part alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use record::folder::RunFolder;

const JUDGED: (Duration, f64) = (Duration::from_millis(1200), 200.0);
const REPORT: Duration = Duration::from_secs(3);
const LAUNCHES: usize = 3_000;
const READ: Duration = Duration::from_millis(500);
const RUNS: usize = 10_000;
const LIST: Duration = Duration::from_secs(1);
const OPEN_MS: f64 = 1000.0;

fn main() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut kept = true;
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let asked = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    kept &= !asked("reading") || reading(place.path(), &recorded);
    kept &= !asked("list") || list(place.path(), &recorded);
    kept &= !asked("judging") || judging(place.path());
    kept &= !asked("page") || page(place.path());
    assert!(kept, "a limit is exceeded");
}

/// A page in a real browser that runs already: from asking for it to the end of its loading, script and layout included.
fn page(place: &Path) -> bool {
    let page = std::env::var_os("PAGEWISE_PAGE").map_or_else(
        || {
            let recorded = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/crates/report/tests/fixtures/look.json"
            );
            let text = std::fs::read_to_string(recorded).expect("a recorded summary");
            let summary: record::summary::Summary =
                serde_json::from_str(&text).expect("as it was written");
            report::html::page(
                &report::view::tables(&summary, &[], None),
                report::html::of_run(&summary),
            )
        },
        |path| std::fs::read_to_string(path).expect("PAGEWISE_PAGE is a page"),
    );
    std::fs::write(place.join("page.html"), &page).expect("there is room");
    let outer = "<!DOCTYPE html><pre id=found></pre><script>
        const begun = performance.now(), frame = document.createElement('iframe');
        frame.width = 1280; frame.height = 900;
        frame.onload = () => {
            frame.contentDocument.body.getBoundingClientRect();
            document.getElementById('found').textContent = `took ${performance.now() - begun} ms`;
        };
        frame.src = 'page.html';
        document.body.append(frame);
        </script>";
    std::fs::write(place.join("outer.html"), outer).expect("there is room");
    let mut browser = Command::new("chromium");
    browser.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--dump-dom",
    ]);
    browser.arg(format!(
        "--user-data-dir={}",
        place.join("browser").display()
    ));
    browser
        .arg(format!("file://{}", place.join("outer.html").display()))
        .stderr(Stdio::null());
    let Ok(output) = browser.output() else {
        println!("page: there is no Chromium here");
        return true;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let took = text
        .split("took ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    let took = took.unwrap_or_else(|| panic!("the page did not open: {text}"));
    println!(
        "page of {} bytes opens in Chromium: {took:.0} ms",
        page.len()
    );
    took < OPEN_MS
}

fn pagewise(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagewise"));
    command
        .env("XDG_DATA_HOME", place.join("data"))
        .env("XDG_CACHE_HOME", place.join("cache"));
    command
}

/// A run with the launches of a small one, again and again, until it has so many; their number and that of their samples.
fn multiplied(from: &RunFolder, to: &RunFolder, most: usize) -> (usize, usize) {
    for name in ["plan.json", "environment.json", "preflight.json"] {
        let value: serde_json::Value = from.read_sealed(name).expect("as it was written");
        to.write_sealed(name, &value).expect("there is room");
    }
    for decision in from.decisions().expect("as they were written") {
        to.append_decision(&decision).expect("there is room");
    }
    let launches = from.launches().expect("as they were written").records;
    let judged: Vec<_> = launches.into_iter().filter(|l| l.block >= 0).collect();
    let parts: Vec<_> = judged
        .iter()
        .map(|l| from.reader().parts(l).expect("as it was written"))
        .collect();
    let (mut samples, mut launch) = (0, 0);
    while launch < most {
        let (mut record, parts) = (
            judged[launch % judged.len()].clone(),
            &parts[launch % judged.len()],
        );
        (record.launch, record.block) = (launch, launch as i32);
        to.keep_launch(&mut record, parts).expect("there is room");
        let of = |bytes: &[u8]| {
            bytes
                .split(|b| *b == b'\n')
                .filter(|l| l.starts_with(b"sample\t"))
                .count()
        };
        samples += parts.iter().map(|p| of(&p.bytes)).sum::<usize>();
        launch += 1;
    }
    (launch, samples)
}

/// The whole path: plan, decisions, launches and transcripts are read, and the summary is judged from them.
fn judging(place: &Path) -> bool {
    // An overview has 800 launches.
    let run = place.join("run");
    let words = [
        "run",
        "fault/touch@c-O3",
        "fault/populate@c-O3",
        "--set",
        "bytes=64KiB",
        "--budget",
        "5s",
        "--out",
    ];
    assert!(
        pagewise(place)
            .args(words)
            .arg(&run)
            .stdout(Stdio::null())
            .status()
            .expect("it starts")
            .success()
    );
    let to = RunFolder::create(&place.join("large")).expect("a new folder");
    let (launches, samples) = multiplied(&open(&run), &to, LAUNCHES);
    let start = Instant::now();
    pagewise::run::session::replay(&to).expect("it is as it was written");
    let (took, peak) = (start.elapsed(), peak_mib());
    println!(
        "judging {samples} samples in {launches} launches, from the record: {:.2} s, {peak:.0} MiB",
        took.as_secs_f64()
    );
    let start = Instant::now();
    let mut shown = pagewise(place);
    shown.arg("report").arg(to.path()).stdout(Stdio::null());
    assert!(shown.status().expect("it starts").success());
    let whole = start.elapsed();
    println!("its report: {:.2} s", whole.as_secs_f64());
    took < JUDGED.0 && peak < JUDGED.1 && whole < REPORT
}

/// What a report of many short launches waits for before anything is judged.
fn reading(place: &Path, run: &Path) -> bool {
    let to = RunFolder::create(&place.join("many")).expect("a new folder");
    let (launches, samples) = multiplied(&open(run), &to, LAUNCHES);
    let start = Instant::now();
    to.state().expect("as it was written");
    let all = to.launches().expect("as they were written").records;
    let parts: usize = all
        .iter()
        .map(|launch| to.reader().parts(launch).expect("as it was written").len())
        .sum();
    let took = start.elapsed();
    println!(
        "reading {launches} launches ({parts} texts, {samples} samples): {:.2} s",
        took.as_secs_f64()
    );
    all.len() == LAUNCHES && took < READ
}

fn open(path: &Path) -> RunFolder {
    RunFolder::open(path.to_str().expect("UTF-8"), path).expect("a run")
}

/// Ten thousand copies of a run in a store, listed for the first time and again.
fn list(place: &Path, run: &Path) -> bool {
    let store: PathBuf = place.join("data/pagewise/runs");
    let files: Vec<PathBuf> = std::fs::read_dir(run)
        .expect("a run")
        .flatten()
        .map(|e| e.path())
        .collect();
    for n in 0..RUNS {
        let folder = store.join(format!("20261121T000000Z-{n:08x}"));
        std::fs::create_dir_all(&folder).expect("there is room");
        for file in &files {
            // Links take no room; to a reader they are files like any other.
            std::fs::hard_link(file, folder.join(file.file_name().expect("a name")))
                .expect("links can be made");
        }
    }
    let mut kept = true;
    for (what, limit) in [("the first time", None), ("again", Some(LIST))] {
        let start = Instant::now();
        let output = pagewise(place).arg("runs").output().expect("it starts");
        let took = start.elapsed();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!("{RUNS} of {RUNS} runs"))
        );
        println!("list of {RUNS} runs, {what}: {:.2} s", took.as_secs_f64());
        kept &= limit.is_none_or(|limit| took < limit);
    }
    kept
}

/// The most memory this process has held, from the kernel.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the peak of resident memory");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<f64>()
        .expect("a number")
        / 1024.0
}
