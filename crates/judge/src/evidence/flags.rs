//! Disturbed launches and rounds. A flag drops no sample; where the median must be disturbed, the cell is untrusted.

use crate::evidence::checks::FactSeen;
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
/// Device traffic of others disturbs no launch that moves so much itself that theirs is at most this share of it.
const FOREIGN_SHARE: f64 = 0.05;
/// Least device traffic, in bytes, that is a disturbance or a use of a device.
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
    let moved = noise.own_read_bytes.max(noise.own_written_bytes);
    if moved >= LEAST_BYTES
        && foreign >= LEAST_BYTES
        && foreign as f64 > FOREIGN_BYTES_PER_SECOND * launch.wall_s
        && foreign as f64 > FOREIGN_SHARE * moved as f64
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
    let mut disturbed: Vec<&CellLaunch> = cell.launches.iter().collect();
    disturbed.retain(|launch| steal_share(launch) > STEAL_SHARE);
    let disturbed_s: f64 = disturbed.iter().map(|l| l.wall_s).sum();
    let ticks: f64 = disturbed
        .iter()
        .map(|l| steal_share(l) * l.wall_s * TICKS_PER_SECOND)
        .sum();
    let stolen_s: f64 = cell
        .launches
        .iter()
        .map(|l| steal_share(l) * l.wall_s)
        .sum();
    (disturbed_s > MOST_DISTURBED * seconds && ticks >= LEAST_STOLEN_TICKS)
        .then(|| stolen_s / seconds)
}

fn steal_share(launch: &CellLaunch) -> f64 {
    launch.noise.as_ref().map_or(0.0, |noise| noise.steal_share)
}

/// The share of a cell's launches, by time, for which a CPU quota kept its group waiting, where it is so large that the cell's
/// figures are the quota's too. Beyond 1 it kept more than one CPU of it waiting.
pub fn throttled(cell: &CellEvidence) -> Option<f64> {
    let seconds: f64 = cell.launches.iter().map(|l| l.wall_s).sum();
    let share = cell.launches.iter().map(throttled_s).sum::<f64>() / seconds;
    (share > THROTTLED_SHARE).then_some(share)
}

fn throttled_s(launch: &CellLaunch) -> f64 {
    launch
        .noise
        .as_ref()
        .map_or(0.0, |noise| noise.throttled_us as f64 / 1e6)
}

/// The share of a cell's rounds with a switch, where all are short; `None` for long ones, which are always switched.
pub fn interrupted_share(cell: &CellEvidence) -> Option<f64> {
    let mut measures = cell.launches.iter().flat_map(|launch| &launch.measures);
    let short = measures.all(is_short);
    let launches = cell.launches.len() as f64;
    (short && launches > 0.0)
        .then(|| cell.launches.iter().map(|l| l.interrupted).sum::<f64>() / launches)
}

/// Tells whether rounds are short by CPU time: one that was switched out is long by the clock.
fn is_short(figures: &Figures) -> bool {
    median(&mut figures.cpu_ns.clone()).is_none_or(|ns| ns < SHORT_NS)
}

