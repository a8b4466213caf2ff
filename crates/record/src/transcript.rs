//! The words between laboratory and worker: the text of a request, and the lines of a transcript. See `workers/PROTOCOL.md`.

use crate::{cell::Cell, machine_state::STATE, outcome::Cause};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::{collections::BTreeMap, io::BufRead};

/// Phase from the earlier side's start to the later side's end, which the laboratory adds where there are two sides.
pub const OVERALL: &str = "overall";
/// Fact that holds the digest of what a sample made.
pub const DIGEST: &str = "digest";

/// Defines the numbers of a sample by their names, each once.
macro_rules! counts {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// Numbers of one sample, in the order of the protocol's base columns after `phase`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts { $($(#[$meaning])* pub $name: u64,)* }

        /// Names of [`Counts`], in order.
        pub const COLUMNS: [&str; 11] = [$(stringify!($name)),*];

        impl Counts {
            /// From the columns' order.
            #[inline]
            pub fn from_array([$($name),*]: [u64; 11]) -> Counts {
                Counts { $($name),* }
            }

            /// In the columns' order.
            #[inline]
            pub fn to_array(self) -> [u64; 11] {
                [$(self.$name),*]
            }

            /// Value of a column by its name; `None` for no base column.
            pub fn column(&self, name: &str) -> Option<u64> {
                $(if name == stringify!($name) {
                    return Some(self.$name);
                })*
                None
            }
        }
    };
}

counts! {
    /// Operations: pages, messages, calls.
    ops,
    /// Payload in bytes.
    bytes,
    /// `CLOCK_MONOTONIC` at the start.
    start_ns,
    /// Wall time.
    wall_ns,
    /// CPU time of the process and its threads.
    cpu_ns,
    /// The kernel's split: user mode.
    user_ns,
    /// The kernel's split: kernel mode.
    system_ns,
    /// Page faults without I/O.
    minor_faults,
    /// Page faults with I/O.
    major_faults,
    /// Context switches in which a thread waited.
    voluntary_switches,
    /// Context switches in which a thread was preempted.
    involuntary_switches,
}

/// One timed phase call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of the slot in the request.
    pub slot: u32,
    /// Negative in warm-up rounds.
    pub round: i32,
    /// Number of the cell in the request.
    pub cell: u32,
    /// Index into [`Transcript::phases`].
    pub phase: u16,
    /// Counters of the phase.
    pub counts: Counts,
    /// Further columns, in the order of [`Transcript::extra_columns`].
    pub extra: Vec<u64>,
}

/// A worker's own account of a cell that did not run through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum SideEnding {
    /// This machine cannot do it.
    Skip { cell: u32, reason: String },
    /// A call failed in a phase, `-` between phases.
    Fail {
        cell: u32,
        call: String,
        phase: String,
        error: String,
    },
    Crash {
        /// Cell within the request, where one was running.
        cell: Option<u32>,
        /// The phase it came in, `-` between phases.
        phase: String,
        /// `SIGBUS` …
        signal: String,
    },
}

impl SideEnding {
    /// The cell within the request that did not run through.
    pub fn cell(&self) -> Option<u32> {
        match self {
            SideEnding::Skip { cell, .. } | SideEnding::Fail { cell, .. } => Some(*cell),
            SideEnding::Crash { cell, .. } => *cell,
        }
    }

    /// The cause of the cell's outcome. A skip that ends in `: sudo sysctl NAME=NUMBER` names a setting of the kernel that
    /// would provide what is missing.
    pub fn cause(&self) -> Cause {
        match self.clone() {
            SideEnding::Skip { reason: text, .. } => {
                let setting = text
                    .rsplit_once(": sudo sysctl ")
                    .and_then(|(_, setting)| setting.split_once('='));
                let setting =
                    setting.and_then(|(name, least)| Some((name.to_owned(), least.parse().ok()?)));
                match setting {
                    Some((name, least)) => Cause::Setting {
                        name,
                        least,
                        text: Some(text),
                    },
                    None => Cause::Lacks { text },
                }
            }
            SideEnding::Fail {
                call, phase, error, ..
            } => Cause::Call { call, phase, error },
            SideEnding::Crash { phase, signal, .. } => Cause::Crash {
                signal,
                phase,
                end: None,
            },
        }
    }
}

