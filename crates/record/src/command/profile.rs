//! Result of a profile: the shape of its `summary.json` and of `profile --json`.

use super::{Amount, CallStacks, CommandPlan, Failure};
use crate::{outcome::Status, summary::Note};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// A kind of memory event.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MemoryEvent {
    /// First writes to the heap.
    Heap,
    /// First writes to other memory without a file.
    Anonymous,
    /// First writes to a stack.
    Stack,
    /// Faults on shared memory without a file.
    Shared,
    /// Writes to pages that were given back before.
    Again,
    /// First writes to mappings that the kernel did not report: moved ones (mremap), for the most part.
    Elsewhere,
    /// Reads of fresh memory, which get the zero page.
    ZeroRead,
    /// Writes after them.
    ZeroWrite,
    /// Writes to pages that a fork had shared.
    Cow,
    /// Minor faults on pages of a mapped file.
    File,
    /// Writes to private copies of them.
    FileWrite,
    /// Faults that gave a huge page.
    Huge,
    /// Faults in kernel mode.
    InCalls,
    /// Faults on a page that another thread was just getting.
    Raced,
    /// Faults of which only the number is known.
    Unknown,
    /// Base pages given back, by unmapping or at the end.
    FreeBase,
    /// Huge pages given back.
    FreeHuge,
    /// System calls that read.
    ReadCalls,
    /// Bytes read by system calls.
    ReadBytes,
    /// System calls that write.
    WriteCalls,
    /// Bytes written by system calls.
    WriteBytes,
    /// Pages of files that writes made or made dirty, beyond the copying.
    WriteNew,
    /// Copying of page tables by a fork.
    Fork,
    /// Start and end of processes and threads, beside their memory.
    Start,
    /// Execution of programs.
    Exec,
    /// Changes of protection.
    Protect,
    /// Moving of page tables by mremap.
    Move,
    /// Making of mappings.
    Map,
    /// Interrupts of other processors that still know what was unmapped.
    Shootdown,
    /// Waiting for a lock of the kernel.
    Lock,
    /// Swapping, and looking for memory to take.
    Reclaim,
    /// Reading of files into the page cache.
    PageCache,
    /// Writing of files from the page cache to the device, and waiting for that.
    WriteBack,
    /// Switching between threads.
    Switch,
    /// Interrupts.
    Interrupt,
    /// Signals, also those of accesses that a protection forbids.
    Signal,
    /// System calls that do nothing of the above.
    SystemCall,
    /// Work of the kernel that no name tells.
    Kernel,
}

/// Events whose costs are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFamily {
    /// Page faults of every kind.
    Faults,
    /// Pages given back.
    Freeing,
    /// Calls that read or write.
    Calls,
    /// Work of the kernel that is sampled and not counted.
    Kernel,
}

impl MemoryEvent {
    /// Its family.
    pub fn family(self) -> EventFamily {
        use MemoryEvent::{
            Exec, Fork, FreeBase, FreeHuge, Interrupt, Kernel, Lock, Map, Move, PageCache, Protect,
            ReadBytes, ReadCalls, Reclaim, Shootdown, Signal, Start, Switch, SystemCall, WriteBack,
            WriteBytes, WriteCalls, WriteNew,
        };
        match self {
            FreeBase | FreeHuge => EventFamily::Freeing,
            ReadCalls | ReadBytes | WriteCalls | WriteBytes | WriteNew => EventFamily::Calls,
            Fork | Start | Exec | Protect | Move | Map | Shootdown | Lock | Reclaim | PageCache
            | WriteBack | Switch | Interrupt | Signal | SystemCall | Kernel => EventFamily::Kernel,
            _ => EventFamily::Faults,
        }
    }

