//! A profile on a terminal of 80 columns and 24 lines, whatever it found: verdict, tree, three lines of what to do.

use pagewise_report::command;
use pagewise_report::terminal::{self, Screen};
use record::command::{
    Amount, CallFrame, CallStack, CallStacks, CommandSummary, CostLine, EventCounts, KernelPart,
    MemoryEvent, ProfileSummary, Suggestion, SuggestionKind,
};
use std::path::Path;

fn kept() -> ProfileSummary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/kept/profile/summary.json");
    let text = std::fs::read_to_string(path).unwrap();
    match serde_json::from_str(&text).unwrap() {
        CommandSummary::Profile(summary) => *summary,
        CommandSummary::Try(_) => panic!("the kept profile is a try"),
    }
}

fn screen(summary: &ProfileSummary, full: bool) -> String {
    let document = command::document(&CommandSummary::Profile(Box::new(summary.clone())));
    terminal::render(&document, &Screen::new(80, false), full).plain()
}

/// A cost of so many thousandths of the kept profile's CPU time, known to a tenth.
fn cost(summary: &ProfileSummary, thousandths: f64) -> CostLine {
    let cpu_s = summary.cpu_s.unwrap().value;
    let amount = |value: f64| Amount {
        value,
        low: 0.9 * value,
        high: 1.1 * value,
    };
    CostLine {
        seconds: amount(1e-3 * thousandths * cpu_s),
        share: amount(1e-3 * thousandths),
    }
}

fn part(summary: &ProfileSummary, event: MemoryEvent, call: &str, thousandths: f64) -> KernelPart {
    KernelPart {
        event,
        call: call.to_owned(),
        cost: cost(summary, thousandths),
    }
}

/// The kept profile with much to say: many functions with long names and places, all kinds of advice.
fn talkative() -> ProfileSummary {
    let mut summary = kept();
    let frame = |at: usize| CallFrame {
        function: format!("a_function_whose_name_is_longer_than_its_body::of_kind_{at}"),
        file: format!("/home/user/src/a_long_file_{at}.cpp"),
        line: 1000 + at as u32,
        module: "program".to_owned(),
    };
    let stacks: Vec<CallStack> = (1..30)
        .map(|at| CallStack {
            frames: vec![0, at],
            event: MemoryEvent::Unknown,
            weight: 1.0 / at as f64,
        })
        .collect();
    summary.kernel_stacks = Some(CallStacks {
        frames: (0..30).map(frame).collect(),
        stacks,
    });
    summary.kernel_samples = 5000;
    summary.kernel = vec![
        part(&summary, MemoryEvent::Unknown, "", 300.0),
        part(&summary, MemoryEvent::FreeBase, "munmap", 200.0),
        part(&summary, MemoryEvent::Move, "mremap", 100.0),
        part(&summary, MemoryEvent::Lock, "mmap", 50.0),
    ];
    summary.advice = [
        (SuggestionKind::KeepMapped, MemoryEvent::FreeBase),
        (SuggestionKind::Reserve, MemoryEvent::Move),
        (SuggestionKind::WaitLess, MemoryEvent::Lock),
        (SuggestionKind::WriteFirst, MemoryEvent::Unknown),
    ]
    .map(|(kind, event)| Suggestion {
        kind,
        cost: cost(&summary, 100.0),
        events: vec![event],
        call: String::new(),
    })
    .into();
    summary
}

#[test]
fn a_profile_is_one_screen_whatever_it_found() {
    for summary in [kept(), talkative()] {
        let text = screen(&summary, false);
        // Below it the terminal says where it is kept.
        assert!(text.lines().count() < 24, "{text}");
        assert!(!text.contains("Mappings:"), "{text}");
        let commands = |line: &&str| !line.trim_start().starts_with("pagewise try");
        for line in text.lines().filter(commands) {
            assert!(line.chars().count() <= 80, "{line}\n{text}");
        }
        assert!(text.contains("worth acting"), "{text}");
    }
}