/// Everything one worker wrote in one launch.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Name of the worker by its own account.
    pub worker: String,
    /// Compiler, flags, libraries, clock cost.
    pub about: BTreeMap<String, String>,
    /// Names of phases, which samples refer to by index.
    pub phases: Vec<String>,
    /// Names of columns beyond the base set.
    pub extra_columns: Vec<String>,
    /// Samples in the order of the lines.
    pub samples: Vec<Sample>,
    /// Facts by slot, as pairs of key and value.
    pub facts: BTreeMap<u32, Vec<(String, String)>>,
    /// Latency counts by slot: lower and upper bound of the bucket in nanoseconds, and how many trips fell into it.
    pub latencies: BTreeMap<u32, Vec<(u64, u64, u64)>>,
    /// The same of operations while nothing else of the slot ran.
    pub idle: BTreeMap<u32, Vec<(u64, u64, u64)>>,
    /// Cells that did not run through.
    pub endings: Vec<SideEnding>,
    /// Optional columns that this machine cannot fill, with the reason.
    pub absent: BTreeMap<String, String>,
    /// True if the closing line is there and tells the truth.
    pub done: bool,
}

impl Transcript {
    /// Reads a transcript line by line. A wrong line is an error that names its number; a missing `done` is not: it leaves
    /// [`Transcript::done`] false.
    pub fn read(input: impl BufRead) -> Result<Transcript> {
        let mut input = input;
        let mut transcript = Transcript::default();
        let (mut columns, mut number, mut bytes) = (0, 0, Vec::new());
        loop {
            bytes.clear();
            let mut next = || -> Result<bool> {
                if let Some(length) = transcript.usual(input.fill_buf()?, columns) {
                    input.consume(length);
                    return Ok(true);
                }
                if input.read_until(b'\n', &mut bytes)? == 0 {
                    return Ok(false);
                }
                let line = std::str::from_utf8(&bytes)?;
                let line = line.strip_suffix('\n').unwrap_or(line);
                transcript.take(
                    line.strip_suffix('\r').unwrap_or(line),
                    number,
                    &mut columns,
                )?;
                Ok(true)
            };
            if !next().with_context(|| format!("transcript line {}", number + 1))? {
                return Ok(transcript);
            }
            number += 1;
        }
    }

    /// Takes a sample's line as workers write it, of a phase that is known, with its end: its length in bytes, or none and
    /// nothing taken where it is anything else, which is for [`Transcript::take`] to judge. Nearly all lines are such ones.
    fn usual(&mut self, text: &[u8], columns: usize) -> Option<usize> {
        let further = columns
            .checked_sub(4 + COLUMNS.len())
            .filter(|_| !self.done)?;
        let mut line = TranscriptLine {
            rest: text.strip_prefix(b"sample\t")?,
        };
        let slot = line.number()?;
        let is_before = line.rest.first() == Some(&b'-');
        line.rest = &line.rest[usize::from(is_before)..];
        let round = i32::try_from(line.number()?).ok()?;
        let cell = line.number()?;
        let after = |name: &String| line.rest.strip_prefix(name.as_bytes())?.strip_prefix(b"\t");
        let (phase, rest) = self
            .phases
            .iter()
            .enumerate()
            .find_map(|(i, name)| Some((i, after(name)?)))?;
        line.rest = rest;
        let mut counts = [0_u64; COLUMNS.len()];
        let (last, all_but) = counts.split_last_mut()?;
        for into in all_but {
            *into = line.number()?;
        }
        let mut extra = Vec::new();
        *last = if further > 0 {
            line.number()?
        } else {
            line.last()?
        };
        for column in 1..=further {
            extra.push(if column < further {
                line.number()?
            } else {
                line.last()?
            });
        }
        let (slot, cell, phase) = (
            u32::try_from(slot).ok()?,
            u32::try_from(cell).ok()?,
            u16::try_from(phase).ok()?,
        );
        if self.samples.capacity() == 0 {
            self.samples.reserve(text.len() / USUAL_LINE_BYTES);
        }
        let round = if is_before { -round } else { round };
        self.samples.push(Sample {
            slot,
            round,
            cell,
            phase,
            counts: Counts::from_array(counts),
            extra,
        });
        Some(text.len() - line.rest.len())
    }