    /// The event by which samples of the kernel's time know this one: they tell a huge page, a copy and a page of a file or of
    /// shared memory from other faults, and no more.
    pub fn sampled(self) -> MemoryEvent {
        use MemoryEvent::{
            Cow, File, FileWrite, FreeBase, Huge, ReadCalls, Shared, Unknown, WriteCalls, ZeroWrite,
        };
        match (self.family(), self) {
            (EventFamily::Faults, Cow | ZeroWrite) => Cow,
            (EventFamily::Faults, File | FileWrite | Shared) => File,
            (EventFamily::Faults, Huge) => Huge,
            (EventFamily::Faults, _) => Unknown,
            (EventFamily::Freeing, _) => FreeBase,
            (EventFamily::Calls, ReadCalls | MemoryEvent::ReadBytes) => ReadCalls,
            (EventFamily::Calls, _) => WriteCalls,
            (EventFamily::Kernel, event) => event,
        }
    }

    /// True if work of this kind, and of this system call, belongs to the start and end of processes that live no longer:
    /// their page faults, mappings and protections are those that every start brings.
    pub fn is_of_short_process(self, call: &str) -> bool {
        use MemoryEvent::{Exec, Fork, Map, Protect, Start};
        matches!(self, Fork | Start | Exec | Map | Protect)
            || matches!(self.family(), EventFamily::Faults | EventFamily::Freeing)
            || matches!(call, "execve" | "execveat" | "exit_group")
    }
}

/// Counts of one run of the command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Number of events by kind.
    pub events: BTreeMap<MemoryEvent, f64>,
    /// Minor page faults, by `wait4`.
    pub minor_faults: f64,
    /// Major page faults, by `wait4`.
    pub major_faults: f64,
    /// Context switches, voluntary and involuntary.
    pub switches: f64,
    /// Processes; 0 where this is not known.
    pub processes: f64,
    /// The most resident memory of any one process, in bytes.
    pub max_rss_bytes: f64,
}

/// Processes of a run from which on they are many.
const MANY_PROCESSES: f64 = 20.0;
/// CPU time of a process below which it is mostly its start and end, where none has more memory than a shell or an interpreter.
const SHORT_S: f64 = 3e-3;
const LITTLE_BYTES: f64 = (64 << 20) as f64;

impl EventCounts {
    /// True if a run of so much CPU time mostly starts and ends processes.
    pub fn is_of_short_processes(&self, cpu_s: f64) -> bool {
        let are_short = cpu_s <= SHORT_S * self.processes && self.max_rss_bytes <= LITTLE_BYTES;
        self.processes >= MANY_PROCESSES && are_short
    }
}

/// Unit cost of one kind of event, in seconds of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Kind of event.
    pub kind: MemoryEvent,
    /// Events of one run of the command.
    pub count: f64,
    /// Seconds for all of them.
    pub together_s: Amount,
    /// Seconds for one: a fault, a page, a call or a byte.
    pub each_s: Amount,
    /// The ninth decile over blocks relative to the first.
    pub spread: f64,
    /// True if that is more than 1.5.
    pub unsteady: bool,
}

/// Cost of some kinds of events in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// Events times their unit costs, in seconds of CPU time.
    pub seconds: Amount,
    /// The same as a share of the run's CPU time.
    pub share: Amount,
}

/// Effort of following a process that runs already, over all windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FollowingCost {
    /// Length of the windows, in seconds.
    pub followed_s: f64,
    /// Length of a window in which page faults were followed, in seconds: shorter than planned where context switches would
    /// make it dear. 0 in older records.
    #[serde(default)]
    pub window_s: f64,
    /// CPU time of the process in them, in seconds.
    pub cpu_s: f64,
    /// CPU time of the helper program that followed it, in seconds.
    pub observer_cpu_s: f64,
    /// Page faults that were recorded: each takes the process about 1 µs.
    pub records: u64,
    /// Call stacks of page faults that were saved: each takes it about 10 µs.
    pub stacks: u64,
    /// Samples of the kernel's time: each takes it up to 17 µs.
    pub samples: u64,
}