#[test]
fn what_a_screen_leaves_out_stands_behind_it() {
    let summary = talkative();
    let (text, full) = (screen(&summary, false), screen(&summary, true));
    let functions = |text: &str| text.matches(" % ").count();
    assert!(functions(&full) > functions(&text) + 5, "{full}");
    for wanted in [
        "Mappings:",
        "also smaller ones",
        "read before it is written",
    ] {
        assert!(
            full.contains(wanted) && !text.contains(wanted),
            "{wanted}: {full}"
        );
    }
}

/// A loop that starts programs: the faults of each start are its cost, and none is a loop of the program's own.
#[test]
fn many_short_processes_are_named_as_such() {
    use MemoryEvent::{Cow, Exec, File, Fork, FreeBase, Map, Start, SystemCall, Unknown};
    let mut summary = kept();
    let cpu_s = summary.cpu_s.unwrap().value;
    summary.kernel = [
        (Unknown, "", 150.0),
        (Cow, "", 60.0),
        (File, "", 110.0),
        (Fork, "clone", 70.0),
        (Start, "clone", 50.0),
        (Exec, "execve", 60.0),
        (FreeBase, "exit_group", 90.0),
        (Map, "mmap", 30.0),
        (SystemCall, "openat", 40.0),
    ]
    .map(|(event, call, share)| part(&summary, event, call, share))
    .into();
    let with = |processes: f64| {
        let counts = EventCounts {
            processes,
            ..summary.counts.clone().unwrap()
        };
        let summary = ProfileSummary {
            counts: Some(counts),
            ..summary.clone()
        };
        command::briefly(&CommandSummary::Profile(Box::new(summary))).concat()
    };
    let many = with((cpu_s / 1e-3).max(20.0));
    assert!(
        many.contains("At least 60 % of CPU is starting and ending")
            && many.contains("worth acting"),
        "{many}"
    );
    let few = with(5.0);
    assert!(few.contains("page faults"), "{few}");
    // Processes that were sampled from their beginning on have their whole cost.
    summary.kernel_whole = true;
    let counts = summary.counts.as_mut().unwrap();
    counts.processes = (cpu_s / 1e-3).max(20.0);
    let whole = command::briefly(&CommandSummary::Profile(Box::new(summary))).concat();
    assert!(whole.contains("62 % of CPU is starting"), "{whole}");
    assert!(!whole.contains("At least"), "{whole}");
}

/// A function that calls itself is one line, whatever its depth.
#[test]
fn recursion_is_one_line_of_the_tree() {
    let mut summary = talkative();
    let table = summary.kernel_stacks.as_mut().unwrap();
    table.frames[0].function = "build".to_owned();
    table.frames[1].function = "grow".to_owned();
    for (at, stack) in table.stacks.iter_mut().enumerate() {
        stack.frames = vec![0; 1 + at % 5];
        stack.frames.push(1);
    }
    let text = screen(&summary, false);
    assert_eq!(text.matches("build").count(), 1, "{text}");
    assert!(text.contains("grow"), "{text}");
}

/// Memory that one function unmaps and another gives back by madvise: the advice names the function that calls it.
#[test]
fn a_change_of_a_call_stands_with_the_function_that_calls_it() {
    let mut summary = talkative();
    let frame = |function: &str, module: &str| CallFrame {
        function: function.to_owned(),
        module: module.to_owned(),
        ..CallFrame::default()
    };
    let stack = |frames: &[usize], weight: f64| CallStack {
        frames: frames.to_vec(),
        event: MemoryEvent::FreeBase,
        weight,
    };
    summary.kernel_stacks = Some(CallStacks {
        frames: vec![
            frame("drop_table", "program"),
            frame("munmap", "libc.so.6"),
            frame("shrink_arena", "program"),
            frame("__madvise", "libc.so.6"),
        ],
        stacks: vec![stack(&[0, 1], 3.0), stack(&[2, 3], 1.0)],
    });
    let with = |kind: SuggestionKind, call: &str| {
        let mut summary = summary.clone();
        summary.advice.truncate(1);
        (summary.advice[0].kind, summary.advice[0].call) = (kind, call.to_owned());
        screen(&summary, false)
    };
    let mapped = with(SuggestionKind::KeepMapped, "munmap");
    assert!(
        mapped.contains("drop_table: memory is unmapped"),
        "{mapped}"
    );
    let advised = with(SuggestionKind::KeepAdvised, "madvise");
    assert!(advised.contains("shrink_arena: madvise gives"), "{advised}");
    let other = with(SuggestionKind::KeepMapped, "brk");
    assert!(other.contains("drop_table: memory is unmapped"), "{other}");
}