    fn take(&mut self, line: &str, number: usize, columns: &mut usize) -> Result<()> {
        if self.done {
            bail!("something stands after the closing line");
        }
        // Nearly all lines are samples.
        if let Some(values) = line.strip_prefix("sample\t").filter(|_| number > 0) {
            return self.sample(values, *columns);
        }
        let mut fields = line.split('\t');
        let kind = fields.next().unwrap_or_default();
        if number == 0 && kind != "pagewise" {
            bail!("a transcript begins with \"pagewise\"");
        }
        let fields: Vec<&str> = fields.collect();
        match (kind, fields.as_slice()) {
            ("pagewise", ["1", worker]) if number == 0 => self.worker = (*worker).to_owned(),
            ("pagewise", _) => bail!("not protocol version 1"),
            ("about", [key, value]) => {
                self.about.insert((*key).to_owned(), (*value).to_owned());
            }
            ("columns", names) => {
                let base = ["slot", "round", "cell", "phase"];
                if names.len() < 15 || names[..4] != base || names[4..15] != COLUMNS {
                    bail!("the base columns are not those of protocol 1");
                }
                *columns = names.len();
                self.extra_columns = names[15..].iter().map(|n| (*n).to_owned()).collect();
            }
            ("fact", [slot, _cell, name, value]) => {
                self.facts
                    .entry(slot.parse()?)
                    .or_default()
                    .push(((*name).to_owned(), (*value).to_owned()));
            }
            ("latency" | "idle", [slot, _cell, low, high, count]) => {
                let counts = if kind == "idle" {
                    &mut self.idle
                } else {
                    &mut self.latencies
                };
                counts.entry(slot.parse()?).or_default().push((
                    low.parse()?,
                    high.parse()?,
                    count.parse()?,
                ));
            }
            ("skip", [cell, reason]) => {
                self.endings.push(SideEnding::Skip {
                    cell: cell.parse()?,
                    reason: (*reason).to_owned(),
                });
            }
            ("fail", [_slot, cell, phase, call, _errno, error]) => {
                let [phase, call, error] = [phase, call, error].map(|text| (*text).to_owned());
                self.endings.push(SideEnding::Fail {
                    cell: cell.parse()?,
                    call,
                    phase,
                    error,
                });
            }
            ("crash", [_slot, cell, phase, signal]) => self.endings.push(SideEnding::Crash {
                cell: cell.parse().ok(),
                phase: (*phase).to_owned(),
                signal: (*signal).to_owned(),
            }),
            ("absent", [column, reason]) => {
                self.absent
                    .insert((*column).to_owned(), (*reason).to_owned());
            }
            ("done", [count]) => {
                let claimed: usize = count.parse()?;
                if claimed != self.samples.len() {
                    bail!(
                        "the worker says it took {claimed} samples, but {} are here",
                        self.samples.len()
                    );
                }
                self.done = true;
            }
            _ => bail!(
                "{:?} with {} fields is no line of the protocol",
                excerpt(kind),
                fields.len()
            ),
        }
        Ok(())
    }

    fn sample(&mut self, values: &str, columns: usize) -> Result<()> {
        let field_count = values.bytes().filter(|byte| *byte == b'\t').count() + 1;
        if field_count != columns {
            bail!("a sample has {field_count} fields where {columns} columns were named");
        }
        let mut fields = values.as_bytes().split(|byte| *byte == b'\t');
        let mut next = || fields.next().unwrap_or_default();
        let (slot, round, cell, phase) = (count(next())?, next(), count(next())?, next());
        let round = std::str::from_utf8(round)?.parse()?;
        let known = self
            .phases
            .iter()
            .position(|known| known.as_bytes() == phase);
        if known.is_none() {
            self.phases.push(std::str::from_utf8(phase)?.to_owned());
        }
        let phase = known.unwrap_or(self.phases.len() - 1);
        let mut counts = [0_u64; COLUMNS.len()];
        for into in &mut counts {
            *into = count(next())?;
        }
        let extra = fields.map(count).collect::<Result<_>>()?;
        let (slot, cell, phase) = (
            u32::try_from(slot)?,
            u32::try_from(cell)?,
            u16::try_from(phase)?,
        );
        self.samples.push(Sample {
            slot,
            round,
            cell,
            phase,
            counts: Counts::from_array(counts),
            extra,
        });
        Ok(())
    }
}

/// Bytes of a sample's line, by which room is made for all of them.
const USUAL_LINE_BYTES: usize = 72;
/// Digits that surely make no number that is too large.
const SURE_DIGITS: usize = 19;

/// Rest of the current line, and all lines behind it.
struct TranscriptLine<'a> {
    rest: &'a [u8],
}

impl TranscriptLine<'_> {
    /// The digits up to a byte that ends them, as a number.
    fn until(&mut self, end: u8) -> Option<u64> {
        let mut sum = 0_u64;
        for (i, byte) in self.rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                self.rest = &self.rest[i + 1..];
                return (*byte == end && i > 0 && i <= SURE_DIGITS).then_some(sum);
            }
            sum = sum.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        None
    }

    fn number(&mut self) -> Option<u64> {
        self.until(b'\t')
    }

    fn last(&mut self) -> Option<u64> {
        self.until(b'\n')
    }
}

