//! Methods by their own time and the harm that they do to others: the frontier first, then whom it dominates.

use super::columns::Columns;
use super::further::over_launches;
use crate::render::document::{Block, Chart, Key, Table, TableCell};
use crate::render::plot::{Plot, Scale, Scatter, ScatterPoint};
use crate::sentences::labels::LabelledGroup;
use record::sizes::{format_ns, three_digits};
use record::summary::{FrontierPoint, TailQuantile};

/// The rows of a group: those on the frontier first, the least harm first. `None` where the experiment has no harm.
pub(crate) fn table(group: LabelledGroup) -> Option<Table> {
    let points = &group.group.frontier;
    let quantile = group.definition().harm.as_ref()?;
    if points.is_empty() {
        return None;
    }
    let (best, dominated): (Vec<&FrontierPoint>, Vec<&FrontierPoint>) = points
        .iter()
        .partition(|point| point.dominated_by.is_none());
    let columns = Columns::new("time against harm", |point: &FrontierPoint| {
        group.name(point.cell)
    })
    .number("time", |point| TableCell::ns(point.time_ns.median))
    .number(format!("{quantile} of others"), |point| {
        over_launches(&point.harm_ns)
    })
    .number("× alone", |point| {
        point.to_alone.map_or_else(TableCell::default, |ratio| {
            TableCell::number(three_digits(ratio.ratio), Some(ratio.ratio))
        })
    })
    .text("dominated by", |point| {
        let other = point.dominated_by;
        other.map_or_else(|| "none".to_owned(), |other| group.name(other))
    });
    let bodies = [best, dominated].map(|points| columns.body("", points));
    let bodies = bodies.into_iter().filter(|body| !body.rows.is_empty());
    let caption = format!(
        "Time of each method against {quantile} of the others' latencies, {}",
        group.setting()
    );
    let caption = caption.trim_end_matches(", ");
    Some(columns.table_of(caption, bodies.collect()))
}

/// The same as a picture. `None` where there are fewer than two methods.
pub(crate) fn chart(group: LabelledGroup) -> Option<Block> {
    let points = &group.group.frontier;
    let quantile = group.definition().harm.as_ref()?;
    if points.len() < 2 {
        return None;
    }
    let times = points.iter().flat_map(|point| ends(&point.time_ns));
    let harms = points.iter().flat_map(|point| ends(&point.harm_ns));
    let scatter = Scatter {
        across: Scale::times(times)?,
        upward: Scale::times(harms)?,
        points: points.iter().map(|point| mark(group, point)).collect(),
    };
    let label = format!(
        "Each method's own time (along the page) against {quantile} of the others' latencies (upward) {}: the lower left is \
         best. Both scales are logarithmic; lines are 95 % intervals of the median launch",
        group.setting()
    )
    .replace(" :", ":");
    Some(Block::Chart(Chart {
        caption: format!("{label}."),
        plot: Plot::Scatter {
            scatter: Box::new(scatter),
            label,
        },
        legend: vec![
            Key::new("c0", "no other method beats it by both"),
            Key::new("c1", "dominated"),
        ],
    }))
}

fn ends(quantile: &TailQuantile) -> [f64; 3] {
    let TailQuantile { median, low, high } = *quantile;
    [median, low.unwrap_or(median), high.unwrap_or(median)]
}

fn mark(group: LabelledGroup, point: &FrontierPoint) -> ScatterPoint {
    let name = group.name(point.cell);
    let [time, harm] = [point.time_ns, point.harm_ns]
        .map(|quantile| (quantile.median, quantile.low.zip(quantile.high)));
    ScatterPoint {
        title: format!(
            "{name}: {}, others {}",
            format_ns(time.0),
            format_ns(harm.0)
        ),
        label: name,
        across: time,
        upward: harm,
        is_best: point.dominated_by.is_none(),
    }
}
