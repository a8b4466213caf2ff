//! What the self-test found, for a terminal.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use judge::selftest::real::Real;
use judge::selftest::{SURE, SelfTest};
use record::sizes::{format_ns, three_digits};

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    table
}

fn indent(text: &mut String, mut table: Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in table.to_string().lines() {
        let _ = writeln!(text, "   {}", line.trim_end());
    }
}

fn share(count: usize, of: usize) -> String {
    match of {
        0 => "–".to_owned(),
        _ => format!("{count} ({:.1} %)", 100.0 * count as f64 / of as f64),
    }
}

fn percent(half_width: f64) -> String {
    // Below a thousandth of a percent it is the clock's grain.
    format!("±{} %", three_digits((half_width * 100.0).max(0.001)))
}

/// The tables, and a verdict in words.
pub fn render(found: &SelfTest) -> String {
    let mut text = String::new();
    identical(&mut text, found);
    effects(&mut text, found);
    real(&mut text, found);
    naive(&mut text, found);
    verdict(&mut text, found);
    text
}

fn identical(text: &mut String, found: &SelfTest) {
    let (precision, margin) = (found.precision * 100.0, found.margin * 100.0);
    let _ = writeln!(
        text,
        "Identical cells, judged by the defaults (precision {precision} %, margin ±{margin} %): an interval that excludes 1 is a false alarm"
    );
    let beyond = format!("beyond ±{margin} %");
    let mut rows = table(&[
        "work",
        "pairs",
        "false alarms",
        &beyond,
        "half-width",
        "widest",
        "launches",
        "rounds",
        "sample",
        "to ±1 %",
        "correlation",
    ]);
    for one in &found.identical {
        rows.add_row([
            one.work.clone(),
            one.comparisons.to_string(),
            share(one.false_alarms, one.comparisons),
            one.beyond_margin.to_string(),
            percent(one.half_width),
            percent(one.widest),
            format!("{} × {:.0}", one.runs, one.launches),
            format!("{:.0}", one.rounds),
            format_ns(one.sample_ns),
            format_ns(one.seconds_to_one_percent * 1e9),
            format!("{:+.2}", one.correlation),
        ]);
    }
    indent(text, rows);
    text.push_str(
        "   No two pairs share a sample. Pairs of one run share its launches; `correlation` is what that made of them (0: as good\n   as independent). Runs share nothing. `to ±1 %` is the time one pair would take alone.\n",
    );
    for one in found.identical.iter().filter(|i| i.withheld > 0) {
        let (count, work) = (one.withheld, &one.work);
        let _ = writeln!(
            text,
            "   {count} pairs of {work} got no ratio: the budget ended before they had launches enough."
        );
    }
}

fn effects(text: &mut String, found: &SelfTest) {
    if found.effects.is_empty() {
        return;
    }
    text.push_str("\nKnown effects: exactly so many more steps or pieces; an interval should contain the true ratio in 95 % of the trials\n");
    let mut rows =
        table(&["work", "extra", "truth", "trials", "covered", "seen", "estimate", "half-width", "verdicts"]);
    for one in &found.effects {
        let words: Vec<String> = one.verdicts.iter().map(|(word, count)| format!("{count} {word}")).collect();
        rows.add_row([
            one.work.clone(),
            format!("{} %", one.extra_permille as f64 / 10.0),
            format!("{:.3}", one.truth),
            one.trials.to_string(),
            share(one.covered, one.trials),
            one.seen.to_string(),
            format!("{:.4}", one.estimate),
            percent(one.half_width),
            words.join(", "),
        ]);
    }
    indent(text, rows);
    let known = found.effects.iter().map(|e| e.truth - e.truth_of_samples + e.resolution).fold(0.0, f64::max) * 100.0;
    let _ = writeln!(
        text,
        "   Nothing is known more exactly than to one read of the clock, and samples contain the stopwatch, which extra work does\n   not lengthen: together {known:.3} % at most. An interval that comes so near to the truth counts as holding it."
    );
}

