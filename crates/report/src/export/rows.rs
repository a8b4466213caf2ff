//! Tries and profiles of somebody's own programs, as rows: a row a run of a try, a row a kind of memory event of a profile.

use super::{csv, ndjson};
use anyhow::{Result, bail};
use record::command::{
    Amount, CommandCost, CommandLaunch, CommandSummary, KeptCommand, ProfileSummary,
};
use serde_json::Value;
use std::io::Write;

/// Formats that a try and a profile are written in.
const ROWS: &str = "csv and ndjson";

/// Rows with their columns' names.
pub struct Rows {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    pub fn new(kept: &KeptCommand, summary: &CommandSummary) -> Rows {
        match summary {
            CommandSummary::Try(_) => Rows::of_launches(kept),
            CommandSummary::Profile(summary) => Rows::of_prices(summary),
        }
    }

    /// A row a launch, warm-ups included: their block is negative.
    fn of_launches(kept: &KeptCommand) -> Rows {
        let columns = [
            ["run", "arm", "role", "command", "block", "end"].as_slice(),
            &COST.map(|(name, _)| name),
        ]
        .concat();
        let row = |launch: &CommandLaunch| {
            let (arm, cost) = (kept.plan.arms.get(launch.arm)?, launch.cost.as_ref()?);
            let role: &str = arm.role.into();
            let texts = [&kept.plan.run, &arm.name, role, &arm.shown].map(Value::from);
            let mut row = Vec::from(texts);
            row.extend([(launch.block as f64).into(), <&str>::from(cost.end).into()]);
            row.extend(COST.map(|(_, of)| Value::from(of(cost))));
            Some(row)
        };
        Rows {
            columns,
            rows: kept.launches.iter().filter_map(row).collect(),
        }
    }

    fn of_prices(summary: &ProfileSummary) -> Rows {
        let columns = [
            "run",
            "command",
            "kind",
            "count",
            "each_s",
            "each_low_s",
            "each_high_s",
            "together_s",
            "together_low_s",
            "together_high_s",
            "spread",
            "unsteady",
        ];
        let rows = summary.prices.iter().map(|price| {
            let mut row = vec![
                summary.plan.run.as_str().into(),
                summary.plan.arms[0].shown.as_str().into(),
                <&str>::from(price.kind).into(),
                price.count.into(),
            ];
            for Amount { value, low, high } in [price.each_s, price.together_s] {
                row.extend([value, low, high].map(Value::from));
            }
            row.extend([Value::from(price.spread), price.unsteady.into()]);
            row
        });
        Rows {
            columns: columns.to_vec(),
            rows: rows.collect(),
        }
    }

    pub fn write(self, format: &str, out: &mut dyn Write) -> Result<()> {
        let columns: Vec<String> = self.columns.iter().map(|name| (*name).to_owned()).collect();
        match format {
            "csv" => csv::rows(&columns, self.rows, out),
            "ndjson" => ndjson::rows(&columns, self.rows, out),
            _ => bail!(
                "runs of a program are written as {ROWS}, those of a try as hyperfine too: {format} has cells"
            ),
        }
    }
}

type CostColumn = (&'static str, fn(&CommandCost) -> f64);
const COST: [CostColumn; 15] = [
    ("code", |c| f64::from(c.code)),
    ("wall_s", |c| c.wall_ns as f64 * 1e-9),
    ("user_s", |c| c.user_us as f64 * 1e-6),
    ("kernel_s", |c| c.system_us as f64 * 1e-6),
    ("max_rss_bytes", |c| c.max_rss_kib as f64 * 1024.0),
    ("minor_faults", |c| c.minor_faults as f64),
    ("major_faults", |c| c.major_faults as f64),
    ("voluntary_switches", |c| c.voluntary_switches as f64),
    ("involuntary_switches", |c| c.involuntary_switches as f64),
    ("read_calls", |c| c.read_calls as f64),
    ("read_bytes", |c| c.read_bytes as f64),
    ("write_calls", |c| c.write_calls as f64),
    ("write_bytes", |c| c.write_bytes as f64),
    ("output_bytes", |c| c.output_bytes as f64),
    ("processes_left", |c| c.left as f64),
];
