//! `read/read` and `read/mmap` over a cached file with consume=sum, against the same loops in a plain C program and against
//! fio where it is installed, in turn: `cargo bench --bench read`. Prints ratios; asserts nothing.
//!
//! Two processes of one program differ more than two passes within one (where its buffer's pages lie decides), so each of the
//! twelve alternations starts both programs many times, first one and then the other going first, and compares medians. The
//! plain program is written as one would without a laboratory, its loop over the words of a buffer too. `READ_BYTES`,
//! `READ_ALTERNATIONS` and `READ_LAUNCHES` replace 512 MiB, 12 and 3. A file that fits the last cache compares what the
//! programs do between passes as well: at 128 MiB the same two programs were up to 8 % apart here, by a constant half
//! millisecond a pass.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pagewise::worker::carried;

type Any<T> = Result<T, Box<dyn std::error::Error>>;

const CHUNK: u64 = 64 << 10;
/// Passes of one process. The quickest is its word: one that was switched out says nothing of the loop, and the two programs
/// are not switched out alike, since ours has worked for longer when its passes begin.
const ROUNDS: usize = 5;
/// How far the plain loop may be from ours on a quiet machine.
const WITHIN: std::ops::RangeInclusive<f64> = 0.97..=1.03;

/// The two loops without a laboratory around them: the same alignment and clock, and a fresh buffer for each pass as the worker
/// has one: the quickest of five buffers is quicker than the only one by 4 %. `plain.h` is put before them.
const PLAIN: &str = r#"
static uint64_t sum_words(const unsigned char *data, size_t bytes) {
    const uint64_t *words = (const uint64_t *)data;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / 8; i++) sum += words[i];
    return sum;
}
static uint64_t by_read(const char *path, char *buffer, size_t chunk) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t sum = 0;
    for (ssize_t got; (got = read(fd, buffer, chunk)) > 0;) sum += sum_words((const unsigned char *)buffer, got);
    close(fd);
    return sum;
}
static uint64_t by_mmap(const char *path, char *at, size_t bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    uint64_t sum = sum_words((const unsigned char *)p, bytes);
    munmap(p, bytes);
    close(fd);
    return sum;
}
int main(int argc, char **argv) {
    size_t bytes = strtoull(argv[2], NULL, 10), chunk = strtoull(argv[3], NULL, 10);
    uint64_t sum = 0;
    for (int round = 0; round < atoi(argv[4]); round++) {
        char *buffer = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        char *at = free_range(bytes);
        uint64_t start = now();
        sum += strcmp(argv[5], "read") ? by_mmap(argv[1], at, bytes) : by_read(argv[1], buffer, chunk);
        printf("%llu\n", (unsigned long long)(now() - start));
        munmap(buffer, chunk);
    }
    return sum == 1;
}
"#;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn quickest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The programs and the file, and how often they are compared.
struct Bench {
    worker: PathBuf,
    plain: PathBuf,
    file: PathBuf,
    bytes: u64,
    alternations: usize,
    launches: usize,
}

impl Bench {
    /// The sums of each slot's phases in one process, in nanoseconds.
    fn ours(&self, method: &str, consume: &str) -> Any<Vec<f64>> {
        let rounds: String = (0..ROUNDS).map(|r| format!("round={r} 0\n")).collect();
        let chunk = if method == "mmap" {
            String::new()
        } else {
            format!("chunk={CHUNK}\n")
        };
        let request = format!(
            "protocol=1\nexperiment=read\nseed=1\ncell=0\nmethod={method}\nfile={}\nbytes={}\nplace=disk\nconsume={consume}\n\
             order=sequential\ncache=hot\nmemory=unbounded\n{chunk}{rounds}",
            self.file.display(),
            self.bytes
        );
        let mut child = Command::new(&self.worker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child
            .stdin
            .take()
            .ok_or("no input")?
            .write_all(request.as_bytes())?;
        let text = String::from_utf8(child.wait_with_output()?.stdout)?;
        if let Some(ending) = text
            .lines()
            .find(|l| l.starts_with("skip") || l.starts_with("fail"))
        {
            return Err(ending.into());
        }
        let mut walls = vec![0.0; ROUNDS];
        for fields in text
            .lines()
            .map(|l| l.split('\t').collect::<Vec<_>>())
            .filter(|f| f[0] == "sample")
        {
            walls[fields[1].parse::<usize>()?] += fields[8].parse::<f64>()?;
        }
        Ok(walls)
    }

    /// The same of one process of the plain program.
    fn plain(&self, loop_name: &str) -> Any<Vec<f64>> {
        let numbers = [self.bytes, CHUNK, ROUNDS as u64].map(|n| n.to_string());
        let output = Command::new(&self.plain)
            .arg(&self.file)
            .args(numbers)
            .arg(loop_name)
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().map(str::parse).collect::<Result<_, _>>()?)
    }

