//! Callers of page faults. The helper program saves registers and stack memory of some faults and reports the mappings of code;
//! here the stacks are unwound and get names.

mod binary;
mod bounds;
mod demangle;
mod generated;
mod go_table;

use super::launch::StackFile;
use anyhow::{Context, Result};
use binary::Binary;
use files::Folder;
use framehop::{
    CacheNative, FrameAddress, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder, UnwinderNative,
};
use generated::Generated;
use indexmap::IndexSet;
use record::command::{
    CallFrame, CallStack, CallStacks, CommandCost, CommandLaunch, LaunchMode, MemoryEvent,
};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::{cell::OnceCell, rc::Rc, sync::Arc};

/// File of the helper program in the scratch folder.
const FILE: &str = "stacks";
/// Limit of that file, in bytes.
const MOST_BYTES: u64 = 4 << 30;
/// Call stacks wanted of a launch at most, and for each second of its CPU time: one costs about 10 µs.
const WANTED: (u64, f64) = (250, 2000.0);
/// Call stacks wanted of a process that runs already, for each second of its CPU time: they take a quarter of a hundredth of it.
const ATTACHED_WANTED: f64 = 250.0;
/// Call stacks wanted of each process, where there are many.
const LEAST: u64 = 8;
/// Processes and threads from which on they are many, and CPU time of one below which a period of samples is more than a hundredth
/// of it.
const MANY: u64 = 20;
const SHORT_S: f64 = 0.025;
/// Seconds for a KiB that is given back, about, and the share of CPU time from which on that is worth being seen.
const FREED_KIB_S: f64 = 60e-9;
const NOTICED: f64 = 0.01;
/// Frames that are kept of a stack, the innermost.
const MOST_FRAMES: usize = 200;
/// Bytes of a line of the file, without what follows it.
const LINE: usize = 56;
/// Kinds by their index in `struct touched` of the helper program.
const KINDS: [MemoryEvent; 16] = {
    use MemoryEvent::*;
    [
        Heap, Anonymous, Stack, Shared, Again, Again, Anonymous, ZeroRead, ZeroWrite, Cow, File,
        FileWrite, Huge, Elsewhere, InCalls, Raced,
    ]
};

/// Kinds of samples of the kernel's time, in the order of `enum work` of `workers/c/helper/profile/kernel.c` from 1 on; they
/// follow those of faults by `SAMPLED`.
const SAMPLED_KINDS: [MemoryEvent; 23] = {
    use MemoryEvent::*;
    [
        Unknown, Huge, Cow, File, FreeBase, Fork, Start, Exec, Protect, Move, Map, Shootdown, Lock,
        Reclaim, PageCache, WriteBack, Switch, Interrupt, Signal, ReadCalls, WriteCalls,
        SystemCall, Kernel,
    ]
};
const SAMPLED: usize = 32;

/// Kind of a stack by its number in the helper's file.
fn kind(number: u32) -> Option<MemoryEvent> {
    let number = number as usize;
    let sampled = number.checked_sub(SAMPLED + 1);
    match sampled {
        Some(place) => SAMPLED_KINDS.get(place).copied(),
        None => KINDS.get(number).copied(),
    }
}

type ModuleUnwinder = UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>;

/// Programs and libraries that were met, with the names of their code.
#[derive(Default)]
pub(super) struct Callers {
    binaries: HashMap<Rc<str>, Option<Rc<Binary>>>,
    cache: CacheNative<MayAllocateDuringUnwind>,
    /// For code of no file.
    no_module: ModuleUnwinder,
}

#[derive(Clone, Default)]
struct ProcessCode {
    mappings: CodeMappings,
    /// Code that the process has made itself, read when some is met.
    generated: Option<Rc<Generated>>,
}

impl ProcessCode {
    /// Puts a mapping of code over whatever was there.
    fn map(&mut self, line: &SavedLine<'_>) {
        let [start, bytes, offset, _] = line.numbers;
        self.mappings.put(Mapping {
            start,
            end: start.saturating_add(bytes),
            offset,
            path: String::from_utf8_lossy(line.more).into(),
            code: OnceCell::new(),
        });
    }
}

/// Mappings of code by their first address; none overlaps another. A forked process shares its parent's until either changes.
#[derive(Clone, Default)]
struct CodeMappings(Rc<BTreeMap<u64, Rc<Mapping>>>);

