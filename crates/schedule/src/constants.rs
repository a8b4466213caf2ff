//! Every constant of the scheduler, with its unit and its reason.

/// Seconds of a launch's measured rounds in a run of claims: more launches say more about differences between processes than
/// longer launches do.
pub(crate) const CLAIM_LAUNCH_S: f64 = 0.4;
/// Measured rounds of a launch at most: transcripts stay small.
pub(crate) const MOST_ROUNDS: f64 = 400.0;
/// Share of start and warm-up that additional rounds may take where there is little time, and the most of these rounds under a
/// neighboring condition.
pub(crate) const CHEAP_BESIDE: (f64, f64) = (0.25, 8.0);
/// Seconds of a round below which several are timed: a single one is mostly the first touch of everything. A longer round is a long
/// job's.
pub(crate) const SHORT_ROUND_S: f64 = 0.1;
/// Rounds of a launch that times short rounds; the median of five ignores two slow ones.
pub(crate) const TIMING_ROUNDS: u32 = 5;
/// Variance of a round's log ratio relative to what each process adds. Over 53 ratios of usual conditions the medians of the
/// standard deviations are 9.6 % and 5.9 %.
pub(crate) const ROUNDS_TO_PROCESS: f64 = 2.65;
/// Rounds of the first launch of a short job; it is judged as every other.
pub(crate) const FIRST_ROUNDS: u32 = 2;
/// Launches for which there must be room; the budget and the precision decide how many there are.
pub(crate) const PLANNED_LAUNCHES: f64 = 10.0;
/// Share of the time that plans use; the rest is for launches that take longer.
pub(crate) const PLANNED_SHARE: f64 = 0.92;
/// Factor by which launches take longer than their pilot or a guess by size: warm caches, proofs, write-back.
pub const LONGER: f64 = 1.25;
/// Factor by which a launch may exceed its forecast before it counts as hung, the least such limit in seconds, and the seconds by
/// which the first launch of an article's row may pass the end of its time.
pub(crate) const PATIENCE: (f64, f64, f64) = (10.0, 60.0, 0.5);
/// Bytes from which a job that was not timed yet is taken for long: the costs that a process has once vanish beside it, so there is
/// no warm-up.
pub(crate) const LONG_JOB_BYTES: u64 = 64 << 20;
/// Seconds of a cell's turn (start, checks, cleaning up), for each byte of its job, and of a turn whose worker compiles its code
/// while it runs. A guess that shares out time.
pub(crate) const GUESS_S: (f64, f64, f64) = (0.3, 4e-9, 1.5);
/// Seconds of an experiment below which nothing is left out: with so little time everything is shown once.
pub(crate) const LEAST_TIME_S: f64 = 30.0;
/// Seconds before which no pilot is ended.
pub(crate) const LEAST_PILOT_S: f64 = 5.0;
/// First launches of a run of claims: the share of the budget that one may take, and of the time left that all of a pass may take.
pub(crate) const FIRST_LAUNCHES_OF_CLAIMS: (f64, f64) = (0.02, 0.5);
/// The shares of its time after which a run leaves an experiment, by the seconds of the run from which they hold. The first
/// visit is the longest, so that a run that is ended early has intervals. An interval of six launches has six moments.
pub(crate) const VISITS: [(f64, &[f64]); 2] = [
    (0.0, &[0.6, 1.0]),
    (100.0, &[0.25, 0.4, 0.55, 0.7, 0.85, 1.0]),
];
/// The time of neighboring conditions (docs/decisions/0033-usual-conditions-first.md).
pub(crate) const NEIGHBORS: NeighborTime = NeighborTime {
    share: 0.8,
    longest: 0.05,
    weight: 0.1,
};
/// Beyond the least launches, unranked cells take part in one launch of this many.
pub(crate) const OTHERS_EVERY: usize = 3;
/// Unranked ratios are precise at this multiple of the requested half-width.
pub(crate) const OTHERS_WIDTH: f64 = 5.0;
/// A lower bound takes part in one round of this many, counted over the launches of a group: nobody ranks it. Launches have
/// few rounds, and a ratio to it needs four launches that had it.
pub(crate) const LOWER_BOUND_EVERY: u32 = 3;
/// One round of this many carries proofs, and at most this many of a launch: ten launches prove each cell forty times.
pub(crate) const PROOFS: (u32, u32) = (8, 4);
/// Weight of the cost of a comparison that decides no claim, relative to one that does.
pub(crate) const BESIDE: f64 = 4.0;
/// Weight of the cost of a comparison whose estimate lies near an edge, relative to others.
pub(crate) const UNLIKELY: f64 = 8.0;
/// Share of the time left, and the least seconds, of the launches between two interim analyses: each of these judges the run.
pub(crate) const BATCH_TIME: (f64, f64) = (0.04, 3.0);
/// Nanoseconds of a batched sample, and its length in reads of the clock at the least: it is a tenth of the shortest timer tick
/// of Linux (1000 Hz), so that most samples meet none, and the clock adds at most a hundredth.
pub(crate) const SAMPLE: (f64, f64) = (1e5, 100.0);
/// Launches until a batch is near, and launches after that whose median counts.
pub(crate) const CALIBRATIONS: (usize, usize) = (2, 3);
/// Blocks at most of a try and of a profile.
pub(crate) const STUDY_BLOCKS: [usize; 2] = [2000, 60];
/// Blocks of a profile in which faults are followed; the others only narrow the interval.
pub(crate) const FULL_BLOCKS: usize = 8;
/// The search for the sizes at which an answer changes.
pub(crate) const SEARCH: Search = Search {
    coarse_factor: 8.0,
    coarse_share: 0.3,
    coarse_half_width: 0.15,
    near: 1.5,
    half_width: 0.015,
    launches: 12,
    repeats: 3,
    least_s: 1.5,
};

/// Shares of time that neighboring conditions have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighborTime {
    /// For their least launches, of the time left after the first visits.
    pub share: f64,
    /// Of that, the most that one block takes.
    pub longest: f64,
    /// Beyond their least launches, of a usual condition's (docs/decisions/0027-time-of-the-overview.md).
    pub weight: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Largest factor between neighboring sizes of the coarse grid.
    pub coarse_factor: f64,
    /// Share of the time for the coarse grid.
    pub coarse_share: f64,
    /// Half-width at which a coarse measurement ends: most answers are far from an edge.
    pub coarse_half_width: f64,
    /// Factor between two sizes that are near enough: each lies within 25 % of everything between them.
    pub near: f64,
    /// Half-width at which a measurement between two answers ends.
    pub half_width: f64,
    /// Launches for which it is planned: near a crossover differences between processes hide the sign.
    pub launches: u32,
    /// Measurements of one size that has no answer.
    pub repeats: usize,
    /// Seconds below which six launches are not worth their start.
    pub least_s: f64,
}