    /// fio's time for one pass over the cached file. Its psync engine reads and looks at nothing; its mmap engine copies.
    fn fio(&self, engine: &str) -> Any<f64> {
        let output = Command::new("fio")
            .args([
                "--name=pass",
                "--rw=read",
                "--invalidate=0",
                "--output-format=json",
                "--group_reporting",
            ])
            .arg(format!("--filename={}", self.file.display()))
            .args([format!("--ioengine={engine}"), format!("--bs={CHUNK}")])
            .args([
                format!("--size={}", self.bytes),
                format!("--loops={ROUNDS}"),
            ])
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let json: serde_json::Value =
            serde_json::from_str(&text[text.find('{').ok_or("fio says nothing")?..])?;
        let rate = json["jobs"][0]["read"]["bw_bytes"]
            .as_f64()
            .ok_or("fio has no rate")?;
        Ok(self.bytes as f64 / rate * 1e9)
    }

    /// The ratio of the medians over the launches of one alternation, for each; their median.
    fn compare(
        &self,
        name: &str,
        ours: impl Fn() -> Any<f64>,
        theirs: impl Fn() -> Any<f64>,
    ) -> Any<f64> {
        let mut ratios = Vec::new();
        for alternation in 0..self.alternations {
            let (mut mine, mut others) = (Vec::new(), Vec::new());
            for launch in 0..self.launches {
                if (alternation + launch) % 2 == 0 {
                    mine.push(ours()?);
                    others.push(theirs()?);
                } else {
                    others.push(theirs()?);
                    mine.push(ours()?);
                }
            }
            ratios.push(median(&mut mine) / median(&mut others));
        }
        let (low, high) = ratios
            .iter()
            .fold((f64::MAX, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let (all, each, middle) = (self.alternations, self.launches, median(&mut ratios));
        println!(
            "{name}: median {middle:.3} ({low:.3} to {high:.3}, {all} alternations of {each} launches each)"
        );
        Ok(middle)
    }
}

fn main() -> Any<()> {
    let place = std::env::temp_dir().join(format!("pagewise-bench-read-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let result = prepared(&place).and_then(|bench| measure(&bench));
    fs::remove_dir_all(&place)?;
    result
}

/// The worker, the plain program made of the worker's own sum by its own flags, and the capture.
fn prepared(place: &Path) -> Any<Bench> {
    let number = |name: &str, usual: u64| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(usual)
    };
    let bench = Bench {
        worker: place.join("worker"),
        plain: place.join("plain"),
        file: place.join("capture.pcap"),
        bytes: number("READ_BYTES", 512 << 20),
        alternations: number("READ_ALTERNATIONS", 12) as usize,
        launches: number("READ_LAUNCHES", 3) as usize,
    };
    let helper = place.join("pagewise-helper");
    let install = |bytes: &[u8], path: &Path| {
        fs::write(place.join("carried"), bytes)?;
        Command::new("install")
            .args(["-m", "755"])
            .arg(place.join("carried"))
            .arg(path)
            .status()
    };
    let installed = install(
        &carried::NATIVE_WORKERS
            .last()
            .ok_or("no worker is carried")?
            .1
            .content(),
        &bench.worker,
    )?;
    install(&carried::HELPER.content(), &helper)?;
    let said = String::from_utf8(Command::new(&bench.worker).arg("--list").output()?.stdout)?;
    let flags = said
        .lines()
        .find_map(|l| l.strip_prefix("about\tmethod_flags\t"))
        .ok_or("the worker names no flags")?;
    let source = place.join("plain.c");
    fs::write(&source, [include_str!("plain.h"), PLAIN].concat())?;
    let mut compiler = Command::new("cc");
    compiler
        .args(flags.split(' '))
        .args(["-w", "-o"])
        .args([&bench.plain, &source]);
    if !installed.success() || !compiler.status()?.success() {
        return Err("the plain program does not compile".into());
    }
    let mut make = Command::new(&helper);
    if !make
        .arg("make-capture")
        .arg(&bench.file)
        .args([bench.bytes.to_string(), "1".to_owned()])
        .status()?
        .success()
    {
        return Err("the capture cannot be made".into());
    }
    Ok(bench)
}

fn measure(bench: &Bench) -> Any<()> {
    for name in ["read", "mmap"] {
        let words = format!("{name}, cached, sum: worker / plain loop");
        let ratio = bench.compare(
            &words,
            || Ok(quickest(&bench.ours(name, "sum")?)),
            || Ok(quickest(&bench.plain(name)?)),
        )?;
        let verdict = if WITHIN.contains(&ratio) {
            "within"
        } else {
            "outside"
        };
        println!("    {verdict} {:.2} to {:.2}", WITHIN.start(), WITHIN.end());
    }
    if Command::new("fio")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        println!("fio is not installed");
        return Ok(());
    }
    let words = "read, cached, nothing consumed: worker / fio psync";
    bench.compare(
        words,
        || Ok(median(&mut bench.ours("read", "none")?)),
        || bench.fio("psync"),
    )?;
    let words = "mmap, cached, sum: worker / fio mmap (which copies)";
    bench.compare(
        words,
        || Ok(median(&mut bench.ours("mmap", "sum")?)),
        || bench.fio("mmap"),
    )?;
    Ok(())
}