/// A count: decimal digits and nothing else.
fn count(text: &[u8]) -> Result<u64> {
    let digits = std::str::from_utf8(text)
        .ok()
        .filter(|digits| !digits.starts_with('+'));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.with_context(|| {
        let text = String::from_utf8_lossy(text);
        format!("{:?} is not a count", excerpt(&text))
    })
}

/// The beginning of a text from outside, for a sentence.
fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The transcripts of one launch, one per side; the reason where one cannot be read.
pub type Read = Vec<Result<Transcript, String>>;

/// Keys of the whole launch, apart from its cells.
#[derive(Clone, Debug, Default)]
pub struct LaunchKeys<'a> {
    /// Name of the experiment.
    pub experiment: &'a str,
    /// Number of the launch.
    pub launch: usize,
    /// Seed of orders and data.
    pub seed: u64,
    /// Side, where two take part.
    pub role: Option<char>,
    /// Socket on which the sides meet.
    pub rendezvous: Option<&'a str>,
    /// Folder in which the worker may make files.
    pub directory: Option<&'a str>,
    /// Name for what the worker makes outside of that folder.
    pub name: Option<&'a str>,
    /// The measured rounds that carry proofs; all where empty, none where no round has that number.
    pub proofs: &'a [u32],
    /// True if each phase writes a mark for a tracer.
    pub trace_marks: bool,
}