/// Fewest launches of a cell that is judged by its disturbed ones: with fewer no ratio is decided, and the flag is shown.
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
        names.extend(kinds.map(|kind| kind.code().to_owned()));
    }
    let judged = cell.launches.len();
    (launches as f64 > MOST_DISTURBED * judged as f64 && judged >= LEAST_JUDGED).then(|| {
        let disturbed = Disturbed {
            launches,
            all: judged,
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
mod tests {
    use super::*;
    use record::machine::preflight::NoiseDelta;

    fn launch(noise: NoiseDelta, cpu_ns: f64, interrupted: f64) -> CellLaunch {
        // A switched out round is long by the clock, whatever it does.
        let figures = Figures {
            wall_ns: vec![2e7; 10],
            cpu_ns: vec![cpu_ns; 10],
            ..Figures::default()
        };
        CellLaunch {
            launch: 0,
            block: 0,
            measures: vec![figures],
            rounds: (0..10).collect(),
            latencies: Default::default(),
            idle: Default::default(),
            interrupted,
            noise: Some(noise),
            wall_s: 1.0,
            laboratory_cpu_s: 0.0,
        }
    }

    fn cell(launches: Vec<CellLaunch>) -> CellEvidence {
        CellEvidence {
            launches,
            ..CellEvidence::default()
        }
    }

    fn with_steal(steal_share: f64, wall_s: f64) -> CellLaunch {
        CellLaunch {
            wall_s,
            ..launch(
                NoiseDelta {
                    steal_share,
                    ..NoiseDelta::default()
                },
                1e5,
                0.0,
            )
        }
    }

    fn reclaimed() -> CellLaunch {
        let vmstat = [("pgscan_direct".to_owned(), 3)].into();
        launch(
            NoiseDelta {
                vmstat,
                ..NoiseDelta::default()
            },
            1e5,
            0.0,
        )
    }

    fn quiet() -> CellLaunch {
        launch(NoiseDelta::default(), 1e5, 0.0)
    }

    #[test]
    fn a_median_that_must_be_disturbed_costs_the_trust() {
        assert_eq!(distrust(&cell(vec![reclaimed(), quiet()])), None);
        let outcome =
            distrust(&cell(vec![reclaimed(), reclaimed(), quiet()])).expect("two of three");
        let disturbed = Disturbed {
            launches: 2,
            all: 3,
            by: vec!["reclaim".to_owned()],
        };
        assert_eq!(
            outcome,
            Outcome::because(Status::Untrusted, Cause::Disturbed(disturbed))
        );
    }

    #[test]
    fn steal_costs_absolute_times_and_not_the_trust() {
        let robbed = cell(vec![with_steal(0.2, 1.0), with_steal(0.2, 1.0), quiet()]);
        assert_eq!(distrust(&robbed), None);
        assert!((stolen(&robbed).expect("most of the time") - 0.4 / 3.0).abs() < 1e-12);
        assert_eq!(
            stolen(&cell(vec![with_steal(0.2, 1.0), quiet(), quiet()])),
            None,
            "the median is untouched"
        );
    }

    fn throttled_by(throttled_us: u64) -> CellLaunch {
        launch(
            NoiseDelta {
                throttled_us,
                ..NoiseDelta::default()
            },
            1e5,
            0.0,
        )
    }

    #[test]
    fn a_quota_is_told_by_the_time_that_it_took_from_all_launches() {
        assert_eq!(
            throttled(&cell(vec![throttled_by(800_000), throttled_by(600_000)])),
            Some(0.7)
        );
        assert_eq!(
            throttled(&cell(vec![throttled_by(80_000), quiet(), quiet()])),
            None,
            "one accident in three launches"
        );
        assert_eq!(throttled(&cell(Vec::new())), None);
    }

    #[test]
    fn two_ticks_of_steal_are_an_accident_of_counting() {
        assert_eq!(stolen(&cell(vec![with_steal(0.07, 0.28)])), None);
        assert!(
            stolen(&cell(vec![with_steal(0.07, 0.28); 4])).is_some(),
            "in every launch they are none"
        );
    }

    #[test]
    fn being_switched_out_counts_for_short_rounds_only() {
        let short = cell(vec![launch(NoiseDelta::default(), 1e5, 0.8)]);
        let long = cell(vec![launch(NoiseDelta::default(), 1e8, 0.8)]);
        assert!(distrust(&short).is_some());
        assert_eq!((distrust(&long), interrupted_share(&long)), (None, None));
    }

    #[test]
    fn others_disturb_a_device_only_while_the_cell_uses_it() {
        let cases = [
            (0, vec![]),
            (100 << 20, vec![Flag::ForeignIo]),
            (198 << 20, vec![]),
        ];
        for (own_read_bytes, flags) in cases {
            let noise = NoiseDelta {
                device_read_bytes: 200 << 20,
                own_read_bytes,
                ..NoiseDelta::default()
            };
            let cell = cell(vec![launch(noise, 1e5, 0.0)]);
            assert_eq!(of_launch(&cell, &cell.launches[0], None), flags);
        }
    }

    #[test]
    fn a_fallback_is_told_and_nothing_more() {
        let vmstat = [("thp_fault_fallback".to_owned(), 3)].into();
        let mut cell = cell(vec![launch(
            NoiseDelta {
                vmstat,
                ..NoiseDelta::default()
            },
            1e5,
            0.0,
        )]);
        cell.checks
            .facts(&[("huge_bytes".to_owned(), "2097152".to_owned())]);
        assert_eq!(
            of_launch(&cell, &cell.launches[0], Some("huge_bytes")),
            [Flag::ThpFallback]
        );
        assert_eq!(
            of_launch(&cell, &cell.launches[0], None),
            [],
            "an experiment without huge pages wants none"
        );
        assert_eq!(distrust(&cell), None);
    }

    /// The flags of a launch in a state that moves this counter itself.
    fn relieved(counter: &str, launch: CellLaunch) -> Vec<Flag> {
        let noise = launch
            .noise
            .map(|noise| noise.without(&[counter.to_owned()]));
        let cell = cell(vec![CellLaunch { noise, ..launch }]);
        of_launch(&cell, &cell.launches[0], None)
    }

    #[test]
    fn counters_that_the_state_moves_itself_disturb_no_launch() {
        assert_eq!(relieved("pgscan_direct", reclaimed()), []);
        assert_eq!(
            relieved("allocstall_normal", reclaimed()),
            [Flag::Reclaim],
            "another counter moved"
        );
        let foreign = NoiseDelta {
            device_written_bytes: 200 << 20,
            own_read_bytes: 100 << 20,
            ..NoiseDelta::default()
        };
        assert_eq!(
            relieved("pgscan_direct", launch(foreign.clone(), 1e5, 0.0)),
            [Flag::ForeignIo]
        );
        assert_eq!(relieved("device_bytes", launch(foreign, 1e5, 0.0)), []);
    }
}