/// Counts times prices against the command's own time in the kernel.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Consistency {
    /// Explained part, as a share of the command's time in the kernel. The interval covers both sides.
    pub explained: Amount,
    /// Agreement of the explained and the measured kernel time.
    pub agreement: Agreement,
    /// Cost of the page faults in this program relative to their cost in a fresh process; costs and predictions are scaled by it.
    /// Absent where the program's own time in the kernel does not tell it.
    pub factor: Option<Amount>,
}

/// A part of the command's time in the kernel, by samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelPart {
    /// Kind of work, as [`MemoryEvent::sampled`] names it.
    pub event: MemoryEvent,
    /// The system call that entered the kernel; empty where a fault or an interrupt did.
    pub call: String,
    /// CPU time of a run.
    #[serde(flatten)]
    pub cost: CostLine,
}

/// A change of the program's own calls that its costs suggest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Kind of change.
    pub kind: SuggestionKind,
    /// CPU time that it concerns.
    pub cost: CostLine,
    /// Kinds of work that it concerns; their stacks name the place.
    pub events: Vec<MemoryEvent>,
    /// The system call that it concerns; empty for all.
    pub call: String,
}

/// Kind of a change that costs suggest.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SuggestionKind {
    /// posix_spawn or vfork instead of fork, which copies page tables.
    Spawn,
    /// Memory given back by madvise and touched again.
    KeepAdvised,
    /// Memory that MADV_FREE marks in a loop, and that is used on.
    AdviseLess,
    /// Memory unmapped and mapped again.
    KeepMapped,
    /// Memory that mremap moves.
    Reserve,
    /// Changes of protection.
    ProtectLess,
    /// Huge pages that cost more than they save.
    SmallPages,
    /// Two threads that touch the same page first.
    OneThread,
    /// Pages of a mapped file.
    ReadFile,
    /// Fresh memory that is read before it is written.
    WriteFirst,
    /// Programs that are executed.
    FewerPrograms,
    /// Interrupts of other threads by unmapping.
    UnmapTogether,
    /// Waiting for a lock of the kernel.
    WaitLess,
    /// Memory that the kernel takes back.
    MoreMemory,
    /// A system call that is no memory's work.
    NotMemory,
    /// Pages that a fork shared and that are written afterwards.
    WriteAfterFork,
    /// Pages of memory that processes share.
    SharedPages,
    /// Many small reads or writes.
    LargerCalls,
    /// Bytes that reads and writes copy.
    CopyLess,
    /// Memory that jemalloc gives back and takes again.
    JemallocReturn,
    /// The same of mimalloc.
    MimallocReturn,
    /// The same of gperftools' malloc.
    TcmallocReturn,
    /// The same of Go's runtime.
    GoReturn,
    /// Fresh memory of Go's heap.
    GoHeap,
    /// Fresh memory of a Java heap.
    JavaHeap,
    /// Fresh memory of numpy's arrays.
    NumpyArrays,
    /// Fresh memory of CPython's objects.
    PythonObjects,
    /// Fresh memory of Node's heap and buffers.
    NodeHeap,
}

impl SuggestionKind {
    /// Settings that try such a change, by their names for `try --with`. What they save is not predicted.
    fn settings(self) -> &'static [&'static str] {
        match self {
            SuggestionKind::JemallocReturn => &["jemalloc-keep"],
            SuggestionKind::MimallocReturn => &["mimalloc-keep"],
            SuggestionKind::TcmallocReturn => &["tcmalloc-keep"],
            SuggestionKind::GoReturn => &["go-free", "go-limit"],
            SuggestionKind::GoHeap => &["go-gc", "go-limit"],
            SuggestionKind::JavaHeap => &["java-serial"],
            SuggestionKind::NodeHeap => &["node-young"],
            _ => &[],
        }
    }
}