fn real(text: &mut String, found: &SelfTest) {
    if found.real.is_empty() {
        return;
    }
    text.push_str("\nReal cells, as an ordinary run measures them: each against itself, and against the same with 5 % more to do\n");
    let mut rows = table(&[
        "experiment",
        "worker",
        "pairs",
        "false alarms",
        "half-width",
        "5 % more",
        "seen",
        "missed",
        "estimate",
        "wrong sentences",
    ]);
    for one in &found.real {
        let of_more = |count: usize| if one.more == 0 { "–".to_owned() } else { count.to_string() };
        rows.add_row([
            one.experiment.clone(),
            one.worker.clone(),
            one.pairs.to_string(),
            share(one.false_alarms, one.pairs),
            if one.pairs == 0 { "–".to_owned() } else { percent(one.half_width) },
            one.more.to_string(),
            of_more(one.seen),
            of_more(one.missed),
            if one.more == 0 { "–".to_owned() } else { format!("{:.3}", one.estimate) },
            one.wrong_sentences.to_string(),
        ]);
    }
    indent(text, rows);
    text.push_str(
        "   5 % more work takes from 0 to 5 % longer, as part of a sample is fixed; `missed` says that the interval lies outside of\n   that. A sentence is wrong where it calls more work faster, the best, or more than 6 % slower.\n",
    );
    let withheld: usize = found.real.iter().map(|r| r.withheld).sum();
    if withheld > 0 {
        let _ = writeln!(
            text,
            "   {withheld} pairs got no ratio: the budget ended first, or a cell could not be measured here."
        );
    }
    let moves = &found.moves;
    if moves.moved > 0 {
        let _ = writeln!(
            text,
            "   A ratio that moves (populate in the first half of the launches, 5 % more work in the second): said of {} of {}; said of {} of {} that did not move.",
            moves.detected, moves.moved, moves.imagined, moves.still
        );
    }
}

fn naive(text: &mut String, found: &SelfTest) {
    if found.naive.is_empty() {
        return;
    }
    text.push_str(
        "\nThe usual way, on the same identical cells: one process runs all samples of A, then all of B; tests at 5 %\n",
    );
    let beyond = format!("beyond ±{} %", found.margin * 100.0);
    let mut rows = table(&["work", "pairs", "samples", "t test: false alarms", &beyond, "Mann–Whitney"]);
    for one in &found.naive {
        rows.add_row([
            one.work.clone(),
            one.comparisons.to_string(),
            format!("2 × {}", one.samples),
            share(one.announced, one.comparisons),
            one.beyond_margin.to_string(),
            share(one.rank_announced, one.comparisons),
        ]);
    }
    indent(text, rows);
    text.push_str("   These launches were made for it, in that order; no interleaved sample was regrouped.\n");
}

fn verdict(text: &mut String, found: &SelfTest) {
    let ((pairs, alarms), (trials, covered), (usual, announced)) =
        (found.false_alarms(), found.covered(), found.announced());
    let _ = writeln!(text);
    if pairs == 0 {
        text.push_str(
            "Nothing could be judged: the budget ended before any pair had launches enough. Raise --budget.\n",
        );
        return;
    }
    let nominal = found.nominal * 100.0;
    let words = |kept: bool| if kept { "keeps its promise" } else { "BREAKS ITS PROMISE" };
    let _ = writeln!(
        text,
        "False alarms: {} of {pairs} identical pairs, nominal at most {nominal} %: {} (chance of this or more: {:.3}).",
        share(alarms, pairs),
        words(found.false_alarm_chance >= SURE),
        found.false_alarm_chance
    );
    if trials > 0 {
        let _ = writeln!(
            text,
            "Right size: {} of {trials} known effects lie in their interval, nominal 95 %: {} (chance of this or fewer: {:.3}).",
            share(covered, trials),
            words(found.coverage_chance >= SURE),
            found.coverage_chance
        );
    }
    let real = |of: fn(&Real) -> usize| Real::sum(&found.real, of);
    if real(|r| r.pairs) > 0 {
        let _ = writeln!(
            text,
            "Real cells: {} of {} identical pairs told apart: {} (chance of this or more: {:.3}); {} wrong sentences and {} missed of {}: {}.",
            real(|r| r.false_alarms),
            real(|r| r.pairs),
            words(found.real_chance >= SURE),
            found.real_chance,
            real(|r| r.wrong_sentences),
            real(|r| r.missed),
            real(|r| r.pairs + r.more),
            words(found.sentence_chance >= SURE)
        );
    }
    if usual > 0 {
        let _ = writeln!(
            text,
            "The usual way announced {} of {usual} identical pairs as different.",
            share(announced, usual)
        );
    }
    if pairs < 100 {
        let _ = writeln!(text, "Note: fewer than 100 pairs say little; the default budget of three minutes makes 144.");
    }
    for (name, count) in found.warnings.iter().filter(|(name, _)| *name != "counter-absent" && *name != "below-floor") {
        let _ = writeln!(text, "Warning: {name}: {count} cells");
    }
    let _ = writeln!(text, "Took {:.0} s of {:.0} s; seed {}.", found.elapsed_s, found.budget_s, found.seed);
}
