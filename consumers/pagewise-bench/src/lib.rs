//! Your own functions under Pagewise's stopwatch, as a target of `cargo bench` (`harness = false`):
//!
//! ```no_run
//! fn grow(run: &mut pagewise_bench::Run) {
//!     let v = run.phase("fill", || (0..run_length()).collect::<Vec<u64>>());
//!     run.result(v.iter().sum());
//! }
//! # fn run_length() -> u64 { 1000 }
//! # fn reserve(run: &mut pagewise_bench::Run) { grow(run) }
//! pagewise_bench::main! { grow: ["fill"], reserve: ["fill"] }
//! ```
//!
//! `cargo bench` starts `pagewise bench` with this program, which then is the worker that measures (`workers/PROTOCOL.md`).
//! Parameters stand before the functions: `main! { [bytes = "1MiB,64MiB"] fill, copy }`. Options follow two hyphens:
//! `cargo bench --bench vectors -- --budget 20s`. `cargo test` runs each function once.
#![forbid(unsafe_code)]

mod request;
mod stopwatch;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use request::Request;
use stopwatch::{Counters, Traced};

/// Name of the phase of a function that is timed as a whole.
const WHOLE: &str = "run";

/// Base columns of a transcript.
const COLUMNS: &str = "slot\tround\tcell\tphase\tops\tbytes\tstart_ns\twall_ns\tcpu_ns\tuser_ns\tsystem_ns\tminor_faults\
                       \tmajor_faults\tvoluntary_switches\tinvoluntary_switches";

/// A turn that takes less follows turns of itself for so long that are not recorded, in nanoseconds.
const SHORT_TURN_NS: u64 = 1_000_000;
const SETTLING_NS: u64 = 20_000;

static TRACED: OnceLock<Traced> = OnceLock::new();

/// A function to measure; [`main!`] makes them.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its phases, in order; none where it is timed as a whole.
    pub phases: &'static [&'static str],
    /// The function.
    pub body: fn(&mut Run),
}

/// A parameter with its values: `("bytes", "1MiB,64MiB")`. Sizes end in B.
pub type Param = (&'static str, &'static str);

/// One turn of a function.
#[derive(Debug, Default)]
pub struct Run {
    values: BTreeMap<String, u64>,
    place: (u32, i32, usize),
    operations: u64,
    result: Option<u64>,
    skipped: Option<String>,
    open: Option<&'static str>,
    samples: Vec<String>,
}

impl Run {
    /// Times a body and nothing else.
    pub fn phase<T>(&mut self, name: &'static str, body: impl FnOnce() -> T) -> T {
        self.open = Some(name);
        let before = Counters::read();
        let traced = TRACED.get_or_init(Traced::open);
        let counts = traced.read();
        let start_ns = stopwatch::now_ns();
        let value = body();
        let wall_ns = stopwatch::now_ns() - start_ns;
        let counts = traced.between(&counts, &traced.read());
        let spent = Counters::read().since(&before);
        self.open = None;
        let (slot, round, cell) = self.place;
        let bytes = self.values.get("bytes").copied().unwrap_or(0);
        let operations = self.operations.max(1);
        let place = format!("{slot}\t{round}\t{cell}\t{name}");
        self.samples.push(format!("sample\t{place}\t{operations}\t{bytes}\t{start_ns}\t{wall_ns}{spent}{counts}"));
        value
    }

    /// The value of a parameter in this turn.
    ///
    /// # Panics
    /// There is no such parameter.
    pub fn value(&self, name: &str) -> u64 {
        *self.values.get(name).unwrap_or_else(|| panic!("there is no parameter {name}"))
    }

    /// Sets the operations in each phase that follows, such as records read: figures are also given for one.
    pub fn operations(&mut self, count: u64) {
        self.operations = count;
    }

    /// The number that the work came to; every function must come to the same.
    pub fn result(&mut self, value: u64) {
        self.result = Some(value);
    }