/// Settings by which a library does for its own memory what a candidate does: the candidate, the beginning of a file's name, and
/// the setting. What they save is not predicted.
const OF_LIBRARIES: [(&str, &str, &str); 5] = [
    ("thp", "libjemalloc", "jemalloc-thp"),
    ("thp", "libmimalloc", "mimalloc-thp"),
    ("thp", "python", "python-malloc"),
    ("thp", "php", "zend-huge"),
    ("no-thp", "_multiarray_umath", "numpy-small"),
];

/// Position of the explained part's whole interval relative to all of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The interval is within 70 and 120 % of the time.
    Consistent,
    /// More is explained than there is: the prices are not this program's.
    Exceeds,
    /// Most of the rest is work of the kernel that has no price here.
    FallsShort,
    /// The interval is too wide to tell, or the time too short for the clock that divides it.
    NotSettled,
}

/// A change that would save page faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The setting's name for `try --with`.
    pub setting: String,
    /// Page faults that there would not be.
    pub faults_saved: f64,
    /// Huge pages that there would be instead; negative where the setting takes huge pages away.
    pub huge_pages: f64,
    /// The part of the kernel's time that this would save, in seconds; negative where it would cost.
    pub kernel_s: Amount,
}

impl Candidate {
    /// Error of every prediction of `keep`, as a share of CPU time (docs/validity.md). A smaller saving may as well be a cost.
    pub const KEEP_SLACK: f64 = 0.02;
    /// Share of CPU time that it is predicted to save at least where it is worth a try; negative where it may cost as much.
    pub fn least_share(&self) -> f64 {
        if self.huge_pages > 0.0 {
            -NOT_PREDICTED
        } else {
            Candidate::KEEP_SLACK
        }
    }
    /// True if the interval excludes no saving. Otherwise the saving is no figure.
    pub fn is_settled(&self) -> bool {
        self.kernel_s.low > 0.0
    }
}

/// Predicted cost, as a share of CPU time, up to which huge pages are worth a try: they also save address translation, which
/// no prediction has (docs/validity.md).
const NOT_PREDICTED: f64 = 0.1;

/// Samples of the kernel's time from which on they tell the functions that cause it: each is known to 10 % of the whole or better.
const ENOUGH_SAMPLES: u64 = 1000;

/// A whole profile, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileSummary {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Plan; its `kind` is `profile`.
    pub plan: CommandPlan,
    /// `failed` if the command did not run as it must, `untrusted` if its counts cannot be believed.
    pub outcome: Status,
    /// The reason where it is not `ok`.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub failure: Option<Failure>,
    /// Blocks that were complete.
    pub blocks: usize,
    /// True if each fault was followed; otherwise only their number is known.
    pub by_kind: bool,
    /// Counts; absent where the command did not run.
    pub counts: Option<EventCounts>,
    /// CPU time of a run, in seconds; absent with too few blocks.
    pub cpu_s: Option<Amount>,
    /// CPU time in the kernel of a run, in seconds.
    pub kernel_s: Option<Amount>,
    /// CPU time with the faults followed relative to that without; absent where this was not done.
    pub overhead: Option<Amount>,
    /// What it took to follow a process that runs already; absent for a command.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub following: Option<FollowingCost>,
    /// Calls that change mappings, as in [`super::Faults`].
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub mappings: BTreeMap<String, u64>,
    /// As in [`super::ObservedEffects`].
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub allocator: String,
    /// Programs and libraries that were mapped, as in [`super::ObservedEffects`].
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub modules: Vec<String>,
    /// Unit costs, in the order of the kinds.
    pub prices: Vec<Price>,
    /// Cost of all page faults; absent without unit costs.
    pub faults: Option<CostLine>,
    /// The same by callers, in seconds, the largest first; together they are all of it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub stacks: Option<CallStacks>,
    /// Time in the kernel by the work done there, the largest part first; empty where it could not be sampled.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kernel: Vec<KernelPart>,
    /// Samples of that; 0 where there are none.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kernel_samples: u64,
    /// True if processes were sampled from their beginning on; otherwise the part of many short ones is a lower bound.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kernel_whole: bool,
    /// The same by callers, in seconds.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kernel_stacks: Option<CallStacks>,
    /// Changes of the program that these costs suggest, the dearest first.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub advice: Vec<Suggestion>,
    /// Cost of giving pages back.
    pub freeing: Option<CostLine>,
    /// Cost of read and write calls.
    pub calls: Option<CostLine>,
    /// Agreement of that with the command's own time.
    pub consistency: Option<Consistency>,
    /// Settings worth a try, the largest saving first.
    pub candidates: Vec<Candidate>,
    /// Remarks on the whole.
    pub notes: Vec<Note>,
}