impl CodeMappings {
    /// Puts a mapping over whatever was there.
    fn put(&mut self, mapping: Mapping) {
        if mapping.end <= mapping.start {
            return;
        }
        let mappings = Rc::make_mut(&mut self.0);
        // From the last that begins below its end, downwards: as they do not overlap, the first that ends before it is the end.
        while let Some((&start, _)) = mappings
            .range(..mapping.end)
            .next_back()
            .filter(|(_, below)| below.end > mapping.start)
        {
            mappings.remove(&start);
        }
        mappings.insert(mapping.start, Rc::new(mapping));
    }

    fn at(&self, address: u64) -> Option<&Rc<Mapping>> {
        let (_, below) = self.0.range(..=address).next_back()?;
        (address < below.end).then_some(below)
    }
}

struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    path: Rc<str>,
    /// Read when a stack first meets it: of many mappings few are.
    code: OnceCell<MappedCode>,
}

/// The code of a mapping.
struct MappedCode {
    /// Difference between an address in the process and in the file.
    bias: u64,
    /// No file where there is none.
    binary: Option<Rc<Binary>>,
    unwinder: ModuleUnwinder,
}

impl Mapping {
    fn code(&self, binaries: &mut HashMap<Rc<str>, Option<Rc<Binary>>>) -> &MappedCode {
        self.code.get_or_init(|| {
            let binary = binaries
                .entry(Rc::clone(&self.path))
                .or_insert_with_key(|path| Binary::load(path).map(Rc::new))
                .clone();
            let bytes = self.end - self.start;
            let bias = binary.as_ref().map_or(0, |binary| {
                self.start
                    .wrapping_sub(binary.address_of(self.offset, bytes))
            });
            let mut unwinder = ModuleUnwinder::new();
            if let Some(binary) = &binary {
                unwinder.add_module(binary.module(self.start..self.end, bias));
            }
            MappedCode {
                bias,
                binary,
                unwinder,
            }
        })
    }
}

#[derive(Default)]
struct StackTable {
    frames: IndexSet<CallFrame>,
    /// By the file of the code, or the code that a process has made, and the address.
    known: HashMap<(*const (), u64), Vec<usize>>,
    weights: HashMap<(Vec<usize>, u32), f64>,
}

impl Callers {
    /// Reads and removes the helper's file in the scratch folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self, scratch: &Path) -> Result<CallStacks> {
        let folder = Folder::open(scratch)?;
        let bytes = folder
            .read(FILE, MOST_BYTES)
            .context("the stacks of page faults")?;
        folder.remove(FILE)?;
        let (mut processes, mut table): (HashMap<i32, ProcessCode>, StackTable) =
            Default::default();
        // Names are known by the addresses of code, which is not freed before the end.
        let mut ended = Vec::new();
        for line in lines(&bytes) {
            match line.tag {
                b'M' => processes.entry(line.pid).or_default().map(&line),
                b'F' => {
                    let parent = processes.get(&(line.numbers[0] as i32)).cloned();
                    processes.insert(line.pid, parent.unwrap_or_default());
                }
                b'X' => ended.extend(processes.remove(&line.pid)),
                _ => {
                    let frames =
                        self.frames(processes.entry(line.pid).or_default(), &line, &mut table);
                    *table.weights.entry((frames, line.kind)).or_default() +=
                        f64::from(line.weight);
                }
            }
        }
        Ok(table.stacks())
    }

    /// The frames of a stack, the outermost first.
    fn frames(
        &mut self,
        process: &mut ProcessCode,
        line: &SavedLine<'_>,
        table: &mut StackTable,
    ) -> Vec<usize> {
        let [pc, sp, fp, lr] = line.numbers;
        let mut read = |address: u64| {
            let at = address
                .checked_sub(sp)
                .and_then(|at| usize::try_from(at).ok())
                .ok_or(())?;
            let word = line
                .more
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .ok_or(())?;
            Ok(u64::from_ne_bytes(*word))
        };
        let (mut frames, mut registers) = (Vec::new(), registers(pc, sp, fp, lr));
        let mut next = Some(FrameAddress::from_instruction_pointer(pc));
        while let Some(address) = next.filter(|_| frames.len() < MOST_FRAMES) {
            let at = address.address_for_lookup();
            let mapping = process.mappings.at(at).cloned();
            let code = mapping.as_ref().map(|m| m.code(&mut self.binaries));
            frames.extend(table.names(process, line.pid, (code, at)));
            let is_trampoline = process
                .generated
                .as_ref()
                .is_some_and(|code| code.is_trampoline(at));
            let caller = if is_trampoline && has_no_frame(&registers) {
                let (sp, word) = (registers.sp(), size_of::<u64>() as u64);
                registers.set_sp(sp + 2 * word);
                read(sp + word).ok()
            } else {
                code.map_or(&self.no_module, |code| &code.unwinder)
                    .unwind_frame(address, &mut registers, &mut self.cache, &mut read)
                    .ok()
                    .flatten()
            };
            next = caller.and_then(FrameAddress::from_return_address);
        }
        frames.reverse();
        frames
    }
}

