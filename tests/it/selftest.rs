//! A short self-test through the real pipeline: its numbers must fit together. No time is asserted, and neither is how many
//! alarms there are: chance has its share in them.

use assert_cmd::Command;
use judge::selftest::SelfTest;
use record::machine::cpu::Ladder;

use crate::support::place::Place;

fn pagewise(arguments: &[&str]) -> std::process::Output {
    let place = Place::new();
    let mut command = Command::from_std(place.command(&[]));
    command.args(arguments).output().expect("it runs")
}

#[test]
fn a_short_self_test_adds_up() {
    let output = pagewise(&[
        "check",
        "--selftest",
        "--budget",
        "6s",
        "--seed",
        "7",
        "--json",
    ]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{message}");
    let found: SelfTest = serde_json::from_slice(&output.stdout).expect("the self-test's shape");
    assert_eq!(found.seed, 7);
    let works: Vec<&str> = found.identical.iter().map(|i| i.work.as_str()).collect();
    assert_eq!(works, ["steps", "pages"]);
    for one in &found.identical {
        assert_eq!((one.comparisons + one.withheld) % one.runs, 0);
        assert!(
            one.false_alarms <= one.comparisons && one.beyond_margin <= one.false_alarms,
            "{one:?}"
        );
        assert!(
            (-1.0..=1.0).contains(&one.correlation) && one.half_width <= one.widest,
            "{one:?}"
        );
    }
    for effect in &found.effects {
        assert_eq!(effect.truth, 1.0 + effect.extra_permille as f64 / 1000.0);
        assert!(effect.truth_of_samples <= effect.truth && effect.covered <= effect.trials);
        assert_eq!(effect.verdicts.values().sum::<usize>(), effect.trials);
    }
    // Whether an effect is seen is a matter of time on a busy machine; that none is seen the wrong way round is not.
    assert!(
        found
            .effects
            .iter()
            .all(|e| e.seen <= e.trials && e.estimate.is_finite()),
        "{:?}",
        found.effects
    );
    assert!(!found.real.is_empty(), "real cells were measured");
    for one in &found.real {
        assert!(
            one.false_alarms <= one.pairs && one.seen <= one.more && one.missed <= one.more,
            "{one:?}"
        );
    }
    for usual in &found.naive {
        assert!(
            usual.beyond_margin <= usual.announced && usual.announced <= usual.comparisons,
            "{usual:?}"
        );
    }
    assert_eq!(output.status.code(), Some(i32::from(found.exit_code())));
}

#[test]
fn a_budget_that_is_no_time_is_wrong_use() {
    assert_eq!(
        pagewise(&["check", "--selftest", "--budget", "soon"])
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn the_self_test_s_experiment_is_hidden_unless_named() {
    let all = String::from_utf8(pagewise(&["list"]).stdout).expect("text");
    assert!(!all.contains("\nselftest:"), "{all}");
    let named = String::from_utf8(pagewise(&["list", "selftest"]).stdout).expect("text");
    assert!(
        named.contains("steps-extra") && named.contains("pages-extra"),
        "{named}"
    );
}

#[test]
fn the_gap_probe_answers_by_its_protocol() {
    let output = pagewise(&["doctor", "--noise", "--json"]);
    let seen: record::machine::preflight::Preflight =
        serde_json::from_slice(&output.stdout).expect("its shape");
    assert!(!seen.gaps.is_empty());
    for gaps in &seen.gaps {
        assert!(
            gaps.lost_ns <= gaps.elapsed_ns && gaps.largest_gap_ns <= gaps.lost_ns,
            "{gaps:?}"
        );
        let counts: Vec<u64> = gaps.over.iter().map(|(_, count)| *count).collect();
        assert!(
            counts.is_sorted_by(|a, b| a >= b),
            "a gap above a threshold is above the lower ones: {gaps:?}"
        );
    }
}

#[test]
fn doctor_walks_the_ladder_of_caches_and_runs_of_the_boot_go_by_it() {
    let place = Place::new();
    let json = |command: &mut std::process::Command| -> serde_json::Value {
        serde_json::from_slice(&command.output().expect("it runs").stdout).expect("JSON")
    };
    let seen = json(&mut place.command(&["doctor", "--json"]));
    let ladder: Ladder =
        serde_json::from_value(seen["environment"]["cpu"]["ladder"].clone()).expect("a ladder");
    assert!(
        ladder.steps.len() > 15 && ladder.steps[0].bytes == 16 << 10,
        "{ladder:?}"
    );
    assert!(
        ladder.steps.iter().all(|s| s.read_ps > 0)
            && ladder.steps.last().is_some_and(|s| s.bytes >= 16 << 20)
    );
    if seen["environment"]["identity"]["boot"].is_null() {
        return; // Nothing is kept of a machine whose boots cannot be told apart.
    }
    let out = place.file("run");
    let out = out.to_str().expect("a path in UTF-8");
    let what = [
        "run",
        "copy/memcpy",
        "--set",
        "bytes=8KiB",
        "--launches",
        "1",
        "--budget",
        "2s",
        "--json",
        "--out",
        out,
    ];
    let summary = json(&mut place.command(&what));
    assert!(
        summary["cells"][0]["footprint"]["against_cache"].is_string(),
        "{}",
        summary["cells"][0]
    );
    let kept = std::fs::read(place.file("run/environment.json")).expect("the run's environment");
    let kept: serde_json::Value = serde_json::from_slice(&kept).expect("JSON");
    let same: Ladder =
        serde_json::from_value(kept["cpu"]["ladder"].clone()).expect("the ladder of the boot");
    assert_eq!(same.steps.len(), ladder.steps.len());
}