/// A program of Go has no setting with a prediction: the command that tries names those of its advice.
#[test]
fn advice_on_a_runtime_names_the_command_that_tries_it() {
    let mut summary = talkative();
    summary.candidates.clear();
    summary.advice.truncate(1);
    summary.advice[0].kind = SuggestionKind::GoHeap;
    summary.advice[0].events = vec![MemoryEvent::Unknown];
    let table = summary.kernel_stacks.as_mut().unwrap();
    (table.frames[0].function, table.frames[1].function) = (
        "main.tree".to_owned(),
        "runtime.memclrNoHeapPointers".to_owned(),
    );
    table.stacks.truncate(1);
    let text = screen(&summary, false);
    // The function is the user's, and none of Go's own.
    let todo = text.split("What to do").nth(1).unwrap_or_default();
    assert!(todo.contains("main.tree"), "{text}");
    assert!(todo.contains("Go's heap grows into fresh"), "{text}");
    let command = text.lines().find(|line| line.contains("pagewise try"));
    let is_named = command.is_some_and(|line| line.contains("--with go-gc,go-limit"));
    assert!(is_named, "{text}");
}

/// A cost that is worth acting on, and nothing to do about it: the reason stands there.
#[test]
fn where_nothing_is_proposed_the_reason_is_said() {
    let mut summary = talkative();
    summary.candidates.clear();
    summary.advice.clear();
    let todo = |summary: &ProfileSummary| {
        let text = screen(summary, false);
        let todo = text.split("What to do").nth(1).unwrap_or_default();
        todo.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(
        todo(&summary).contains("use less memory"),
        "{}",
        todo(&summary)
    );
    summary.by_kind = false;
    assert!(
        todo(&summary).contains("not known which"),
        "{}",
        todo(&summary)
    );
    summary.kernel = vec![part(&summary, MemoryEvent::Switch, "futex", 300.0)];
    assert!(
        todo(&summary).contains("no setting of memory"),
        "{}",
        todo(&summary)
    );
    summary.kernel = vec![part(&summary, MemoryEvent::Unknown, "", 20.0)];
    assert!(!screen(&summary, false).contains("Nothing is proposed"));
}

/// A program that waits for its pages takes little CPU time: that is no reason to stop.
#[test]
fn page_faults_that_wait_for_a_device_are_named() {
    let mut summary = kept();
    summary.kernel = vec![part(&summary, MemoryEvent::File, "", 20.0)];
    summary.candidates.clear();
    let line = |summary: &ProfileSummary| {
        command::briefly(&CommandSummary::Profile(Box::new(summary.clone()))).concat()
    };
    let without = line(&summary);
    assert!(without.contains("stop here"), "{without}");
    summary.counts.as_mut().unwrap().major_faults = 4000.0;
    let with = line(&summary);
    assert!(
        with.contains("4000 page faults wait for a device"),
        "{with}"
    );
}

/// A program whose threads live shortly: nothing is known of its time in the kernel, so nothing is said to cost little.
#[test]
fn time_in_the_kernel_without_samples_is_no_reason_to_stop() {
    let mut summary = kept();
    let cpu = summary.cpu_s.unwrap();
    let little = cost(&summary, 10.0);
    summary.kernel.clear();
    summary.candidates.clear();
    (summary.faults, summary.freeing, summary.calls) = (Some(little), None, None);
    summary.kernel_s = Some(cpu);
    let line = |summary: &ProfileSummary| {
        command::briefly(&CommandSummary::Profile(Box::new(summary.clone()))).concat()
    };
    let with = line(&summary);
    assert!(
        with.contains("of CPU is the kernel's, hardly page faults"),
        "{with}"
    );
    summary.kernel_s = Some(little.seconds);
    assert!(line(&summary).contains("stop here"), "{}", line(&summary));
}