/// The file of a launch whose stacks are wanted, and the period of the faults that have one.
pub(super) fn wanted(
    launches: &[CommandLaunch],
    block: i64,
    scratch: &Path,
    is_attached: bool,
) -> StackFile {
    StackFile {
        path: scratch.join(FILE),
        period: period(launches, block, is_attached),
        wide: !is_attached && misses_much(launches),
    }
}

/// True if a process's own clock would miss much of its time in the kernel: the first period of many that live shortly, or, as seen
/// on Linux 6.18, the end of one with much memory.
fn misses_much(launches: &[CommandLaunch]) -> bool {
    let Some(plain) = first_cost(launches, LaunchMode::Plain) else {
        return false;
    };
    let traced = first_cost(launches, LaunchMode::Traced);
    let threads = traced
        .and_then(|cost| cost.faults.as_ref())
        .map_or(0, |faults| faults.threads);
    let all = processes(launches).saturating_add(threads);
    let is_short = all >= MANY && plain.cpu_s() < SHORT_S * all as f64;
    is_short || FREED_KIB_S * plain.max_rss_kib as f64 >= NOTICED * plain.cpu_s()
}

/// Processes of a run.
fn processes(launches: &[CommandLaunch]) -> u64 {
    let proof = first_cost(launches, LaunchMode::Traced).and_then(|cost| cost.proof.as_ref());
    proof.map_or(1, |proof| proof.processes)
}

/// The period of the faults whose stacks are saved: a prime that differs from block to block, so that no loop keeps step.
fn period(launches: &[CommandLaunch], block: i64, is_attached: bool) -> u64 {
    let plain = first_cost(launches, LaunchMode::Plain);
    let (faults, cpu_s) = plain.map_or((0, 0.0), |cost| (cost.minor_faults, cost.cpu_s()));
    // A window of a process that runs already is longer than the first one.
    let wanted = if is_attached {
        ((ATTACHED_WANTED * cpu_s) as u64).max(1)
    } else {
        WANTED.0.min((WANTED.1 * cpu_s) as u64).max(WANTED.0 / 4)
    };
    let processes = processes(launches);
    prime(
        if is_attached {
            faults / wanted
        } else {
            (faults / wanted).min(faults / processes.max(1) / LEAST)
        },
        block,
    )
}

/// A prime from a number on, which differs from block to block; 1 where the number is less than 2.
pub(super) fn prime(least: u64, block: i64) -> u64 {
    if least < 2 {
        1
    } else {
        (least..)
            .filter(|n| is_prime(*n))
            .nth((block.unsigned_abs() % 8) as usize)
            .unwrap_or(least)
    }
}

/// Cost of the first launch that was observed by this means.
pub(super) fn first_cost(launches: &[CommandLaunch], mode: LaunchMode) -> Option<&CommandCost> {
    let mut launches = launches.iter().filter(|l| l.mode == mode);
    launches.find_map(|l| l.cost.as_ref())
}

fn is_prime(n: u64) -> bool {
    (2..)
        .take_while(|divisor| divisor * divisor <= n)
        .all(|divisor| !n.is_multiple_of(divisor))
}

/// Adds frames, each once. Returns their places.
fn add(known: &mut IndexSet<CallFrame>, frames: Vec<CallFrame>) -> Vec<usize> {
    let places = frames.into_iter().map(|frame| known.insert_full(frame).0);
    places.collect()
}

