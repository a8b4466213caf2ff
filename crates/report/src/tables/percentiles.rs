//! Percentiles of single operations. Equal steps leave a tenth of the operations each: the tail has as much room.

use super::curves::MOST;
use crate::render::document::{Block, Chart};
use crate::render::plot::{CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::LabelledGroup;
use record::sizes::format_ns;
use record::summary::{LatencySummary, Role};
use std::collections::BTreeSet;

/// Operations beyond the last percentile at least.
const BEYOND: u64 = 10;
/// Operations of which one lies beyond: 2 is the median, 1000 is p99.9.
const PLACES: [u64; 15] = [
    2, 4, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
];

/// The chart of a group's methods, the baseline first; `None` where none recorded single operations.
pub(crate) fn chart(group: LabelledGroup, cells: &[usize]) -> Option<Block> {
    let baseline = group.baseline_name();
    let mut lines: Vec<Line> = cells
        .iter()
        .filter(|&&cell| group.cell(cell).role == Role::Method)
        .filter_map(|&cell| {
            let latency = group.cell(cell).latency_ns.as_ref()?;
            Some(line(group.name(cell), latency))
        })
        .filter(|line| line.points.len() > 1)
        .collect();
    lines.sort_by(|a, b| {
        let is_other = [a, b].map(|line| baseline.as_ref() != Some(&line.label));
        is_other[0]
            .cmp(&is_other[1])
            .then(last_cost(a).total_cmp(&last_cost(b)))
    });
    lines.truncate(MOST);
    let points = lines.iter().flat_map(|line| &line.points);
    let places: BTreeSet<u64> = points.map(|point| point.value).collect();
    let places: Vec<u64> = places.into_iter().collect();
    let mut across = Scale::values(&places, false)?;
    across.ticks = places
        .iter()
        .filter(|&&at| at == 2 || 10_u64.pow(at.ilog10()) == at)
        .map(|&at| (at as f64, percentile(at)))
        .collect();
    let upward = Scale::times(lines.iter().flat_map(Line::costs))?;
    let setting = group.setting();
    let caption = format!(
        "Percentiles of single operations {setting}: all launches, as far as {BEYOND} operations lie beyond. Both scales are \
         logarithmic; thick lines are 95 % limits of the median launch"
    );
    let curves = Curves {
        across,
        upward,
        lines,
        crossovers: Vec::new(),
    };
    Some(Chart::of_curves(
        caption.replace(" :", ":"),
        curves,
        &mut Vec::new(),
    ))
}

fn last_cost(line: &Line) -> f64 {
    line.points.last().map_or(0.0, |point| point.cost.0)
}

/// `p99.9` for one operation of a thousand beyond.
fn percentile(one_of: u64) -> String {
    let text = format!("{:.4}", 100.0 - 100.0 / one_of as f64);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn line(label: String, latency: &LatencySummary) -> Line {
    let places = PLACES
        .iter()
        .filter(|at| at.saturating_mul(BEYOND) <= latency.trips);
    Line {
        label,
        color: 0,
        points: places.filter_map(|&at| point(latency, at)).collect(),
    }
}

fn point(latency: &LatencySummary, one_of: u64) -> Option<CurvePoint> {
    let name = percentile(one_of);
    let ns = quantile(latency, one_of).filter(|ns| ns.is_finite() && *ns > 0.0)?;
    let over_launches = latency.over_launches.get(&name);
    let bounds = over_launches.and_then(|quantile| quantile.low.zip(quantile.high));
    Some(CurvePoint {
        cell: 0,
        value: one_of,
        value_words: name,
        cost: (ns, bounds),
        cost_words: format_ns(ns),
    })
}

/// The time that all but one of so many operations kept within.
fn quantile(latency: &LatencySummary, one_of: u64) -> Option<f64> {
    if latency.histogram.is_empty() {
        return match one_of {
            2 => Some(latency.median),
            100 => Some(latency.p99),
            1000 => Some(latency.p999),
            _ => None,
        };
    }
    let within = latency.trips - latency.trips / one_of;
    let mut counted = 0_u64;
    let bucket = latency.histogram.iter().find(|(_, count)| {
        counted = counted.saturating_add(*count);
        counted >= within
    });
    bucket.map(|(ns, _)| *ns as f64)
}
