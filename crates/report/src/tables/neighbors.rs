//! Neighbors of a method that operated at fixed times while it worked: their tails, and how fast the work was.

use super::columns::Columns;
use super::curves::MOST;
use crate::render::document::{Block, Chart, Table, TableCell};
use crate::render::plot::{CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::LabelledGroup;
use record::sizes::{format_ns, three_digits};
use record::summary::{IdleLatency, LatencySummary, Role};

/// A method beside which a neighbor ran.
struct StalledNeighbor {
    label: String,
    is_baseline: bool,
    bytes_per_second: f64,
    /// The neighbor's p99 in nanoseconds, with its bounds over launches.
    p99_ns: f64,
    bounds: Option<(f64, f64)>,
}

impl StalledNeighbor {
    fn new(group: LabelledGroup, cell: usize) -> Option<StalledNeighbor> {
        let latency = group.cell(cell).latency_ns.as_ref()?;
        latency.idle?;
        let quantile = latency.over_launches.get("p99");
        Some(StalledNeighbor {
            label: group.name(cell),
            is_baseline: group.group.baseline == Some(cell),
            bytes_per_second: group.headline_phase(cell)?.bytes_per_second?,
            p99_ns: latency.usual_p99(),
            bounds: quantile.and_then(|quantile| quantile.low.zip(quantile.high)),
        })
    }

    /// True if another method is faster and stalls the neighbor less.
    fn is_beaten(&self, others: &[StalledNeighbor]) -> bool {
        others.iter().any(|other| {
            other.bytes_per_second > self.bytes_per_second && other.p99_ns < self.p99_ns
        })
    }

    fn line(&self) -> Line {
        let point = CurvePoint {
            cell: 0,
            value: self.bytes_per_second as u64,
            value_words: format!("{} GB/s", three_digits(self.bytes_per_second / 1e9)),
            cost: (self.p99_ns, self.bounds),
            cost_words: format!("p99 {}", format_ns(self.p99_ns)),
        };
        Line {
            label: self.label.clone(),
            color: 0,
            points: vec![point],
        }
    }
}

/// The chart of a group: bytes a second against the neighbor's p99. `None` where no neighbor ran beside two methods.
pub(crate) fn chart(group: LabelledGroup, cells: &[usize]) -> Option<Block> {
    let methods = cells
        .iter()
        .filter(|&&cell| group.cell(cell).role == Role::Method);
    let neighbors: Vec<StalledNeighbor> = methods
        .filter_map(|&cell| StalledNeighbor::new(group, cell))
        .collect();
    if neighbors.len() < 2 {
        return None;
    }
    // The baseline first, then the methods that no other one beats in both, then the fastest.
    let mut order: Vec<&StalledNeighbor> = neighbors.iter().collect();
    order.sort_by(|a, b| {
        let rank = |method: &StalledNeighbor| (!method.is_baseline, method.is_beaten(&neighbors));
        let rates = b.bytes_per_second.total_cmp(&a.bytes_per_second);
        rank(a).cmp(&rank(b)).then(rates)
    });
    order.truncate(MOST);
    let lines: Vec<Line> = order.into_iter().map(StalledNeighbor::line).collect();
    let points = lines.iter().flat_map(|line| &line.points);
    let curves = Curves {
        across: Scale::rates(points.map(|point| point.value as f64))?,
        upward: Scale::times(lines.iter().flat_map(Line::costs))?,
        lines,
        crossovers: Vec::new(),
    };
    let setting = match group.setting() {
        setting if setting.is_empty() => setting,
        setting => format!(", {setting}"),
    };
    let caption = format!(
        "Rate of the work against the neighbor's p99{setting}: to the right the work is faster, further down the neighbor \
         waits less. Both scales are logarithmic; thick lines are 95 % limits of the median launch"
    );
    Some(Chart::of_curves(caption, curves, &mut Vec::new()))
}

/// A method's name with its neighbor's tail.
pub(super) struct NeighborRow<'a> {
    pub label: &'a str,
    pub latency: &'a LatencySummary,
    pub idle: IdleLatency,
}

/// The tails of neighbors in figures.
pub(super) fn table(rows: &[NeighborRow]) -> Option<Table> {
    let title = "neighbor: operations at fixed times, from when they were due";
    let table = Columns::new("beside", |row: &NeighborRow| row.label.to_owned())
        .number("p50", |row| TableCell::ns(row.latency.median))
        .number("p99", |row| TableCell::ns(row.latency.usual_p99()))
        .number("worst", |row| TableCell::ns(row.latency.max))
        .number("p99 before the work", |row| TableCell::ns(row.idle.p99))
        .number("worst before it", |row| TableCell::ns(row.idle.max))
        .table(title, rows);
    (!rows.is_empty()).then_some(table)
}
