//! Disturbed launches and rounds. A flag drops no sample; where the median must be disturbed, the cell is untrusted.

use crate::checks::FactSeen;
use crate::evidence::{CellEvidence, CellLaunch, Figures};
use record::outcome::{Cause, Disturbed, Outcome, Status};
use record::summary::{LaunchCount, WarningKind};
use stats::quantile::median;
use std::collections::BTreeSet;

/// Steal above this share of all CPU time disturbs a launch.
const STEAL_SHARE: f64 = 0.05;
/// A quota that keeps launches waiting for more than this share of their time is in their figures.
const THROTTLED_SHARE: f64 = 0.05;
/// Least stolen ticks of a cell that count: a tick of 10 ms is a twentieth of a launch of 0.2 s.
const LEAST_STOLEN_TICKS: f64 = 5.0;
const TICKS_PER_SECOND: f64 = 100.0;
/// Device traffic of others above this rate, in bytes a second, disturbs a launch that uses a device itself.
const FOREIGN_BYTES_PER_SECOND: f64 = 10.0 * 1024.0 * 1024.0;
/// Less device traffic than this, in bytes, is nobody's disturbance and no use of a device.
const LEAST_BYTES: u64 = 1 << 20;
/// Rounds below this length, in nanoseconds, can do without being switched out: it is the slowest timer tick in common use.
pub const SHORT_NS: f64 = 4e6;
/// Share of disturbed launches or rounds beyond which the median is disturbed.
const MOST_DISTURBED: f64 = 0.5;

/// Disturbance of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The hypervisor gave CPU time to others.
    Steal,
    /// The kernel reclaimed memory on behalf of whoever allocated.
    Reclaim,
    /// Others used a device while this cell did.
    ForeignIo,
    /// A huge page was wanted and not to be had.
    ThpFallback,
}

impl Flag {
    /// The warning on so many launches. Steal is judged over a cell as a whole.
    pub(crate) fn warning(self, count: LaunchCount) -> Option<WarningKind> {
        match self {
            Flag::Steal => None,
            Flag::Reclaim => Some(WarningKind::Reclaim(count)),
            Flag::ForeignIo => Some(WarningKind::ForeignIo(count)),
            Flag::ThpFallback => Some(WarningKind::ThpFallback(count)),
        }
    }

    /// Tells whether it counts towards distrust. A fallback does not: the law on `huge_bytes` says whether it hit this cell.
    /// Steal does not: it falls on both sides of a ratio, and whether evenly the A/A check of the group tells.
    fn counts(self) -> bool {
        !matches!(self, Flag::ThpFallback | Flag::Steal)
    }
}

/// The flags of one launch of a cell, of which a fact may say how many bytes lay in huge pages.
pub fn of_launch(cell: &CellEvidence, launch: &CellLaunch, huge_pages: Option<&str>) -> Vec<Flag> {
    let Some(noise) = &launch.noise else {
        return Vec::new();
    };
    let mut flags = Vec::new();
    if noise.steal_share > STEAL_SHARE {
        flags.push(Flag::Steal);
    }
    // These counters leave out the reclaim within a bounded cgroup, which some cells ask for.
    if ["allocstall_normal", "allocstall_movable", "pgscan_direct"]
        .iter()
        .any(|name| noise.counter(name) > 0)
    {
        flags.push(Flag::Reclaim);
    }
    let foreign = noise.foreign_bytes();
    let written = noise.own_read_bytes.max(noise.own_written_bytes);
    if written >= LEAST_BYTES
        && foreign >= LEAST_BYTES
        && foreign as f64 > FOREIGN_BYTES_PER_SECOND * launch.wall_s
    {
        flags.push(Flag::ForeignIo);
    }
    let huge = huge_pages.and_then(|fact| cell.checks.facts.get(fact));
    let wants_huge = matches!(huge, Some(FactSeen::Numbers(_, most, _)) if *most > 0);
    if wants_huge && noise.counter("thp_fault_fallback") > 0 {
        flags.push(Flag::ThpFallback);
    }
    flags
}

