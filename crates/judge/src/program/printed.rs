//! Times that compared programs print themselves, launch by launch: what an article's program says of its own loop, where the
//! whole process has other work besides. Pure.

use record::command::{CommandLaunch, LaunchMode};
use stats::estimate::LEAST_POINTS;
use stats::interval::CONFIDENCE;
use stats::quantile::median;
use stats::t::t_interval;
use std::collections::BTreeMap;

/// A line behind what each launch prints.
pub const END: &str = "pagewise: end of a launch";
/// The unit of Go's benchmarks, behind its number.
const GO_UNIT: &str = "ns/op";

/// One time that the programs print.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedTime {
    /// Its name.
    pub name: String,
    /// Median of the launches of each arm, in seconds.
    pub seconds: Vec<f64>,
    /// Ratio of each arm but the first to the first.
    pub ratios: Vec<PrintedRatio>,
}

/// A ratio of printed times, pair by pair of launches of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedRatio {
    pub value: f64,
    /// Interval at 95 %; absent with too few pairs.
    pub interval: Option<(f64, f64)>,
}

/// Times of one arm by block.
type Series = BTreeMap<i64, Vec<f64>>;

/// The times that all arms print in each of their launches. `outputs` has an arm's, each launch's ended by [`END`]. Without a
/// name times are numbered.
pub fn times(names: &[String], launches: &[CommandLaunch], outputs: &[String]) -> Vec<PrintedTime> {
    let arms: Vec<Series> = outputs
        .iter()
        .enumerate()
        .map(|(arm, text)| series(arm, launches, text))
        .collect();
    let printed = arms.iter().flat_map(|series| series.values().map(Vec::len));
    let count = printed.min().unwrap_or(0);
    (0..count)
        .filter_map(|at| {
            let name = names.get(at).cloned();
            time(
                name.unwrap_or_else(|| format!("time {}", at + 1)),
                at,
                &arms,
            )
        })
        .collect()
}

fn time(name: String, at: usize, arms: &[Series]) -> Option<PrintedTime> {
    let values = |arm: &Series| -> BTreeMap<i64, f64> {
        let values = arm
            .iter()
            .filter_map(|(block, all)| Some((*block, *all.get(at)?)));
        values.filter(|(_, value)| *value > 0.0).collect()
    };
    let arms: Vec<BTreeMap<i64, f64>> = arms.iter().map(values).collect();
    let seconds = arms.iter().map(|arm| {
        let mut values: Vec<f64> = arm.values().copied().collect();
        median(&mut values)
    });
    let seconds: Vec<f64> = seconds.collect::<Option<_>>()?;
    let (first, others) = arms.split_first()?;
    let ratios = others.iter().enumerate().map(|(arm, other)| {
        let pairs = other
            .iter()
            .filter_map(|(block, value)| Some((value, first.get(block)?)));
        let logs: Vec<f64> = pairs.map(|(value, base)| (value / base).ln()).collect();
        let judged = t_interval(&logs, CONFIDENCE).ok();
        let judged = judged.filter(|_| logs.len() >= LEAST_POINTS);
        PrintedRatio {
            value: judged.map_or(seconds[arm + 1] / seconds[0], |log| log.estimate.exp()),
            interval: judged.map(|log| (log.low.exp(), log.high.exp())),
        }
    });
    let ratios = ratios.collect();
    Some(PrintedTime {
        name,
        seconds,
        ratios,
    })
}

/// Times of an arm's plain launches in blocks; none where an end is missing, so that no time is of another launch.
fn series(arm: usize, launches: &[CommandLaunch], text: &str) -> Series {
    let is_run = |launch: &&CommandLaunch| {
        launch.arm == arm && launch.mode.is_command() && launch.cost.is_some()
    };
    let launches: Vec<&CommandLaunch> = launches.iter().filter(is_run).collect();
    let mut parts: Vec<&str> = text.split(END).collect();
    // What stands behind the last end.
    parts.pop();
    if parts.len() != launches.len() {
        return Series::new();
    }
    let of_blocks = launches
        .iter()
        .zip(parts)
        .filter(|(launch, _)| launch.block >= 0 && launch.mode == LaunchMode::Plain);
    of_blocks
        .map(|(launch, part)| (launch.block, seconds(part)))
        .collect()
}

/// Times in a text, in seconds: numbers with a decimal point, and those of Go's benchmarks.
fn seconds(text: &str) -> Vec<f64> {
    let texts: Vec<&str> = text.split_whitespace().collect();
    let mut seconds = Vec::new();
    for (at, number) in texts.iter().enumerate() {
        let Ok(value) = number.parse::<f64>() else {
            continue;
        };
        if texts.get(at + 1) == Some(&GO_UNIT) {
            seconds.push(value * 1e-9);
        } else if number.contains('.') && value.is_finite() {
            seconds.push(value);
        }
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::command::CommandCost;

    fn launch(arm: usize, block: i64, mode: LaunchMode) -> CommandLaunch {
        CommandLaunch {
            arm,
            block,
            mode,
            cost: Some(CommandCost::default()),
            ..CommandLaunch::default()
        }
    }

    #[test]
    fn times_are_read_with_a_point_or_in_gos_unit() {
        assert_eq!(seconds("malloc 0.5 mmap 0.25\n"), [0.5, 0.25]);
        assert_eq!(seconds("12 packets, sum 77\nlong 3\n"), [0.0; 0]);
        let line = "BenchmarkTouch/fault/64MiB-2  \t  20\t  25000000 ns/op\nPASS\n";
        assert_eq!(seconds(line), [0.025]);
    }

    #[test]
    fn times_of_one_block_are_compared_and_first_launches_are_not() {
        let mut launches = Vec::new();
        let mut outputs = vec![String::new(), String::new()];
        for block in -1..6 {
            let mode = if block < 0 {
                LaunchMode::Traced
            } else {
                LaunchMode::Plain
            };
            for arm in [1, 0] {
                launches.push(launch(arm, block, mode));
                // The machine slows down, and the first launch is a slow one.
                let slow = if block < 0 {
                    50.0
                } else {
                    f64::from(1_i32 << block)
                };
                let base = slow * if arm == 1 { 3.0 } else { 2.0 };
                outputs[arm] += &format!("a {base:.1} b 7\n{END}\n");
            }
        }
        let names = ["writes".to_owned()];
        let printed = times(&names, &launches, &outputs);
        assert_eq!(printed.len(), 1);
        assert_eq!(
            (printed[0].name.as_str(), printed[0].seconds.len()),
            ("writes", 2)
        );
        let ratio = printed[0].ratios[0];
        let (low, high) = ratio.interval.unwrap();
        assert!(
            [ratio.value, low, high]
                .iter()
                .all(|v| (v - 1.5).abs() < 1e-9),
            "{ratio:?}"
        );
        // An output that lacks an end is of no launch.
        outputs[1] = outputs[1].replacen(END, "", 1);
        assert!(times(&names, &launches, &outputs).is_empty());
    }
}