    /// Says that the machine cannot do this; return afterwards.
    pub fn skip(&mut self, reason: &str) {
        self.skipped = Some(reason.replace(['\t', '\n'], " "));
    }
}

/// Names the functions of a bench target; the first is the baseline. See the crate's documentation.
#[macro_export]
macro_rules! main {
    ($([$param:ident = $values:literal])* $($function:ident $(: [$($phase:literal),+])?),+ $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::run(
                &[$((stringify!($param), $values)),*],
                &[$($crate::Function {
                    name: stringify!($function),
                    phases: &[$($($phase),+)?],
                    body: $function,
                }),+],
            )
        }
    };
}

/// Starts Pagewise, is its worker, or runs each function once: by the arguments and the standard input.
pub fn run(params: &[Param], functions: &[Function]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        print!("{}", list(params, functions));
    } else if arguments.iter().any(|argument| argument == "--bench") {
        return measured(arguments.into_iter().filter(|argument| argument != "--bench"));
    } else {
        let mut text = String::new();
        let is_request = std::io::stdin().read_to_string(&mut text).is_ok() && text.starts_with("protocol=1\n");
        if is_request {
            return worked(&text, functions);
        }
        for function in functions {
            let values = params.iter().map(|(name, values)| ((*name).to_owned(), first_of(values))).collect();
            (function.body)(&mut Run { values, ..Run::default() });
            println!("test {} ... ok", function.name);
        }
    }
    ExitCode::SUCCESS
}

/// Becomes `pagewise bench` with this program.
fn measured(arguments: impl Iterator<Item = String>) -> ExitCode {
    let pagewise = std::env::var_os("PAGEWISE").unwrap_or_else(|| "pagewise".into());
    let program = std::env::current_exe().unwrap_or_default();
    let error = Command::new(&pagewise).arg("bench").arg(program).args(arguments).exec();
    eprintln!("{} cannot be started: {error}; it belongs in PATH or PAGEWISE", pagewise.display());
    ExitCode::FAILURE
}

fn kind_of(values: &str) -> &'static str {
    if values.ends_with('B') { "size" } else { "number" }
}

/// The first of a parameter's values as a number.
fn first_of(values: &str) -> u64 {
    let first = values.split(',').next().unwrap_or_default().trim();
    let digits = first.find(|c: char| !c.is_ascii_digit()).unwrap_or(first.len());
    let shift = match &first[digits..] {
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => 0,
    };
    first[..digits].parse::<u64>().unwrap_or(1) << shift
}

fn phases(function: &Function) -> Vec<&'static str> {
    if function.phases.is_empty() { vec![WHOLE] } else { function.phases.to_vec() }
}

/// Name of the worker: that of its program's file.
fn about() -> String {
    let program = std::env::args_os().next().map(std::path::PathBuf::from).unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let optimised = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
    let page = stopwatch::page_bytes();
    format!("pagewise\t1\t{name}\nabout\tcompiler\trustc\nabout\tmethod_flags\t{optimised}\nabout\tpage_bytes\t{page}\n")
}

fn list(params: &[Param], functions: &[Function]) -> String {
    let mut text = about();
    let keys: Vec<String> = params.iter().map(|(name, values)| format!("{name}:{}", kind_of(values))).collect();
    for (name, values) in params {
        let _ = writeln!(text, "about\tparameter\t{name}\t{}\t{values}", kind_of(values));
    }
    let _ = writeln!(text, "about\tbaseline\t{}\nabout\tresults\tyes", functions[0].name);
    let mut method = |name: &str, role: &str, phases: Vec<&str>| {
        let (phases, keys) = (phases.join(" "), keys.join(" "));
        let _ = writeln!(
            text,
            "method\tbench\t{name}\trole={role}\tsummary={name}\tphases={phases}\tkeys={keys}\tmemory=0\tisolation=shared"
        );
    };
    functions.iter().for_each(|function| method(function.name, "method", phases(function)));
    method("empty", "null", all_phases(functions));
    text
}

