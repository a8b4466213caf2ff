//! Percentiles of single operations as curves. Equal steps across leave a tenth of the operations each, so that the tail has
//! as much room as the rest.

use crate::document::{Block, Chart};
use crate::plot::{CurvePoint, Curves, Line, Scale};
use record::sizes::format_ns;
use record::summary::{CellSummary, LatencySummary, Role};

/// Lines of one chart at most.
const MOST: usize = 7;
/// Operations beyond the last percentile at least.
const BEYOND: u64 = 10;
/// Operations of which one lies beyond: 2 is the median, 1000 is p99.9.
const PLACES: [u64; 15] = [2, 4, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];

/// The chart of a group's methods, the baseline first; `None` where none recorded single operations.
pub(super) fn chart(cells: &[(String, &CellSummary)], baseline: Option<&str>, setting: &str) -> Option<Block> {
    let ranked = cells.iter().filter(|(_, cell)| cell.role == Role::Method);
    let mut lines: Vec<Line> = ranked.filter_map(|(label, cell)| line(label, cell.latency_ns.as_ref()?)).collect();
    lines.retain(|line| line.points.len() > 1);
    let last = |line: &Line| line.points.last().map_or(0.0, |point| point.cost.0);
    let other = |line: &Line| baseline != Some(line.label.as_str());
    lines.sort_by(|a, b| other(a).cmp(&other(b)).then(last(a).total_cmp(&last(b))));
    lines.truncate(MOST);
    let mut places: Vec<u64> = lines.iter().flat_map(|line| &line.points).map(|point| point.value).collect();
    places.sort_unstable();
    places.dedup();
    let mut across = Scale::values(&places, false)?;
    let is_written = |at: &&u64| **at == 2 || 10_u64.pow(at.ilog10()) == **at;
    across.ticks = places.iter().filter(is_written).map(|&at| (at as f64, percentile(at))).collect();
    let upward = Scale::times(lines.iter().flat_map(Line::costs))?;
    let caption = format!(
        "Percentiles of single operations {setting}: all launches, as far as {BEYOND} operations lie beyond. Both scales are \
         logarithmic; thick lines are 95 % limits of the median launch"
    );
    Some(Chart::of_curves(caption.replace(" :", ":"), Curves { across, upward, lines, crossovers: Vec::new() }))
}

/// `p99.9` for one operation of a thousand beyond.
fn percentile(one_of: u64) -> String {
    let text = format!("{:.4}", 100.0 - 100.0 / one_of as f64);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn line(label: &str, latency: &LatencySummary) -> Option<Line> {
    let point = |&value: &u64| {
        let name = percentile(value);
        let ns = quantile(latency, value).filter(|ns| ns.is_finite() && *ns > 0.0)?;
        let over = latency.over_launches.get(&name).and_then(|q| q.low.zip(q.high));
        Some(CurvePoint { cell: 0, value, value_words: name, cost: (ns, over), cost_words: format_ns(ns) })
    };
    let places = PLACES.iter().filter(|at| at.saturating_mul(BEYOND) <= latency.trips);
    Some(Line { label: label.to_owned(), points: places.filter_map(point).collect() })
}

/// The time that all but one of so many operations kept within.
fn quantile(latency: &LatencySummary, one_of: u64) -> Option<f64> {
    if latency.histogram.is_empty() {
        return [(2, latency.median), (100, latency.p99), (1000, latency.p999)]
            .into_iter()
            .find(|q| q.0 == one_of)
            .map(|q| q.1);
    }
    let within = latency.trips - latency.trips / one_of;
    let mut seen = 0_u64;
    let bucket = latency.histogram.iter().find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= within
    });
    bucket.map(|(ns, _)| *ns as f64)
}
