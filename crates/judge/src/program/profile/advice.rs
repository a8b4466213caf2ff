//! Changes of the program's own calls that its costs suggest.

use super::candidates::are_used;
use super::counts::Counted;
use super::owners::OWNERS;
use super::sampled::SampledKernel;
use record::command::MemoryEvent::{
    Again, Anonymous, Cow, Elsewhere, Exec, File, FileWrite, Fork, FreeBase, FreeHuge, Heap, Huge,
    Kernel, Lock, Map, Move, PageCache, Protect, Raced, ReadBytes, ReadCalls, Reclaim, Shared,
    Shootdown, Signal, Start, Switch, SystemCall, Unknown, WriteBack, WriteBytes, WriteCalls,
    WriteNew, ZeroRead, ZeroWrite,
};
use record::command::{
    Amount, CallStacks, CostLine, EventFamily, MemoryEvent, Price, Suggestion, SuggestionKind,
};

/// Share of CPU time from which on a change is worth a line.
pub(super) const WORTH: f64 = 0.05;
/// Calls of a run from which on they are made in a loop.
const LOOP: u64 = 100;
/// Page faults of a process on the files of its own code and libraries, at most.
const LOADED: f64 = 1000.0;
/// Reads and writes of a run from which on they are many, and bytes of each below which they are small.
const MANY_CALLS: f64 = 1000.0;
const SMALL_BYTES: f64 = (16 << 10) as f64;

/// KernelCosts of a profile from which advice follows.
pub(super) struct KernelCosts<'a> {
    pub sampled: Option<&'a SampledKernel>,
    pub prices: &'a [Price],
    pub counted: &'a Counted<'a>,
    pub cpu_s: f64,
    /// Programs and libraries that were mapped, by the names of their files.
    pub modules: &'a [String],
    /// Stacks of page faults.
    pub stacks: Option<&'a CallStacks>,
}

impl KernelCosts<'_> {
    fn sampled(&self, takes_part: impl Fn(MemoryEvent, &str) -> bool) -> Option<CostLine> {
        Some(self.sampled?.cost(takes_part))
    }

    /// Cost of counted events, which samples do not tell from each other.
    fn counted(&self, events: &[MemoryEvent]) -> Option<CostLine> {
        let mut seconds = Amount {
            value: 0.0,
            low: 0.0,
            high: 0.0,
        };
        for price in self.prices.iter().filter(|p| events.contains(&p.kind)) {
            seconds.value += price.together_s.value;
            seconds.low += price.together_s.low;
            seconds.high += price.together_s.high;
        }
        let share = |s: f64| (s / self.cpu_s.max(1e-9)).min(1.0);
        let [value, low, high] = [seconds.value, seconds.low, seconds.high].map(share);
        (seconds.value > 0.0).then_some(CostLine {
            seconds,
            share: Amount { value, low, high },
        })
    }

    fn dearest_call(&self, takes_part: impl Fn(MemoryEvent) -> bool) -> Option<&str> {
        self.sampled?.dearest_call(takes_part)
    }

    /// True if the run mostly starts and ends processes, whose page faults and mappings are no loop of the program.
    fn is_of_short_processes(&self) -> bool {
        self.sampled.is_some() && self.counted.shown.is_of_short_processes(self.cpu_s)
    }

    /// Calls of the traced launch by their name.
    fn calls(&self, name: &str) -> u64 {
        let calls = self.counted.traced.map(|faults| &faults.calls);
        calls
            .and_then(|calls| calls.get(name))
            .copied()
            .unwrap_or(0)
    }
}

/// Changes worth a line, the dearest first.
pub(super) fn advice(costs: &KernelCosts<'_>) -> Vec<Suggestion> {
    let mut list = SuggestionList::default();
    processes(costs, &mut list);
    let is_of_short = costs.is_of_short_processes();
    if !is_of_short {
        taken_and_given_back(costs, &mut list);
        copies(costs, &mut list);
    }
    for (kind, event) in [
        (SuggestionKind::Reserve, Move),
        (SuggestionKind::ProtectLess, Protect),
        (SuggestionKind::MoreMemory, Reclaim),
    ] {
        let cost = costs.sampled(|e, _| e == event);
        let cost = cost.filter(|_| !(is_of_short && event == Protect));
        list.add(kind, cost, &[event], "");
    }
    // Other calls wait for other locks: those of a file, for the most part.
    let waits = costs.sampled(|event, call| event == Lock && is_of_mappings(call));
    list.add(SuggestionKind::WaitLess, waits, &[Lock], "");
    if !is_of_short {
        page_faults(costs, &mut list);
    }
    if let Some(call) = costs.dearest_call(|event| event == Shootdown) {
        let cost = costs.sampled(|event, _| event == Shootdown);
        list.add(SuggestionKind::UnmapTogether, cost, &[Shootdown], call);
    }
    if let Some(call) = costs.dearest_call(is_no_memory) {
        let cost = costs.sampled(|event, name| is_no_memory(event) && name == call);
        list.add(SuggestionKind::NotMemory, cost, &NO_MEMORY, call);
    }
    let SuggestionList(mut advice) = list;
    advice.sort_by(|a, b| b.cost.share.value.total_cmp(&a.cost.share.value));
    advice
}

