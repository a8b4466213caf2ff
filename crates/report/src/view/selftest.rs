//! The result of the self-test as a document.

use crate::render::document::{Block, Document, Place};
use crate::tables::columns::Columns;
use judge::selftest::real::Real;
use judge::selftest::{Identical, KnownEffect, SURE, SelfTest, Usual};
use record::sizes::{format_ns, three_digits};
use record::summary::WarningCode;

fn share(count: usize, all: usize) -> String {
    match all {
        0 => "–".to_owned(),
        _ => format!("{count} ({:.1} %)", 100.0 * count as f64 / all as f64),
    }
}

fn some(any: usize, text: String) -> String {
    if any == 0 { "–".to_owned() } else { text }
}

fn percent(half_width: f64) -> String {
    // Below a thousandth of a percent it is the clock's grain.
    format!("±{} %", three_digits((half_width * 100.0).max(0.001)))
}

/// The tables, and the verdict.
pub fn document(test: &SelfTest) -> Document {
    let head = [
        format!("took {:.0} s of {:.0} s", test.elapsed_s, test.budget_s),
        format!("seed {}", test.seed),
    ];
    Document::new("self-test", head)
        .section(
            "identical",
            "Identical cells",
            Place::Everywhere,
            identical(test),
        )
        .section("effects", "Known effects", Place::Everywhere, effects(test))
        .section("real", "Real cells", Place::Everywhere, real(test))
        .section(
            "usual",
            "The usual way, on the same identical cells",
            Place::Everywhere,
            naive(test),
        )
        .section("answers", "Verdict", Place::Everywhere, verdict(test))
}

fn identical(test: &SelfTest) -> Vec<Block> {
    let (precision, margin) = (test.precision * 100.0, test.margin * 100.0);
    let defaults = format!(
        "judged by the defaults (precision {precision} %, margin ±{margin} %): an interval that excludes 1 is a false alarm"
    );
    let beyond = format!("beyond ±{margin} %");
    let table = Columns::new("work", |i: &Identical| i.work.clone())
        .figure("pairs", |i| i.comparisons.to_string())
        .figure("false alarms", |i| share(i.false_alarms, i.comparisons))
        .figure(&beyond, |i| i.beyond_margin.to_string())
        .figure("half-width", |i| percent(i.half_width))
        .figure("widest", |i| percent(i.widest))
        .figure("launches", |i| format!("{} × {:.0}", i.runs, i.launches))
        .figure("rounds", |i| format!("{:.0}", i.rounds))
        .figure("sample", |i| format_ns(i.sample_ns))
        .figure("to ±1 %", |i| format_ns(i.seconds_to_one_percent * 1e9))
        .figure("correlation", |i| format!("{:+.2}", i.correlation))
        .table("", &test.identical);
    let mut blocks = vec![Block::Text(defaults), Block::Table(table)];
    blocks.push(Block::text(
        "No two pairs share a sample. Pairs of one run share its launches; `correlation` is what that made of them (0: as good \
         as independent). Runs share nothing. `to ±1 %` is the time one pair would take alone.",
    ));
    blocks.extend(test.identical.iter().filter(|i| i.withheld > 0).map(|i| {
        let (count, work) = (i.withheld, &i.work);
        Block::Text(format!("{count} pairs of {work} got no ratio: the budget ended before they had launches enough."))
    }));
    blocks
}

fn effects(test: &SelfTest) -> Vec<Block> {
    if test.effects.is_empty() {
        return Vec::new();
    }
    let table = Columns::new("work", |e: &KnownEffect| e.work.clone())
        .figure("extra", |e| format!("{} %", e.extra_permille as f64 / 10.0))
        .figure("truth", |e| format!("{:.3}", e.truth))
        .figure("trials", |e| e.trials.to_string())
        .figure("covered", |e| share(e.covered, e.trials))
        .figure("seen", |e| e.seen.to_string())
        .figure("estimate", |e| format!("{:.4}", e.estimate))
        .figure("half-width", |e| percent(e.half_width))
        .figure("verdicts", verdicts)
        .table("", &test.effects);
    let known = test
        .effects
        .iter()
        .map(|e| e.truth - e.truth_of_samples + e.resolution)
        .fold(0.0, f64::max)
        * 100.0;
    let exactness = format!(
        "Nothing is known more exactly than to one read of the clock, and samples contain the stopwatch, which extra work does \
         not lengthen: together {known:.3} % at most. An interval that comes so near to the truth counts as holding it."
    );
    let what = "exactly so many more steps or pieces; an interval should contain the true ratio in 95 % of the trials";
    vec![
        Block::text(what),
        Block::Table(table),
        Block::Text(exactness),
    ]
}

fn verdicts(effect: &KnownEffect) -> String {
    let verdicts = effect.verdicts.iter();
    let counts: Vec<String> = verdicts
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    counts.join(", ")
}