impl ProfileSummary {
    /// Seconds of a window in which page faults were followed, beside those that were planned; none of a command.
    pub fn window_s(&self) -> Option<[f64; 2]> {
        let planned_s = self.plan.attached.as_ref()?.window_s;
        let seen_s = self.following.map(|cost| cost.window_s);
        Some([seen_s.filter(|s| *s > 0.0).unwrap_or(planned_s), planned_s])
    }

    /// Stacks by the kernel's time where enough of it was sampled, otherwise those of page faults.
    pub fn costliest_stacks(&self) -> Option<&CallStacks> {
        let enough = self.kernel_samples >= ENOUGH_SAMPLES;
        let sampled = self.kernel_stacks.as_ref();
        sampled
            .filter(|_| enough)
            .or(self.stacks.as_ref())
            .or(sampled)
    }

    /// Candidates worth a try, the largest saving first.
    pub fn worth_a_try(&self) -> impl Iterator<Item = &Candidate> {
        let cpu_s = self.cpu_s.map_or(0.0, |cpu_s| cpu_s.value);
        self.candidates
            .iter()
            .filter(move |c| c.kernel_s.value > c.least_share() * cpu_s)
    }

    /// Names of the settings that the answer names for `try --with`, each once: candidates worth a try, what libraries that were
    /// met do of the same kind, and what the advice tries.
    pub fn named_settings(&self) -> Vec<&str> {
        let mut named: Vec<&str> = self.worth_a_try().map(|c| c.setting.as_str()).collect();
        let is_met = |start: &str| {
            let mut met = self.modules.iter().chain([&self.allocator]);
            met.any(|module| module.starts_with(start))
        };
        let of_libraries = OF_LIBRARIES
            .into_iter()
            .filter(|(candidate, start, _)| named.contains(candidate) && is_met(start));
        let of_libraries: Vec<&str> = of_libraries.map(|(_, _, setting)| setting).collect();
        let advised = self.advice.iter().flat_map(|advice| advice.kind.settings());
        for name in of_libraries.into_iter().chain(advised.copied()) {
            if !named.contains(&name) {
                named.push(name);
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use std::path::Path;
    use strum::VariantArray;

    /// Settings that are named, with the beginning of a file's name that brings each.
    fn named() -> Vec<(&'static str, Option<&'static str>)> {
        let advised = SuggestionKind::VARIANTS.iter();
        let advised = advised.flat_map(|kind| kind.settings());
        let of_libraries = OF_LIBRARIES
            .into_iter()
            .map(|(_, start, name)| (name, Some(start)));
        advised
            .map(|name| (*name, None))
            .chain(of_libraries)
            .collect()
    }

    #[test]
    fn every_setting_that_is_named_is_one_of_its_library() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../settings");
        assert!(named().len() > OF_LIBRARIES.len() + 3, "{:?}", named());
        for (name, start) in named() {
            let path = folder.join(format!("{name}.toml"));
            let text = std::fs::read_to_string(&path).unwrap();
            let modules = Setting::parse(name, &text).unwrap().modules;
            let is_its = start.is_none_or(|start| modules.iter().any(|module| module == start));
            assert!(is_its && !modules.is_empty(), "{name}: {modules:?}");
        }
    }
}
