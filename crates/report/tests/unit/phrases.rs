use super::*;
use record::machine::preflight::Busy;
use record::machine_state::{LostProof, ProofMoment, StateProof};
use record::summary::LaunchCount;
use stats::steady::Label;
use std::collections::BTreeSet;

fn busy(name: &str, cpus: f64) -> Busy {
    Busy { name: name.to_owned(), pid: 7, cpus }
}

fn state_lost(at: ProofMoment, at_least: Option<u64>, at_most: Option<u64>, value: Option<u64>) -> WarningKind {
    let proof = StateProof { counter: "pswpout".to_owned(), at, at_least, at_most };
    WarningKind::StateLost { count: LaunchCount { launches: 2, all: 9 }, proof: LostProof { proof, value } }
}

fn warnings() -> Vec<WarningKind> {
    use WarningKind::*;
    let count = LaunchCount { launches: 3, all: 12 };
    let text = || "text".to_owned();
    vec![
        Damaged { seen: text() },
        LastLaunchLost { launch: 4 },
        AnotherRun,
        AaDiffers { low: 1.0514, high: 1.2 },
        BestPossibleBeaten { by: text() },
        BelowFloor { phase: text() },
        Interrupted { share: 0.31 },
        Steal { share: 0.068 },
        Throttled { share: 1.2 },
        Reclaim(count),
        ForeignIo(count),
        ThpFallback(count),
        Laboratory(count),
        MemoryPressure(count),
        Unsteady { label: Label::Drifting, shift: Some(1.256) },
        Unsteady { label: Label::TwoLevel, shift: None },
        state_lost(ProofMoment::Rise, Some(1), None, Some(0)),
        state_lost(ProofMoment::After, Some(1), Some(5), Some(8)),
        state_lost(ProofMoment::Both, None, Some(5), None),
        Level { broken: 1, samples: 3, first: text() },
        FirstPass { first_ns: 2e6, later_ns: 5e5 },
        CpuTaken { share: 0.051, longest_ns: 4_000_000 },
        SlowClock { read_ns: 900.0 },
        BusyProcesses { cpus: 1.25, busiest: vec![busy("cc1", 0.93), busy("ld", 0.3)] },
        MemoryThreads { busiest: vec![busy("kswapd0", 0.043)] },
        CounterAbsent { reason: text() },
    ]
}

/// The names of a part of the file.
fn names(part: &str) -> BTreeSet<String> {
    let templates = PHRASES.templates();
    templates.filter_map(|(name, _)| Some(name.strip_prefix(part)?.strip_prefix('/')?.to_owned())).collect()
}

#[test]
fn every_warning_has_a_sentence_and_every_sentence_a_warning() {
    let codes: BTreeSet<String> = warnings().iter().map(WarningKind::code).collect();
    assert_eq!((&names("fact"), &names("remedy")), (&codes, &codes));
    let sentences: Vec<String> = warnings().iter().map(warning).collect();
    insta::assert_snapshot!(sentences.join("\n"));
}