#[derive(Default)]
struct SuggestionList(Vec<Suggestion>);

impl SuggestionList {
    /// Adds a change whose cost is worth a line.
    fn add(
        &mut self,
        kind: SuggestionKind,
        cost: Option<CostLine>,
        events: &[MemoryEvent],
        call: &str,
    ) {
        let worth = cost.filter(|cost| cost.share.value >= WORTH && cost.share.low > WORTH / 2.0);
        self.0.extend(worth.map(|cost| Suggestion {
            kind,
            cost,
            events: events.to_vec(),
            call: call.to_owned(),
        }));
    }
}

/// Processes that are forked, and programs that are executed. What a fork copied is thrown away by the program executed instead.
fn processes(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let copied = costs.sampled(|event, _| event == Fork);
    let is_copying = copied.is_some_and(|cost| cost.share.low > WORTH / 2.0);
    if costs.is_of_short_processes() {
        let cost = costs.sampled(MemoryEvent::is_of_short_process);
        list.add(
            SuggestionKind::FewerPrograms,
            cost,
            &[Fork, Exec, Start],
            "",
        );
    } else if is_copying {
        let cost =
            costs.sampled(|event, call| event == Fork || (event == FreeBase && call == "execve"));
        list.add(SuggestionKind::Spawn, cost, &[Fork], "");
    } else {
        let cost = costs.sampled(|event, call| {
            matches!(event, Exec | Start) || (event == FreeBase && call == "execve")
        });
        list.add(
            SuggestionKind::FewerPrograms,
            cost,
            &[Fork, Exec, Start],
            "",
        );
    }
}

/// Memory that is taken, and that is given back in a loop and taken again: by a runtime or an allocator, or by the program.
fn taken_and_given_back(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let given_back = given_back(costs);
    let own_faults: f64 = OF_MEMORY
        .iter()
        .map(|event| costs.counted.count(*event))
        .sum();
    let is_again = given_back.is_some() || 2.0 * costs.counted.count(Again) > own_faults;
    let mut owners = OWNERS
        .iter()
        .filter(|owner| owner.is_met(costs.modules, costs.stacks));
    let change = owners.find_map(|owner| {
        let given_back = owner.given_back.filter(|_| is_again);
        Some((owner, given_back.or(owner.fresh)?))
    });
    if let Some((owner, kind)) = change {
        let cost = costs.sampled(|event, call| {
            matches!(event, Unknown | Huge)
                || (matches!(event, FreeBase | Map) && gives_memory_back(call))
        });
        let cost = cost.or_else(|| costs.counted(&OF_MEMORY));
        // The functions that the stacks of an interpreter or of generated code name are its own.
        let events: &[MemoryEvent] = match owner.given_back {
            Some(_) => &[Unknown, Huge],
            None => &[],
        };
        list.add(kind, cost, events, "");
    } else if let Some(GivenBack { kind, cost, call }) = given_back {
        list.add(kind, cost, &[FreeBase], call);
    }
}

/// Page faults on a program's own memory.
const OF_MEMORY: [MemoryEvent; 7] = [Heap, Anonymous, Elsewhere, Again, ZeroRead, ZeroWrite, Huge];

/// True for calls that take memory or give it back while a program runs.
fn gives_memory_back(call: &str) -> bool {
    matches!(call, "munmap" | "brk" | "madvise") || call.starts_with("mmap")
}

/// Memory that is given back in a loop and taken again, with the call that does.
struct GivenBack {
    kind: SuggestionKind,
    cost: Option<CostLine>,
    call: &'static str,
}

