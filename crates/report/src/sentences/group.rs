//! Sentences on a group besides its answer: the memory that it works on, ratios that drifted, and steadiness.

use super::labels::LabelledGroup;
use super::wording;
use record::sizes::{about_size, format_ns};
use record::summary::{CacheFit, FactProof, Role};
use stats::estimate::Drift;
use stats::quantile::median;
use stats::steady::Label;
use std::collections::BTreeSet;

/// The memory that these methods work on, against the last cache: `working set 128 KiB: fits in cache`.
pub(crate) fn footprint(group: LabelledGroup, cells: &[usize]) -> String {
    let footprints: Vec<_> = cells
        .iter()
        .filter_map(|&cell| group.cell(cell).footprint.as_ref())
        .collect();
    let known = [
        (CacheFit::InCache, "fits in cache"),
        (CacheFit::Around, "near the cache's size"),
        (CacheFit::InMemory, "exceeds the cache"),
    ];
    let places: Vec<&str> = known
        .iter()
        .filter(|(fit, _)| footprints.iter().any(|f| f.against_cache == *fit))
        .map(|(_, place)| *place)
        .collect();
    let bytes: Vec<_> = footprints.iter().map(|f| f.bytes).collect();
    let Some((least, most)) = bytes.iter().min().zip(bytes.iter().max()) else {
        return String::new();
    };
    let [least, most] = [least, most].map(|bytes| about_size(*bytes as f64));
    let sizes = if least == most {
        most
    } else {
        format!("{least} to {most}")
    };
    if places.is_empty() {
        String::new()
    } else {
        format!("working set {sizes}: {}", places.join(" or "))
    }
}

/// File systems of the files that these methods used: `files on ext4`; empty where none is recorded.
pub(crate) fn file_systems(group: LabelledGroup, cells: &[usize]) -> String {
    let recorded = |cell: &usize| match group.cell(*cell).proofs.get("file_system")? {
        FactProof::Words(names) => Some(names),
        FactProof::Number { .. } => None,
    };
    let names: BTreeSet<&str> = cells
        .iter()
        .filter_map(recorded)
        .flatten()
        .map(String::as_str)
        .collect();
    if names.is_empty() {
        return String::new();
    }
    format!("files on {}", Vec::from_iter(names).join(" and "))
}

/// Ratios that drifted while they were measured.
pub(crate) fn drifts(group: LabelledGroup) -> Vec<String> {
    let mut sentences = Vec::new();
    for comparison in group.comparisons() {
        if let Some(Drift { low, high, .. }) =
            comparison.contrast.ratio.and_then(|ratio| ratio.drift)
        {
            let name = group.name(comparison.cell);
            sentences.push(format!("{name}: {}", wording::moved(low, high)));
        }
    }
    sentences
}

/// A cell whose launches have two levels.
pub(crate) fn two_levels(group: LabelledGroup, cell: usize) -> Option<String> {
    let phase = group.headline_phase(cell)?;
    let work = group.work();
    let levels = phase.levels?;
    let [low, high] = [levels.low, levels.high].map(|ns| format_ns(ns * work.scale(phase)));
    let share = wording::percent(levels.share);
    Some(format!(
        "{}: bimodal: {low}, or {high} in {share} of launches (per {})",
        group.name(cell),
        work.noun()
    ))
}

/// Methods whose neighbors are told on a screen.
const MOST_NEIGHBORS: usize = 5;

/// The p99 of neighbors before the work and beside each method, the least first; `None` where none ran.
pub(crate) fn neighbors(group: LabelledGroup, cells: &[usize]) -> Option<String> {
    let mut idle = Vec::new();
    let mut beside = Vec::new();
    for &cell in cells {
        let latency = group.cell(cell).latency_ns.as_ref();
        if let Some((latency, before)) = latency.and_then(|l| Some((l, l.idle?))) {
            idle.push(before.p99);
            beside.push((latency.usual_p99(), group.name(cell)));
        }
    }
    let idle = median(&mut idle)?;
    beside.sort_by(|a, b| a.0.total_cmp(&b.0));
    let left_out = beside.len().saturating_sub(MOST_NEIGHBORS);
    let nearest = beside.iter().take(MOST_NEIGHBORS);
    let mut parts: Vec<String> = nearest
        .map(|(p99, name)| format!("{} beside {name}", format_ns(*p99)))
        .collect();
    if left_out > 0 {
        parts.push(format!("more beside {left_out} others"));
    }
    let idle = format_ns(idle);
    Some(format!(
        "neighbor's p99: {idle} before the work, {}",
        parts.join(", ")
    ))
}

/// Cells without a steady course, and cells too short to judge; `None` where none was judged.
pub(crate) fn steadiness(group: LabelledGroup, cells: &[usize]) -> Option<String> {
    let judged: Vec<(usize, Label)> = cells
        .iter()
        .filter(|&&cell| group.cell(cell).role != Role::Null)
        .filter_map(|&cell| Some((cell, group.cell(cell).steady.as_ref()?.label)))
        .collect();
    let mut parts = Vec::new();
    for label in [
        Label::Steady,
        Label::Drifting,
        Label::TwoLevel,
        Label::Short,
    ] {
        let cells: Vec<usize> = judged
            .iter()
            .filter(|(_, of_cell)| *of_cell == label)
            .map(|&(cell, _)| cell)
            .collect();
        let word = if label == Label::Short {
            "too few samples"
        } else {
            label.word()
        };
        match cells.len() {
            0 => {}
            count if label == Label::Steady => parts.push(format!("{count} {word}")),
            count if count == judged.len() => parts.push(format!("all {word}")),
            _ => parts.push(format!("{word}: {}", group.names(&cells))),
        }
    }
    (!parts.is_empty()).then(|| format!("from round to round: {}", parts.join("; ")))
}
