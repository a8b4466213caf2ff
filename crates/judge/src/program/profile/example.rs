//! A profile made up of known numbers.

use super::judge;
use record::command::{
    Arm, ArmRole, CommandCost, CommandEnd, CommandLaunch, CommandPlan, Faults, KernelWork,
    LaunchMode, MemoryEvent, Pages, PricePhase, ProfileSummary, SampledPart,
};
use std::collections::BTreeMap;

pub const BLOCKS: i64 = 8;

/// A profile of one command, with pages of 4 KiB and 2 MiB.
pub fn plan() -> CommandPlan {
    let arm = Arm {
        name: "unchanged".to_owned(),
        role: ArmRole::Baseline,
        shown: "program".to_owned(),
        command: vec!["program".to_owned()],
        setting: None,
        variables: BTreeMap::new(),
        preloaded: None,
        cpus: None,
        skipped: None,
        joined: BTreeMap::new(),
        replaced: BTreeMap::new(),
    };
    CommandPlan {
        schema: 3,
        kind: record::kind::Kind::Profile,
        run: "a".to_owned(),
        seed: 1,
        arms: vec![arm],
        directory: "/".into(),
        precision: 0.002,
        margin: 0.0,
        budget_s: Some(1.0),
        pairs: None,
        warmups: 1,
        time_limit_s: 60.0,
        pages: Some(Pages {
            page_bytes: 4096,
            huge_page_bytes: 2 << 20,
            thp: "madvise".to_owned(),
        }),
        ..CommandPlan::default()
    }
}

/// A run of one second, a tenth of it in the kernel, with 20 000 faults.
pub fn cost() -> CommandCost {
    CommandCost {
        end: CommandEnd::Exit,
        code: 0,
        wall_ns: 1_000_000_000,
        user_us: 900_000,
        system_us: 100_000,
        max_rss_kib: 80 << 10,
        minor_faults: 20_000,
        major_faults: 0,
        voluntary_switches: 1,
        involuntary_switches: 2,
        output_bytes: 0,
        output_hash: String::new(),
        error_bytes: 0,
        left: 0,
        not_evicted: 0,
        read_bytes: 1 << 20,
        write_bytes: 0,
        read_calls: 8,
        write_calls: 0,
        dirtied_pages: 0,
        fetched_bytes: 0,
        faults: None,
        faults_unseen: None,
        stacks_unseen: None,
        kernel_work: None,
        kernel_unseen: None,
        split: None,
        watched: None,
        process_ended: false,
        observer_us: 0,
        proof: None,
    }
}

/// 18 000 of the faults in user mode: 17 920 first writes to the heap, which are 35 whole blocks, and 80 of files.
pub fn faults() -> Faults {
    Faults {
        counted: 18_000,
        samples: 18_000,
        kinds: BTreeMap::from([(MemoryEvent::Heap, 17_920), (MemoryEvent::File, 80)]),
        malloc_blocks: 35,
        malloc_faults: 17_920,
        processes: 1,
        ..Faults::default()
    }
}

/// A launch of the command, followed where the mode says so.
pub fn command(block: i64, mode: LaunchMode) -> CommandLaunch {
    let mut cost = cost();
    if mode == LaunchMode::Followed {
        cost.faults = Some(faults());
    }
    CommandLaunch {
        block,
        mode,
        cost: Some(cost),
        ..CommandLaunch::default()
    }
}

/// A worker over 80 MiB; each phase's CPU time is given in nanoseconds a fault or page.
pub fn priced(block: i64, mode: LaunchMode, phases: &[(&str, u64, u64)]) -> CommandLaunch {
    let mut launch = CommandLaunch {
        cost: None,
        ..command(block, mode)
    };
    for (name, each_ns, faults) in phases {
        let phase = PricePhase {
            cpu_ns: each_ns * faults,
            ops: 20_480,
            bytes: 80 << 20,
            minor_faults: *faults,
        };
        launch.phases.insert((*name).to_owned(), phase);
    }
    launch
}

/// A fault costs 2 µs and its page 0.25 µs when it goes; a huge page 500 µs and 5 µs.
pub fn runs(fault_ns: impl Fn(i64) -> u64) -> Vec<CommandLaunch> {
    let mut runs = vec![
        command(-1, LaunchMode::Plain),
        command(-1, LaunchMode::Traced),
    ];
    for block in 0..BLOCKS {
        runs.push(command(block, LaunchMode::Plain));
        runs.push(command(block, LaunchMode::Followed));
        let base = [
            ("first-touch", fault_ns(block), 20_480),
            ("re-touch", 0, 0),
            ("unmap", 250, 20_480),
        ];
        runs.push(priced(block, LaunchMode::PriceBase, &base));
        let huge = [
            ("first-touch", 500_000, 40),
            ("re-touch", 0, 0),
            ("unmap", 5_000, 40),
        ];
        runs.push(priced(block, LaunchMode::PriceHuge, &huge));
    }
    runs
}

/// Launches of a profile in which so many samples of 250 µs met each work.
pub(super) fn sampled_runs(parts: &[(MemoryEvent, &str, u64)]) -> Vec<CommandLaunch> {
    let mut launches = runs(|_| 2_000);
    for block in 0..3 {
        let mut launch = command(block, LaunchMode::Sampled);
        let part = |(event, call, samples): &(MemoryEvent, &str, u64)| SampledPart {
            event: *event,
            call: (*call).to_owned(),
            samples: *samples,
        };
        launch.cost.as_mut().unwrap().kernel_work = Some(KernelWork {
            period_ns: 250_000,
            lost: 0,
            whole: false,
            parts: parts.iter().map(part).collect(),
        });
        launches.push(launch);
    }
    launches
}

/// Fails unless a figure is the wanted one but for rounding.
pub fn near(value: f64, wanted: f64) {
    assert!(
        (value / wanted - 1.0).abs() < 1e-9,
        "{value} is not {wanted}"
    );
}

/// The usual profile: a fault costs 2 µs in every block.
pub fn usual() -> ProfileSummary {
    judge(&plan(), &runs(|_| 2_000))
}
