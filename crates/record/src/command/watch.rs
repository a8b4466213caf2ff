//! Memory and time of a command while it runs: the samples of a launch, and what they say of each arm.

use super::{ArmRole, Measure};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// Plan of a watched try.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watching {
    /// Milliseconds between two samples, at first.
    pub every_ms: u64,
    /// Seconds after which a command that still runs is ended: a service is watched in windows of this length.
    pub window_s: f64,
}

/// Samples of one launch, in the order of their time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WatchedLaunch {
    /// The samples; of a long launch every second one is left out, again and again.
    pub moments: Vec<WatchedMoment>,
}

/// Sums over all processes of a command at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WatchedMoment {
    /// Since its start, in milliseconds.
    pub at_ms: u64,
    /// CPU time since its start, in microseconds.
    pub cpu_us: u64,
    /// Resident memory, in KiB.
    pub rss_kib: u64,
    /// Resident memory, of which shared pages count in proportion, in KiB.
    pub pss_kib: u64,
    /// Memory in transparent huge pages, in KiB.
    pub huge_kib: u64,
    /// Memory in swap, in KiB.
    pub swap_kib: u64,
    /// Memory that was merged with equal pages, in KiB.
    pub merged_kib: u64,
    /// Page faults without input or output since its start.
    pub minor_faults: u64,
    /// Page faults that waited for a device since its start.
    pub major_faults: u64,
    /// Pages of the whole machine that came back after the kernel had taken them, since its start.
    pub refaults: u64,
}

impl WatchedLaunch {
    /// Mean over time of a quantity, which moves evenly from sample to sample, and first from nothing.
    pub fn mean(&self, quantity: fn(&WatchedMoment) -> u64) -> f64 {
        let (mut sum, mut before_ms, mut before) = (0.0, 0, 0.0);
        for moment in &self.moments {
            let value = quantity(moment) as f64;
            sum += (before + value) / 2.0 * moment.at_ms.saturating_sub(before_ms) as f64;
            (before_ms, before) = (moment.at_ms.max(before_ms), value);
        }
        if before_ms > 0 {
            sum / before_ms as f64
        } else {
            0.0
        }
    }

    /// Value of a quantity at the last sample at or before a moment, and at the first one before all.
    pub fn at(&self, at_ms: u64, quantity: fn(&WatchedMoment) -> u64) -> Option<f64> {
        let before = self.moments.iter().rev().find(|m| m.at_ms <= at_ms);
        let moment = before.or(self.moments.first())?;
        Some(quantity(moment) as f64)
    }
}

/// What a watched try says: memory for time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchSummary {
    /// True if no launch of the command as it is ended by itself: all figures are those of a window.
    pub is_service: bool,
    /// Arms with figures, the baseline first.
    pub arms: Vec<WatchedArm>,
}

/// One arm between memory and time.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedArm {
    /// Name of the arm.
    pub name: String,
    /// Its part in the study.
    pub role: ArmRole,
    /// Medians relative to the baseline's, by measure; absent where the baseline has none.
    pub relative: BTreeMap<Measure, f64>,
    /// The arm that takes less CPU time without more memory, or less memory without more CPU time, where one is shown to.
    pub beaten_by: Option<String>,
    /// Its course: the median over launches at each moment.
    pub course: Vec<CoursePoint>,
}

/// Medians over the launches of an arm at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePoint {
    /// Since the start, in seconds.
    pub at_s: f64,
    /// CPU time since the moment before, in seconds for each second.
    pub cpu: f64,
    /// Resident memory, in bytes.
    pub rss_bytes: f64,
    /// Resident memory, of which shared pages count in proportion, in bytes.
    pub pss_bytes: f64,
    /// Memory in transparent huge pages, in bytes.
    pub huge_bytes: f64,
    /// Refaults of the machine since the start, in pages.
    pub refaults: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(seen: &[(u64, u64)]) -> WatchedLaunch {
        let moments = seen.iter().map(|&(at_ms, rss_kib)| WatchedMoment {
            at_ms,
            rss_kib,
            ..WatchedMoment::default()
        });
        WatchedLaunch {
            moments: moments.collect(),
        }
    }

    #[test]
    fn a_mean_is_over_time_and_not_over_samples() {
        let seen = launch(&[(10, 0), (20, 100), (100, 200)]);
        let mean = seen.mean(|moment| moment.rss_kib);
        assert!((mean - (10.0 * 50.0 + 80.0 * 150.0) / 100.0).abs() < 1e-9);
        assert_eq!(launch(&[]).mean(|moment| moment.rss_kib), 0.0);
        // A record that was changed may go back in time.
        assert_eq!(
            launch(&[(10, 1), (0, 9)]).mean(|moment| moment.rss_kib),
            0.5
        );
    }

    #[test]
    fn a_moment_has_what_was_last_seen() {
        let seen = launch(&[(10, 1), (20, 2)]);
        let at = |at_ms| seen.at(at_ms, |moment| moment.rss_kib);
        assert_eq!(
            [5, 10, 19, 20, 99].map(at),
            [1.0, 1.0, 1.0, 2.0, 2.0].map(Some)
        );
        assert_eq!(launch(&[]).at(5, |moment| moment.rss_kib), None);
    }
}
