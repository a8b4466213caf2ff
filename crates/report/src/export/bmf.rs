//! Bencher Metric Format: by cell and measure a value with its limits. Bencher's own measure `latency` is in nanoseconds.

use crate::{escape::pretty_json, view::ExportedCells};
use anyhow::Result;
use record::summary::Distribution;
use serde::Serialize;
use std::{collections::BTreeMap, io::Write};

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let mut all: BTreeMap<&str, BTreeMap<String, Metric>> = BTreeMap::new();
    for cell in taken.believed() {
        let measures = all.entry(&cell.name).or_default();
        for phase in &cell.phases {
            let wall = if phase.headline {
                "latency".to_owned()
            } else {
                format!("{}-wall-ns", phase.name)
            };
            measures.extend(metric(&phase.figures.per_unit_ns).map(|m| (wall, m)));
            let cpu_ns = phase.figures.cpu_ns.map(|ns| ns * (1.0 / phase.units));
            measures.extend(metric(&cpu_ns).map(|m| (format!("{}-cpu-ns", phase.name), m)));
        }
    }
    Ok(out.write_all(pretty_json(&all)?.as_bytes())?)
}

fn metric(d: &Distribution) -> Option<Metric> {
    let limit = |limit: Option<f64>| limit.filter(|l| l.is_finite());
    d.median.is_finite().then(|| Metric {
        value: d.median,
        lower_value: limit(d.low),
        upper_value: limit(d.high),
    })
}