impl StackTable {
    /// The functions at an address in a mapping's code, the innermost first: several where calls were inlined.
    fn names(
        &mut self,
        process: &mut ProcessCode,
        pid: i32,
        (code, address): (Option<&MappedCode>, u64),
    ) -> Vec<usize> {
        let mapped = code.and_then(|code| {
            let binary = code.binary.as_ref()?;
            Some((binary, address.wrapping_sub(code.bias)))
        });
        let frames = &mut self.frames;
        if let Some((binary, address)) = mapped {
            let known = self.known.entry((Rc::as_ptr(binary).cast(), address));
            return known
                .or_insert_with(|| add(frames, binary.names(address)))
                .clone();
        }
        let code = process
            .generated
            .get_or_insert_with(|| Rc::new(Generated::by(pid)));
        let known = self.known.entry((Rc::as_ptr(code).cast(), address));
        known
            .or_insert_with(|| add(frames, vec![code.name(address)]))
            .clone()
    }

    fn stacks(self) -> CallStacks {
        let mut stacks: Vec<CallStack> = Vec::new();
        for ((frames, kind), weight) in self.weights {
            if let Some(event) = self::kind(kind) {
                stacks.push(CallStack {
                    frames,
                    event,
                    weight,
                });
            }
        }
        stacks.sort_by(|a, b| {
            b.weight
                .total_cmp(&a.weight)
                .then_with(|| a.frames.cmp(&b.frames))
        });
        CallStacks {
            frames: self.frames.into_iter().collect(),
            stacks,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(pc: u64, sp: u64, fp: u64, _: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(pc, sp, fp)
}

/// True in a trampoline that leaves the frame pointer alone: one word is below its return address.
#[cfg(target_arch = "x86_64")]
fn has_no_frame(registers: &UnwindRegsNative) -> bool {
    registers.bp() != registers.sp()
}

#[cfg(target_arch = "aarch64")]
fn has_no_frame(_: &UnwindRegsNative) -> bool {
    false
}

#[cfg(target_arch = "aarch64")]
fn registers(_: u64, sp: u64, fp: u64, lr: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(lr, sp, fp)
}

/// A line of the file, as `struct line` of `workers/c/helper/profile/stacks.c` has it.
struct SavedLine<'a> {
    numbers: [u64; 4],
    tag: u8,
    kind: u32,
    weight: u32,
    pid: i32,
    more: &'a [u8],
}

/// The lines of a file; a line that is not whole ends it.
fn lines(mut rest: &[u8]) -> impl Iterator<Item = SavedLine<'_>> {
    std::iter::from_fn(move || {
        let (line, after) = rest.split_at_checked(LINE)?;
        let (more, after) = after.split_at_checked(half(line, 11) as usize)?;
        rest = after;
        Some(SavedLine {
            numbers: [word(line, 0), word(line, 1), word(line, 2), word(line, 3)],
            tag: half(line, 8) as u8,
            kind: half(line, 9),
            weight: half(line, 10),
            pid: half(line, 12) as i32,
            more,
        })
    })
}

/// The number of eight bytes at this place of a line.
fn word(line: &[u8], place: usize) -> u64 {
    line[8 * place..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// The number of four bytes at this place of a line.
fn half(line: &[u8], place: usize) -> u32 {
    line[4 * place..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// CPU time of this thread, which other programs on the machine do not lengthen.
#[cfg(test)]
fn cpu_time() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::command::{CommandCost, ObservedEffects};

    fn line(tag: u8, kind: u32, weight: u32, pid: i32, more: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = [1u64, 2, 3, 4]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        bytes.extend(
            [u32::from(tag), kind, weight, more.len() as u32]
                .iter()
                .flat_map(|half| half.to_ne_bytes()),
        );
        bytes.extend([pid, 0].iter().flat_map(|half| half.to_ne_bytes()));
        bytes.extend(more);
        bytes
    }

    #[test]
    fn a_line_that_is_cut_ends_the_file() {
        let bytes = [
            line(b'M', 0, 0, 7, b"/bin/x"),
            line(b'S', 9, 5, 7, &[1; 16]),
        ]
        .concat();
        let read: Vec<SavedLine<'_>> = lines(&bytes).collect();
        assert_eq!(
            (read[0].tag, read[0].more, read[0].numbers),
            (b'M', &b"/bin/x"[..], [1, 2, 3, 4])
        );
        assert_eq!(
            (
                read[1].kind,
                read[1].weight,
                read[1].pid,
                read[1].more.len()
            ),
            (9, 5, 7, 16)
        );
        assert_eq!(KINDS[read[1].kind as usize], MemoryEvent::Cow);
        for end in 0..bytes.len() {
            assert!(lines(&bytes[..end]).count() < 2);
        }
    }

    fn mapping(start: u64, end: u64) -> Mapping {
        Mapping {
            start,
            end,
            offset: 0,
            path: "".into(),
            code: OnceCell::new(),
        }
    }

    fn ranges(mappings: &CodeMappings) -> Vec<(u64, u64)> {
        mappings.0.values().map(|m| (m.start, m.end)).collect()
    }

    #[test]
    fn a_mapping_replaces_what_it_overlaps_and_nothing_else() {
        let mut mappings = CodeMappings::default();
        for (start, end) in [(10, 20), (20, 30), (40, 50), (60, 70), (5, 5)] {
            mappings.put(mapping(start, end));
        }
        let parent = mappings.clone();
        mappings.put(mapping(25, 60));
        assert_eq!(ranges(&mappings), [(10, 20), (25, 60), (60, 70)]);
        assert_eq!(ranges(&parent), [(10, 20), (20, 30), (40, 50), (60, 70)]);
        let at = |address| mappings.at(address).map(|m| m.start);
        assert_eq!(
            [9, 10, 19, 20, 59, 60, 70].map(at),
            [None, Some(10), Some(10), None, Some(25), Some(60), None]
        );
    }

    /// Of 40,000 mappings and as many lines between, a stack looks at those that it meets, and reads their files alone.
    #[test]
    fn only_the_mappings_that_a_stack_meets_are_read() {
        let (mut callers, mut process, mut table) = (
            Callers::default(),
            ProcessCode::default(),
            StackTable::default(),
        );
        for number in (0..40_000_u64).rev() {
            let numbers = [number << 12, 4096, 0, 0];
            let path = format!("/nonexistent/{number}");
            let line = SavedLine {
                numbers,
                tag: b'M',
                kind: 0,
                weight: 1,
                pid: 1,
                more: path.as_bytes(),
            };
            process.map(&line);
            let stack = SavedLine {
                numbers: [(39_999 << 12) + 8, 0, 0, 0],
                tag: b'S',
                ..line
            };
            callers.frames(&mut process, &stack, &mut table);
        }
        let met = process.mappings.0.values();
        let met = met.filter(|m| m.code.get().is_some()).count();
        let read = callers.binaries.len();
        assert_eq!((process.mappings.0.len(), met, read), (40_000, 1, 1));
    }

    #[test]
    fn periods_are_primes_that_change_and_leave_each_process_its_stacks() {
        let launch = |mode, cost| CommandLaunch {
            mode,
            cost: Some(cost),
            ..CommandLaunch::default()
        };
        const SECOND: u64 = 1_000_000;
        let launches = |minor_faults, processes, user_us| {
            let proof = Some(ObservedEffects {
                processes,
                ..ObservedEffects::default()
            });
            let cost = CommandCost {
                minor_faults,
                user_us,
                ..CommandCost::default()
            };
            [
                launch(LaunchMode::Plain, cost.clone()),
                launch(LaunchMode::Traced, CommandCost { proof, ..cost }),
            ]
        };
        assert_eq!(period(&launches(499, 1, SECOND), 3, false), 1);
        let of_many: Vec<u64> = (0..3)
            .map(|block| period(&launches(90_000, 1, SECOND), block, false))
            .collect();
        assert_eq!(of_many, [367, 373, 379]);
        assert_eq!(period(&launches(90_000, 1000, SECOND), 0, false), 11);
        // A short program has fewer of them, so that they cost little of its time.
        assert_eq!(
            [60_000, 10_000].map(|user_us| period(&launches(90_000, 1, user_us), 0, false)),
            [751, 1451]
        );
        let is_short = |processes, user_us| misses_much(&launches(1, processes, user_us));
        assert!(
            is_short(1000, SECOND) && !is_short(1000, 60 * SECOND) && !is_short(5, SECOND / 100)
        );
        let busy = launches(90_000, 0, SECOND);
        assert_eq!(period(&busy, 0, true), 367);
    }
}
