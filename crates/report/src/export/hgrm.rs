//! HdrHistogram's percentile distribution, as `outputPercentileDistribution` writes it: a block a cell.

use crate::view::ExportedCells;
use anyhow::Result;
use std::io::Write;

/// Nanoseconds of the unit in which the plotter's users think.
const UNIT_NS: f64 = 1000.0;

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    for cell in taken.believed() {
        let Some(latency) = cell
            .summary
            .latency_ns
            .as_ref()
            .filter(|l| !l.histogram.is_empty())
        else {
            continue;
        };
        let all = latency.trips.max(1);
        writeln!(out, "# {}", cell.name)?;
        writeln!(
            out,
            "{:>12} {:>14} {:>10} {:>14}\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        )?;
        let mut seen = 0_u64;
        for &(ns, count) in &latency.histogram {
            seen = seen.saturating_add(count);
            let (value, share) = (ns as f64 / UNIT_NS, seen as f64 / all as f64);
            let rest = if seen >= all {
                String::new()
            } else {
                format!("{:14.2}", 1.0 / (1.0 - share))
            };
            writeln!(
                out,
                "{}",
                format!("{value:12.3} {share:.12} {seen:10} {rest}").trim_end()
            )?;
        }
        writeln!(out, "#[Total count    = {all:12}]")?;
    }
    Ok(())
}
