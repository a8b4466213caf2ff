//! Explained kernel time against the command's own, and what following the command costs.

use super::blocks::{ProfileBlock, amount, half_width};
use super::counts::{Counted, mean};
use crate::contrast::estimate::logs_by_block;
use record::command::{Agreement, Amount, CommandLaunch, Consistency, LaunchMode};
use stats::interval::CONFIDENCE;
use stats::t::t_interval;

/// Largest excess of explained over measured kernel time: the split of CPU time is sampled.
const SURPLUS: f64 = 1.05;
/// Share of the measured kernel time within which the whole interval of the explained part is consistent with it.
const CONSISTENT: (f64, f64) = (0.7, 1.2);
/// Seconds between two samples of that split, on most kernels: less of a run's time may have been seen as none.
pub(super) const TICK_S: f64 = 0.004;

/// Counts times prices of everything that the kernel does for memory against its whole time for the command.
pub(super) fn consistency(blocks: &[ProfileBlock], counted: &Counted) -> Option<Consistency> {
    // The split of CPU time is sampled by ticks: over all blocks together it is as good as it gets.
    let system_s = mean(blocks.iter().map(|block| block.kernel_s));
    if system_s <= 0.0 {
        return None;
    }
    let cost = amount(
        blocks
            .iter()
            .map(|block| block.fresh_cost_s(counted, |_| true)),
    )?;
    let kernel = amount(blocks.iter().map(|block| block.kernel_s))?;
    // Both sides scatter: prices from block to block, the command's own time from run to run.
    let spread = half_width(cost).hypot(half_width(kernel));
    let value = cost.value / system_s;
    let explained = Amount {
        value,
        low: value * (1.0 - spread).max(0.0),
        high: value * (1.0 + spread),
    };
    let unseen = TICK_S / (blocks.len() as f64).sqrt() / system_s;
    let agreement = if explained.low > SURPLUS + unseen {
        Agreement::Exceeds
    } else if explained.high + unseen < CONSISTENT.0 {
        Agreement::FallsShort
    } else if explained.low >= CONSISTENT.0
        && explained.high <= CONSISTENT.1
        && unseen <= 1.0 - CONSISTENT.0
    {
        Agreement::Consistent
    } else {
        Agreement::NotSettled
    };
    Some(Consistency {
        explained,
        agreement,
        factor: None,
    })
}

/// CPU time of the followed launch relative to the plain one of the same block.
pub(super) fn overhead(launches: &[CommandLaunch]) -> Option<Amount> {
    let logs = logs_by_block(
        cpu_s_by_block(launches, LaunchMode::Plain),
        cpu_s_by_block(launches, LaunchMode::Followed),
    );
    let logs = t_interval(&logs, CONFIDENCE).ok()?;
    Some(Amount {
        value: logs.estimate.exp(),
        low: logs.low.exp(),
        high: logs.high.exp(),
    })
}

fn cpu_s_by_block(
    launches: &[CommandLaunch],
    mode: LaunchMode,
) -> impl Iterator<Item = (i64, f64)> {
    launches
        .iter()
        .filter(move |launch| launch.mode == mode && launch.block >= 0)
        .filter_map(|launch| Some((launch.block, launch.cost.as_ref()?.cpu_s())))
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge};
    use record::command::{Agreement, Consistency, LaunchMode};

    fn agreement(fault_ns: fn(i64) -> u64) -> Consistency {
        judge(&plan(), &runs(fault_ns)).consistency.unwrap()
    }

    #[test]
    fn explained_time_is_consistent_within_both_bounds_only() {
        // 85 of 100 ms are explained; 45 and 205 are not what the kernel did.
        assert_eq!(agreement(|_| 4_000).agreement, Agreement::Consistent);
        assert_eq!(agreement(|_| 2_000).agreement, Agreement::FallsShort);
        assert_eq!(agreement(|_| 10_000).agreement, Agreement::Exceeds);
        let wide = agreement(|block| if block % 2 == 0 { 2_000 } else { 6_000 });
        assert!(
            wide.agreement == Agreement::NotSettled && (wide.explained.value - 0.85).abs() < 0.1,
            "{wide:?}"
        );
        // The command's own time scatters as much as the prices do: the interval holds both.
        let mut varied = runs(|_| 4_000);
        for run in varied
            .iter_mut()
            .filter(|run| run.mode == LaunchMode::Plain && run.block % 2 == 0)
        {
            run.cost.as_mut().unwrap().system_us = 50_000;
        }
        let varied = judge(&plan(), &varied).consistency.unwrap();
        assert!(
            varied.agreement == Agreement::NotSettled && varied.explained.high > 1.2,
            "{varied:?}"
        );
    }

    #[test]
    fn what_the_tick_cannot_see_is_no_contradiction() {
        let mut launches = runs(|_| 2_000);
        launches.retain(|r| r.mode != LaunchMode::Followed);
        for cost in launches.iter_mut().filter_map(|r| r.cost.as_mut()) {
            (cost.minor_faults, cost.system_us) = (200, 100);
        }
        let law = judge(&plan(), &launches).consistency.unwrap();
        // 0.45 ms of faults in 0.1 ms of kernel time, by a clock of 4 ms.
        assert!(
            law.explained.low > 4.0 && law.agreement == Agreement::NotSettled,
            "{law:?}"
        );
    }
}