fn given_back(costs: &KernelCosts<'_>) -> Option<GivenBack> {
    let advised = costs.calls("madvise");
    // An end of the heap that goes back and forth is given back as a mapping is.
    let unmapped = costs.calls("munmap").max(costs.calls("brk"));
    let again = costs.counted(&[Again]);
    let by_madvise = costs.sampled(|event, call| event == FreeBase && call == "madvise");
    let is_advised = by_madvise.is_some_and(|cost| cost.share.value >= WORTH / 2.0);
    if advised >= LOOP && (is_advised || (costs.sampled.is_none() && advised > unmapped)) {
        // Pages that MADV_FREE marks stay until memory is short: they have no page fault when they are touched again.
        let is_lazy = 2 * costs.calls("madvise(MADV_FREE)") > advised;
        let (kind, cost) = if is_lazy {
            (SuggestionKind::AdviseLess, by_madvise)
        } else {
            (SuggestionKind::KeepAdvised, sum(by_madvise, again))
        };
        let call = "madvise";
        return Some(GivenBack { kind, cost, call });
    }
    (unmapped >= LOOP).then(|| {
        let by_calls = costs.sampled(|event, call| {
            let is_mapping = matches!(call, "munmap" | "brk") || call.starts_with("mmap");
            matches!(event, FreeBase | Map) && is_mapping
        });
        GivenBack {
            kind: SuggestionKind::KeepMapped,
            cost: sum(by_calls, again),
            call: "munmap",
        }
    })
}

/// Reads and writes: many small ones, or bytes that are copied.
fn copies(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let of_calls = [ReadCalls, ReadBytes, WriteCalls, WriteBytes, WriteNew];
    let cost = costs.sampled(|event, _| event.family() == EventFamily::Calls);
    let cost = cost.or_else(|| costs.counted(&of_calls));
    let [read_calls, write_calls, read_bytes, write_bytes] =
        [ReadCalls, WriteCalls, ReadBytes, WriteBytes].map(|event| costs.counted.count(event));
    let (calls, bytes) = (read_calls + write_calls, read_bytes + write_bytes);
    let usual = if read_bytes >= write_bytes {
        "read"
    } else {
        "write"
    };
    let dearest = costs.dearest_call(|event| event.family() == EventFamily::Calls);
    let kind = if calls >= MANY_CALLS && bytes < SMALL_BYTES * calls {
        SuggestionKind::LargerCalls
    } else {
        SuggestionKind::CopyLess
    };
    list.add(
        kind,
        cost,
        &[ReadCalls, WriteCalls],
        dearest.unwrap_or(usual),
    );
}

/// Work that a system call does beside memory's.
const NO_MEMORY: [MemoryEvent; 6] = [SystemCall, PageCache, WriteBack, Signal, Switch, Kernel];

fn is_no_memory(event: MemoryEvent) -> bool {
    NO_MEMORY.contains(&event)
}

/// True for page faults, whose call is empty, and for calls that change mappings.
fn is_of_mappings(call: &str) -> bool {
    let calls = [
        "",
        "munmap",
        "mprotect",
        "madvise",
        "mremap",
        "brk",
        "execve",
        "exit_group",
        "clone",
    ];
    calls.contains(&call) || call.starts_with("mmap")
}

/// Page faults of a kind that the program's own accesses decide.
fn page_faults(costs: &KernelCosts<'_>, list: &mut SuggestionList) {
    let huge = costs.sampled(|event, _| event == Huge);
    let huge = huge.or_else(|| costs.counted(&[Huge, FreeHuge]));
    let huge = huge.filter(|_| !are_used(costs.counted));
    list.add(SuggestionKind::SmallPages, huge, &[Huge], "");
    let raced = costs.counted(&[Raced]);
    list.add(SuggestionKind::OneThread, raced, &[Unknown], "");
    let file = costs.sampled(|event, _| event == File);
    let file = file.or_else(|| costs.counted(&[File, FileWrite]));
    // Samples do not tell the pages of shared memory from those of files.
    let counts = costs.counted;
    let of_files = counts.count(File) + counts.count(FileWrite);
    let is_of_files = of_files >= counts.count(Shared);
    let is_data = of_files > LOADED * counts.shown.processes;
    let read = file.filter(|_| is_of_files && is_data);
    list.add(SuggestionKind::ReadFile, read, &[File], "");
    let shared = file.or_else(|| costs.counted(&[Shared]));
    let shared = shared.filter(|_| !is_of_files);
    list.add(SuggestionKind::SharedPages, shared, &[File, Shared], "");
    let copied = costs.counted(&[Cow]);
    list.add(SuggestionKind::WriteAfterFork, copied, &[Cow], "");
    let read_first = costs.counted(&[ZeroRead, ZeroWrite]);
    list.add(SuggestionKind::WriteFirst, read_first, &[Cow, Unknown], "");
}

fn sum(first: Option<CostLine>, second: Option<CostLine>) -> Option<CostLine> {
    let (Some(a), Some(b)) = (first, second) else {
        return first.or(second);
    };
    Some(CostLine {
        seconds: added(a.seconds, b.seconds, f64::INFINITY),
        share: added(a.share, b.share, 1.0),
    })
}