fn real(test: &SelfTest) -> Vec<Block> {
    if test.real.is_empty() {
        return Vec::new();
    }
    let table = Columns::new("experiment", |r: &Real| r.experiment.clone())
        .figure("worker", |r| r.worker.clone())
        .figure("pairs", |r| r.pairs.to_string())
        .figure("false alarms", |r| share(r.false_alarms, r.pairs))
        .figure("half-width", |r| some(r.pairs, percent(r.half_width)))
        .figure("5 % more", |r| r.more.to_string())
        .figure("seen", |r| some(r.more, r.seen.to_string()))
        .figure("missed", |r| some(r.more, r.missed.to_string()))
        .figure("estimate", |r| some(r.more, format!("{:.3}", r.estimate)))
        .figure("wrong sentences", |r| r.wrong_sentences.to_string())
        .table("", &test.real);
    let what = "as an ordinary run measures them: each against itself, and against the same with 5 % more to do";
    let mut blocks = vec![Block::text(what), Block::Table(table)];
    blocks.push(Block::text(
        "5 % more work takes from 0 to 5 % longer, as part of a sample is fixed; `missed` says that the interval lies outside of \
         that. A sentence is wrong where it calls more work faster, the best, or more than 6 % slower.",
    ));
    let withheld: usize = test.real.iter().map(|r| r.withheld).sum();
    if withheld > 0 {
        let why = "the budget ended first, or a cell could not be measured here";
        blocks.push(Block::Text(format!(
            "{withheld} pairs got no ratio: {why}."
        )));
    }
    let moves = &test.moves;
    if moves.moved > 0 {
        blocks.push(Block::Text(format!(
            "A ratio that moves (populate in the first half of the launches, 5 % more work in the second): said of {} of {}; said of {} of {} that did not move.",
            moves.detected, moves.moved, moves.imagined, moves.still
        )));
    }
    blocks
}

fn naive(test: &SelfTest) -> Vec<Block> {
    if test.naive.is_empty() {
        return Vec::new();
    }
    let beyond = format!("beyond ±{} %", test.margin * 100.0);
    let table = Columns::new("work", |u: &Usual| u.work.clone())
        .figure("pairs", |u| u.comparisons.to_string())
        .figure("samples", |u| format!("2 × {}", u.samples))
        .figure("t test: false alarms", |u| {
            share(u.announced, u.comparisons)
        })
        .figure(&beyond, |u| u.beyond_margin.to_string())
        .table("", &test.naive);
    vec![
        Block::text("one process runs all samples of A, then all of B; tests at 5 %"),
        Block::Table(table),
        Block::text(
            "These launches were made for it, in that order; no interleaved sample was regrouped.",
        ),
    ]
}

fn verdict(test: &SelfTest) -> Vec<Block> {
    let (pairs, alarms) = test.false_alarms();
    if pairs == 0 {
        let text = "Nothing could be judged: the budget ended before any pair had launches enough. Raise --budget.";
        return vec![Block::Answer(text.to_owned())];
    }
    let mut sentences = vec![format!(
        "False alarms: {} of {pairs} identical pairs, nominal at most {} %: {} (chance of this or more: {:.3}).",
        share(alarms, pairs),
        test.nominal * 100.0,
        promise(test.false_alarm_chance),
        test.false_alarm_chance
    )];
    let (trials, covered) = test.covered();
    if trials > 0 {
        sentences.push(format!(
            "Right size: {} of {trials} known effects lie in their interval, nominal 95 %: {} (chance of this or fewer: {:.3}).",
            share(covered, trials),
            promise(test.coverage_chance),
            test.coverage_chance
        ));
    }
    sentences.extend(real_verdict(test));
    let (usual, announced) = test.announced();
    if usual > 0 {
        let share = share(announced, usual);
        sentences.push(format!(
            "The usual way announced {share} of {usual} identical pairs as different."
        ));
    }
    if pairs < 100 {
        let text =
            "Note: fewer than 100 pairs say little; the default budget of three minutes makes 144.";
        sentences.push(text.to_owned());
    }
    sentences.extend(warnings(test));
    sentences.into_iter().map(Block::Answer).collect()
}

/// Warnings that say something of the instrument. Its small works lie below the floor, and a machine without counters has none.
fn warnings(test: &SelfTest) -> impl Iterator<Item = String> {
    let telling = test
        .warnings
        .iter()
        .filter(|(code, _)| !matches!(code, WarningCode::CounterAbsent | WarningCode::BelowFloor));
    telling.map(|(code, count)| {
        let name: &str = code.into();
        format!("Warning: {name}: {count} cells")
    })
}

/// A promise is kept where what was seen is no rare chance.
fn promise(chance: f64) -> &'static str {
    if chance >= SURE {
        "keeps its promise"
    } else {
        "BREAKS ITS PROMISE"
    }
}

fn real_verdict(test: &SelfTest) -> Option<String> {
    let pairs = Real::sum(&test.real, |r| r.pairs);
    let alarms = Real::sum(&test.real, |r| r.false_alarms);
    let wrong = Real::sum(&test.real, |r| r.wrong_sentences);
    let missed = Real::sum(&test.real, |r| r.missed);
    let judged = Real::sum(&test.real, |r| r.pairs + r.more);
    (pairs > 0).then(|| {
        format!(
            "Real cells: {alarms} of {pairs} identical pairs told apart: {} (chance of this or more: {:.3}); {wrong} wrong \
             sentences and {missed} missed of {judged}: {}.",
            promise(test.real_chance),
            test.real_chance,
            promise(test.sentence_chance)
        )
    })
}