/// The share of CPU time that others took from a cell's launches, where that makes its absolute times theirs too: where they
/// took more than 5 % during most of the time that was measured, and so many ticks that it is no accident of counting.
pub fn stolen(cell: &CellEvidence) -> Option<f64> {
    let seconds: f64 = cell.launches.iter().map(|l| l.wall_s).sum();
    let share = |l: &CellLaunch| l.noise.as_ref().map_or(0.0, |n| n.steal_share);
    let hit = || cell.launches.iter().filter(|l| share(l) > STEAL_SHARE);
    let ticks: f64 = hit().map(|l| share(l) * l.wall_s * TICKS_PER_SECOND).sum();
    let most = hit().map(|l| l.wall_s).sum::<f64>() > MOST_DISTURBED * seconds;
    let taken: f64 = cell.launches.iter().map(|l| share(l) * l.wall_s).sum();
    (most && ticks >= LEAST_STOLEN_TICKS).then(|| taken / seconds)
}

/// The share of a cell's launches, by time, for which a CPU quota kept its group waiting, where it is so large that the cell's
/// figures are the quota's too. Beyond 1 it kept more than one CPU of it waiting.
pub fn throttled(cell: &CellEvidence) -> Option<f64> {
    let seconds: f64 = cell.launches.iter().map(|l| l.wall_s).sum();
    let waited = |l: &CellLaunch| {
        l.noise
            .as_ref()
            .map_or(0.0, |n| n.throttled_us as f64 / 1e6)
    };
    let share = cell.launches.iter().map(waited).sum::<f64>() / seconds;
    (share > THROTTLED_SHARE).then_some(share)
}

/// The share of a cell's rounds with a switch, where all are short; `None` for long ones, which are always switched.
pub fn interrupted_share(cell: &CellEvidence) -> Option<f64> {
    // By CPU time, because a round that was switched out is long by the clock.
    let is_short = |m: &Figures| median(&mut m.cpu_ns.clone()).is_none_or(|ns| ns < SHORT_NS);
    let short = cell.launches.iter().flat_map(|l| &l.measures).all(is_short);
    let launches = cell.launches.len() as f64;
    (short && launches > 0.0)
        .then(|| cell.launches.iter().map(|l| l.interrupted).sum::<f64>() / launches)
}

/// With fewer launches than this, a disturbed one says nothing of the cell: no ratio is decided then, and the flag is told.
const LEAST_JUDGED: usize = 3;

/// The outcome of a cell that was disturbed too much to be trusted.
pub fn distrust(cell: &CellEvidence) -> Option<Outcome> {
    if let Some(share) = interrupted_share(cell).filter(|share| *share > MOST_DISTURBED) {
        let percent = (share * 100.0).round() as u32;
        return Some(Outcome::because(
            Status::Untrusted,
            Cause::SwitchedOut { percent },
        ));
    }
    let mut names: BTreeSet<String> = BTreeSet::new();
    let (mut launches, mut on_disk) = (0, 0);
    for launch in &cell.launches {
        let flags: Vec<Flag> = of_launch(cell, launch, None)
            .into_iter()
            .filter(|f| f.counts())
            .collect();
        launches += usize::from(!flags.is_empty());
        on_disk += usize::from(flags.contains(&Flag::ForeignIo));
        let kinds = flags.iter().filter_map(|flag| {
            flag.warning(LaunchCount {
                launches: 1,
                all: 1,
            })
        });
        names.extend(kinds.map(|kind| kind.code()));
    }
    let all = cell.launches.len();
    (launches as f64 > MOST_DISTURBED * all as f64 && all >= LEAST_JUDGED).then(|| {
        let disturbed = Disturbed {
            launches,
            all,
            by: names.into_iter().collect(),
        };
        let is_disk = 2 * on_disk > launches;
        let cause = if is_disk {
            Cause::OthersOnDisk(disturbed)
        } else {
            Cause::Disturbed(disturbed)
        };
        Outcome::because(Status::Untrusted, cause)
    })
}

#[cfg(test)]
#[path = "../tests/unit/flags.rs"]
mod tests;