fn added(a: Amount, b: Amount, most: f64) -> Amount {
    Amount {
        value: (a.value + b.value).min(most),
        low: (a.low + b.low).min(most),
        high: (a.high + b.high).min(most),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge};
    use super::*;
    use record::command::{CallFrame, CallStack, Faults, LaunchMode, ObservedEffects};

    /// Kinds of advice where so many samples met each work, page faults were changed like this, and no process had more memory.
    fn kinds(
        parts: &[(MemoryEvent, &str, u64)],
        most_kib: u64,
        change: impl Fn(&mut Faults),
    ) -> Vec<SuggestionKind> {
        let mut launches = sampled_runs(parts);
        launches[1].cost.as_mut().unwrap().faults = Some(faults());
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            cost.max_rss_kib = most_kib;
            cost.faults.iter_mut().for_each(&change);
        }
        let advice = judge(&plan(), &launches).advice;
        advice.iter().map(|advice| advice.kind).collect()
    }

    /// Kinds of advice for a program with these files of code and these calls, and so many samples of each work.
    fn kinds_with(
        modules: &[&str],
        calls: &[(&str, u64)],
        parts: &[(MemoryEvent, &str, u64)],
    ) -> Vec<SuggestionKind> {
        let mut launches = sampled_runs(parts);
        let traced = launches[1].cost.as_mut().unwrap();
        traced.faults = Some(Faults {
            calls: calls
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect(),
            ..faults()
        });
        traced.proof = Some(ObservedEffects {
            modules: modules.iter().map(|name| (*name).to_owned()).collect(),
            ..ObservedEffects::default()
        });
        let advice = judge(&plan(), &launches).advice;
        advice.iter().map(|advice| advice.kind).collect()
    }

    #[test]
    fn a_runtime_or_an_allocator_has_the_advice_on_the_memory_that_it_takes() {
        use SuggestionKind::{
            GoHeap, GoReturn, JavaHeap, JemallocReturn, KeepAdvised, NodeHeap, NumpyArrays,
            PythonObjects, TcmallocReturn,
        };
        let parts = [(Unknown, "", 200), (FreeBase, "madvise", 300)];
        let returned = |modules: &[&str]| kinds_with(modules, &[("madvise", 300)], &parts);
        let fresh = |modules: &[&str]| kinds_with(modules, &[("mmap", 3)], &[(Unknown, "", 400)]);
        let libc = "libc.so.6";
        assert_eq!(returned(&["program", libc]), [KeepAdvised]);
        assert_eq!(returned(&["service", "[go]"]), [GoReturn]);
        assert_eq!(
            returned(&["program", "libjemalloc.so.2", libc]),
            [JemallocReturn]
        );
        assert_eq!(
            returned(&["program", "libtcmalloc_minimal.so.4"]),
            [TcmallocReturn]
        );
        assert_eq!(fresh(&["service", "[go]"]), [GoHeap]);
        assert_eq!(fresh(&["java", "libjvm.so", libc]), [JavaHeap]);
        assert_eq!(fresh(&["node", libc]), [NodeHeap]);
        assert_eq!(fresh(&["python3.13", libc]), [PythonObjects]);
        let numpy = "_multiarray_umath.cpython-313-x86_64-linux-gnu.so";
        assert_eq!(fresh(&["python3.13", numpy, libc]), [NumpyArrays]);
        // An allocator that gives nothing back leaves it to the runtime, and a like name is another program.
        assert_eq!(fresh(&["python3.13", "libjemalloc.so.2"]), [PythonObjects]);
        assert!(fresh(&["program", libc]).is_empty());
        assert!(fresh(&["node-exporter", "libjvmti.so", libc]).is_empty());
        // Work that is worth no line has none for a runtime, either.
        let little = kinds_with(&["[go]"], &[], &[(Fork, "clone", 60), (Unknown, "", 40)]);
        assert!(!little.contains(&GoHeap), "{little:?}");
    }

    /// Lists of Python are no arrays, although numpy was loaded.
    #[test]
    fn what_touches_memory_first_is_on_the_stacks_of_page_faults() {
        let numpy = "_multiarray_umath.cpython-313-x86_64-linux-gnu.so";
        let with = |innermost: &str| {
            let mut launches = sampled_runs(&[(Unknown, "", 400)]);
            launches[1].cost.as_mut().unwrap().proof = Some(ObservedEffects {
                modules: ["python3.13", numpy].map(str::to_owned).into(),
                ..ObservedEffects::default()
            });
            let frame = |module: &str| CallFrame {
                module: module.to_owned(),
                ..CallFrame::default()
            };
            let followed = launches
                .iter_mut()
                .filter(|l| l.mode == LaunchMode::Followed);
            for launch in followed {
                launch.stacks = Some(CallStacks {
                    frames: vec![frame("python3.13"), frame(innermost)],
                    stacks: vec![CallStack {
                        frames: vec![0, 1],
                        event: Heap,
                        weight: 1.0,
                    }],
                });
            }
            let advice = judge(&plan(), &launches).advice;
            advice.first().map(|advice| advice.kind)
        };
        assert_eq!(with(numpy), Some(SuggestionKind::NumpyArrays));
        assert_eq!(with("libc.so.6"), Some(SuggestionKind::PythonObjects));
    }

    #[test]
    fn reads_and_writes_are_small_or_copy() {
        let with = |calls: u64, bytes: u64| {
            let mut launches = sampled_runs(&[(ReadCalls, "read", 300), (Unknown, "", 60)]);
            for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
                (cost.read_calls, cost.read_bytes) = (calls, bytes);
            }
            let advice = judge(&plan(), &launches).advice;
            let read = advice.iter().find(|advice| advice.call == "read");
            read.map(|advice| advice.kind)
        };
        assert_eq!(
            with(100_000, 512 * 100_000),
            Some(SuggestionKind::LargerCalls)
        );
        assert_eq!(with(400, 400 << 20), Some(SuggestionKind::CopyLess));
        assert_eq!(with(20, 4096), Some(SuggestionKind::CopyLess));
    }

    #[test]
    fn copies_after_a_fork_have_advice() {
        let with = |copies: u64| {
            kinds(&[(Cow, "", 300), (Unknown, "", 100)], 80 << 10, |faults| {
                faults.kinds = [(Cow, copies), (Heap, 17_920 - copies)].into();
            })
        };
        assert!(with(15_000).contains(&SuggestionKind::WriteAfterFork));
        assert!(!with(10).contains(&SuggestionKind::WriteAfterFork));
    }

    #[test]
    fn shared_memory_is_no_file_that_is_read() {
        let parts = [(File, "", 400)];
        let with = |shared: u64, file: u64| {
            kinds(&parts, 80 << 10, |faults| {
                faults.kinds = [(Shared, shared), (File, file)].into();
            })
        };
        assert_eq!(with(80, 17_920), [SuggestionKind::ReadFile]);
        // So few are those of the program's own code.
        assert!(with(80, 900).is_empty());
        assert_eq!(with(17_920, 80), [SuggestionKind::SharedPages]);
    }

    #[test]
    fn processes_that_live_shortly_are_one_cost() {
        let parts = [
            (Unknown, "", 200),
            (File, "", 300),
            (Fork, "clone", 250),
            (Exec, "execve", 200),
            (FreeBase, "exit_group", 150),
        ];
        let with = |processes: u64, most_kib: u64| {
            kinds(&parts, most_kib, |faults| faults.processes = processes)
        };
        assert_eq!(with(400, 8 << 10), [SuggestionKind::FewerPrograms]);
        // A hundred of 10 ms each do something else, too, and so does one with much memory, whose page tables are copied.
        for others in [with(100, 8 << 10), with(400, 80 << 10)] {
            assert!(others.contains(&SuggestionKind::Spawn), "{others:?}");
            assert!(!others.contains(&SuggestionKind::ReadFile), "{others:?}");
        }
    }

    #[test]
    fn what_madvise_takes_lazily_is_not_to_be_taken_lazily_instead() {
        let parts = [(Unknown, "", 100), (FreeBase, "madvise", 400)];
        let with = |lazy: u64| {
            kinds(&parts, 80 << 10, |faults| {
                let calls = [("madvise", 300), ("madvise(MADV_FREE)", lazy)];
                faults.calls = calls.map(|(name, count)| (name.to_owned(), count)).into();
            })
        };
        assert_eq!(with(290), [SuggestionKind::AdviseLess]);
        assert_eq!(with(10), [SuggestionKind::KeepAdvised]);
    }

    #[test]
    fn a_heap_whose_end_goes_back_and_forth_is_kept() {
        let parts = [(Unknown, "", 200), (FreeBase, "brk", 300)];
        let with = |count: u64| {
            kinds(&parts, 80 << 10, |faults| {
                faults.calls = [("brk".to_owned(), count)].into();
            })
        };
        assert!(with(2).is_empty());
        assert_eq!(with(300), [SuggestionKind::KeepMapped]);
    }
}