/// Writes a request. `warmup` and `rounds` hold orders of indices into `cells`.
pub fn request(
    keys: &LaunchKeys,
    cells: &[&Cell],
    warmup: &[Vec<usize>],
    rounds: &[Vec<usize>],
) -> String {
    let mut text = String::from("protocol=1\n");
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "{key}={value}").expect("writing to a string")
    };
    line("experiment", &keys.experiment);
    line("launch", &keys.launch);
    line("seed", &keys.seed);
    if let Some(role) = keys.role {
        line("role", &role);
    }
    for (key, value) in [
        ("rendezvous", keys.rendezvous),
        ("directory", keys.directory),
        ("name", keys.name),
    ] {
        if let Some(value) = value {
            line(key, &value);
        }
    }
    if !keys.proofs.is_empty() {
        line(
            "proofs",
            &keys
                .proofs
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(","),
        );
    }
    if keys.trace_marks {
        line("trace_marks", &"yes");
    } else {
        line("hardware_counters", &"yes");
    }
    for (number, cell) in cells.iter().enumerate() {
        line("cell", &number);
        line("method", &cell.method);
        // The laboratory makes the state; no worker is asked for it.
        cell.parameters
            .iter()
            .filter(|(key, _)| *key != STATE)
            .for_each(|(key, value)| line(key, value));
    }
    let joined = |order: &Vec<usize>| {
        order
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    for (left, order) in (1..=warmup.len()).rev().zip(warmup) {
        line("warmup", &format_args!("{left} {}", joined(order)));
    }
    for (number, order) in rounds.iter().enumerate() {
        line("round", &format_args!("{number} {}", joined(order)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = "pagewise\t1\tc-O3\nabout\tlibc\tglibc 2.36\ncolumns\tslot\tround\tcell\tphase\tops\tbytes\tstart_ns\
    \twall_ns\tcpu_ns\tuser_ns\tsystem_ns\tminor_faults\tmajor_faults\tvoluntary_switches\tinvoluntary_switches\n";
    const SAMPLE: &str = "sample\t0\t-1\t0\tmap\t1\t4096\t5\t6\t7\t0\t0\t1\t0\t0\t0\n";

    fn read(text: &str) -> Result<Transcript> {
        Transcript::read(text.as_bytes())
    }

    #[test]
    fn a_whole_transcript_is_read() {
        let t = read(&format!(
            "{HEAD}{SAMPLE}fact\t0\t0\tdigest\tab\nskip\t1\tno pool\ndone\t1\n"
        ))
        .unwrap();
        assert!(t.done);
        assert_eq!(
            (
                t.worker.as_str(),
                t.samples[0].round,
                t.samples[0].counts.wall_ns
            ),
            ("c-O3", -1, 6)
        );
        assert_eq!(t.facts[&0], [("digest".to_owned(), "ab".to_owned())]);
        assert_eq!(
            t.endings,
            [SideEnding::Skip {
                cell: 1,
                reason: "no pool".into()
            }]
        );
        assert_eq!(
            t.endings[0].cause(),
            Cause::Lacks {
                text: "no pool".into()
            }
        );
    }

    #[test]
    fn a_skip_names_the_setting_that_it_lacks() {
        let skip = |reason: &str| SideEnding::Skip {
            cell: 0,
            reason: reason.to_owned(),
        };
        let text = "fewer than 32 free pages: sudo sysctl vm.nr_hugepages=32".to_owned();
        assert_eq!(
            skip(&text).cause(),
            Cause::Setting {
                name: "vm.nr_hugepages".to_owned(),
                least: 32,
                text: Some(text.clone())
            }
        );
        for reason in [
            "the group may not: sudo sysctl vm.hugetlb_shm_group=GID",
            "sysctl vm.nr_hugepages=32",
        ] {
            assert_eq!(
                skip(reason).cause(),
                Cause::Lacks {
                    text: reason.to_owned()
                }
            );
        }
    }

    #[test]
    fn lies_and_garbage_are_errors_with_a_line_number() {
        for (text, part) in [
            (format!("{HEAD}{SAMPLE}done\t2\n"), "says it took 2 samples"),
            (
                format!("{HEAD}done\t0\nabout\ta\tb\n"),
                "after the closing line",
            ),
            (format!("{HEAD}sample\t0\n"), "1 fields where 15 columns"),
            ("hello\n".to_owned(), "begins with"),
            ("pagewise\t2\tx\n".to_owned(), "version 1"),
            (format!("{HEAD}nonsense\t0\n"), "no line of the protocol"),
        ] {
            let error = format!("{:#}", read(&text).unwrap_err());
            assert!(
                error.contains(part) && error.starts_with("transcript line"),
                "{error}"
            );
        }
    }

    #[test]
    fn every_column_is_found_by_its_name() {
        let all: [u64; COLUMNS.len()] = std::array::from_fn(|i| 7 + i as u64);
        let counts = Counts::from_array(all);
        assert_eq!(COLUMNS.map(|name| counts.column(name).unwrap()), all);
        assert_eq!(counts.column("ghosts"), None);
    }

    #[test]
    fn what_is_no_count_is_an_error() {
        for wrong in ["", "+1", "-1", "1 ", "0x1", "18446744073709551616"] {
            let text = format!("{HEAD}{}", SAMPLE.replace("4096", wrong));
            assert!(
                format!("{:#}", read(&text).unwrap_err())
                    .contains(&format!("{wrong:?} is not a count")),
                "{wrong:?}"
            );
        }
        assert_eq!(
            read(&format!(
                "{HEAD}{}",
                SAMPLE.replace("4096", &u64::MAX.to_string())
            ))
            .unwrap()
            .samples
            .len(),
            1
        );
    }

    proptest! {
        /// The usual way is only a shorter one.
        #[test]
        fn a_line_is_read_the_usual_way_as_by_its_words(
            numbers in proptest::collection::vec(any::<u64>().prop_map(|n| n >> (n % 64)), 15),
            round in any::<i32>(),
            further in 0..3_usize,
            damage in proptest::option::of((0..200_usize, any::<u8>())),
        ) {
            let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let mut line = format!("sample\t{}\t{round}\t{}\tmap\t", numbers[13] >> 33, numbers[14] >> 33);
            line += &words[..COLUMNS.len() + further].join("\t");
            let mut line = (line + "\n").into_bytes();
            if let Some((at, byte)) = damage {
                let at = at % line.len();
                line[at] = byte;
            }
            let columns = 4 + COLUMNS.len() + further;
            let mut usual = Transcript { phases: vec!["m".to_owned(), "map".to_owned()], ..Transcript::default() };
            let mut worded = usual.clone();
            if let Some(length) = usual.usual(&line, columns) {
                let text = std::str::from_utf8(&line[..length]).unwrap();
                worded.take(text.strip_suffix('\n').unwrap(), 9, &mut columns.clone()).unwrap();
                prop_assert_eq!(&usual.samples, &worded.samples);
                prop_assert_eq!(&usual.phases, &worded.phases);
            } else {
                let odd = damage.is_some() || round == i32::MIN || numbers.iter().any(|n| *n > 1 << 60);
                prop_assert!(usual.samples.is_empty() && odd);
            }
        }
    }

    #[test]
    fn a_truncated_transcript_is_read_but_not_done() {
        assert!(!read(&format!("{HEAD}{SAMPLE}")).unwrap().done);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = HEAD.as_bytes().to_vec();
            bytes.extend(tail);
            let _ = Transcript::read(bytes.as_slice());
        }
    }
}