/// The phases of all functions, in order.
fn all_phases(functions: &[Function]) -> Vec<&'static str> {
    let mut all = Vec::new();
    functions.iter().flat_map(phases).for_each(|phase| {
        if !all.contains(&phase) {
            all.push(phase);
        }
    });
    all
}

/// Standard output, which is the transcript. From now on what a function prints goes nowhere.
fn transcript() -> std::io::Result<File> {
    let transcript = std::io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(transcript.into())
}

/// Runs a request and writes its transcript.
fn worked(text: &str, functions: &[Function]) -> ExitCode {
    let request = match Request::read(text) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let transcript = transcript();
    let mut written = about() + &format!("columns\t{COLUMNS}{}\n", TRACED.get_or_init(Traced::open).columns());
    let (mut samples, mut facts, mut endings) = (Vec::new(), String::new(), String::new());
    let mut ended = vec![false; request.cells.len()];
    let mut least_ns = vec![u64::MAX; request.cells.len()];
    let is_timed = TRACED.get_or_init(Traced::open).columns().is_empty();
    let order = request.rounds.iter().flat_map(|(round, cells)| cells.iter().map(|cell| (*round, *cell)));
    std::panic::set_hook(Box::new(|_| {}));
    for (slot, (round, cell)) in (0u32..).zip(order) {
        if ended[cell] {
            continue;
        }
        let (method, values) = &request.cells[cell];
        let mut run = Run { values: values.clone(), place: (slot, round, cell), ..Run::default() };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if is_timed && least_ns[cell] < SHORT_TURN_NS {
                settle(values, method, functions);
            }
            let start_ns = stopwatch::now_ns();
            turn(&mut run, method, functions);
            least_ns[cell] = least_ns[cell].min(stopwatch::now_ns() - start_ns);
        }));
        if let Err(panic) = outcome {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let message = message.unwrap_or_default().replace(['\t', '\n'], " ");
            let phase = run.open.unwrap_or("-");
            let _ = writeln!(endings, "fail\t{slot}\t{cell}\t{phase}\tpanic\t0\t{message}");
            ended[cell] = true;
        } else if let Some(reason) = &run.skipped {
            let _ = writeln!(endings, "skip\t{cell}\t{reason}");
            ended[cell] = true;
        }
        if let Some(result) = run.result {
            let _ = writeln!(facts, "fact\t{slot}\t{cell}\tdigest\t{result:016x}");
        }
        samples.append(&mut run.samples);
    }
    samples.iter().for_each(|sample| written += &format!("{sample}\n"));
    written += &format!("{facts}{endings}done\t{}\n", samples.len());
    match transcript.and_then(|mut transcript| transcript.write_all(written.as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the transcript cannot be written: {error}");
            ExitCode::from(3)
        }
    }
}

/// Has a short turn follow turns of itself, as the workers of `pagewise bench` do, so that all find the processor alike.
fn settle(values: &BTreeMap<String, u64>, method: &str, functions: &[Function]) {
    let start_ns = stopwatch::now_ns();
    loop {
        turn(&mut Run { values: values.clone(), ..Run::default() }, method, functions);
        if stopwatch::now_ns() - start_ns >= SETTLING_NS {
            return;
        }
    }
}

/// One turn of a method; the empty one passes every phase.
fn turn(run: &mut Run, method: &str, functions: &[Function]) {
    match functions.iter().find(|function| function.name == method) {
        Some(function) if function.phases.is_empty() => {
            let mut inner = Run { values: run.values.clone(), ..Run::default() };
            run.phase(WHOLE, || (function.body)(&mut inner));
            (run.result, run.skipped) = (inner.result, inner.skipped);
        }
        Some(function) => (function.body)(run),
        None => all_phases(functions).into_iter().for_each(|phase| run.phase(phase, || {})),
    }
}
