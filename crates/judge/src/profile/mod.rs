//! A profile judged: counted memory events times prices that were measured between the runs, held against the command's own
//! time in the kernel, and what a change would save of it. Pure. The rules of this module are those that `docs/validity.md`
//! tests; a change to them needs new measurements there.

mod candidates;
mod counts;
mod outcome;
mod prices;

use std::collections::BTreeMap;

use record::folder::Kept;
use record::profile::{
    Amount, Consistency, CostLine, Kind, Outcome, PROFILE_SCHEMA, ProfileNote, ProfilePlan, ProfileRun, ProfileSummary,
    What,
};
use record::trial::{Change, Cost};
use stats::interval::{CONFIDENCE, LEAST_LAUNCHES};
use stats::signed_rank::signed_rank_interval;

use crate::notes;
use crate::trial::Times;
use counts::{Counted, counted};
use prices::{BlockPrices, shown};

pub use outcome::given_up;
pub use prices::{MIB, footprint_bytes};

/// Largest excess of explained over measured kernel time: the split of CPU time is sampled.
const SURPLUS: f64 = 1.1;

/// Seconds between two samples of that split, on most kernels: less of a run's time may have been seen as none.
const TICK_S: f64 = 0.004;

/// Kinds whose costs are told together.
const FAULTS: [Kind; 14] = [
    Kind::Heap,
    Kind::Anonymous,
    Kind::Stack,
    Kind::Shared,
    Kind::Again,
    Kind::Elsewhere,
    Kind::ZeroRead,
    Kind::ZeroWrite,
    Kind::Cow,
    Kind::File,
    Kind::FileWrite,
    Kind::Huge,
    Kind::InCalls,
    Kind::Unknown,
];
const FREEING: [Kind; 2] = [Kind::FreeBase, Kind::FreeHuge];
const CALLS: [Kind; 4] = [Kind::ReadCalls, Kind::ReadBytes, Kind::WriteCalls, Kind::WriteBytes];

/// One block: a clean run and the prices that were measured beside it.
struct Block<'a> {
    clean: &'a Cost,
    prices: BlockPrices,
    /// Faults of the clean run per recorded fault.
    scale: f64,
}

impl Block<'_> {
    fn cpu_s(&self) -> f64 {
        (self.clean.user_us + self.clean.system_us) as f64 * 1e-6
    }

    /// Seconds of events of these kinds; an event without a price in this block costs nothing that is known.
    fn cost_s(&self, counted: &Counted, kinds: &[Kind]) -> f64 {
        let scale = |kind: &Kind| if CALLS.contains(kind) { 1.0 } else { self.scale };
        kinds.iter().map(|kind| counted.of(*kind) * self.prices.of_kind_or_zero(*kind) * scale(kind)).sum()
    }
}

/// The estimate over blocks; nothing below six, or where a value is none.
fn amount(values: &[f64]) -> Option<Amount> {
    if values.len() < LEAST_LAUNCHES {
        return None;
    }
    let interval = signed_rank_interval(values, CONFIDENCE).ok()?;
    Some(Amount { value: interval.estimate, low: interval.low, high: interval.high })
}

fn blocks<'a>(plan: &ProfilePlan, runs: &'a [ProfileRun], counted: &Counted) -> Vec<Block<'a>> {
    let last = runs.iter().map(|r| r.block).max().unwrap_or(-1);
    let of = |block: i64, what: What| runs.iter().find(move |r| r.block == block && r.what == what);
    let one = |block: i64| {
        let clean = of(block, What::Clean)?.cost.as_ref()?;
        let prices = BlockPrices::measured(plan, |what| of(block, what))?;
        let scale = match counted.followed_faults {
            Some(faults) if faults > 0.0 => clean.minor_faults as f64 / faults,
            _ => 1.0,
        };
        Some(Block { clean, prices, scale })
    };
    (0..=last).filter_map(one).collect()
}

/// The half-width of what faults cost relative to the run's CPU time, by the blocks so far: what decides on going on.
pub fn half_width(plan: &ProfilePlan, runs: &[ProfileRun]) -> Option<f64> {
    let counted = counted(plan, runs)?;
    let all = blocks(plan, runs, &counted);
    let line = line(&all, &counted, &FAULTS)?;
    Some((line.share.high - line.share.low) / 2.0)
}

fn line(blocks: &[Block], counted: &Counted, kinds: &[Kind]) -> Option<CostLine> {
    let seconds: Vec<f64> = blocks.iter().map(|b| b.cost_s(counted, kinds)).collect();
    let shares: Vec<f64> = blocks.iter().zip(&seconds).map(|(b, s)| s / b.cpu_s().max(1e-6)).collect();
    Some(CostLine { seconds: amount(&seconds)?, share: amount(&shares)? })
}

/// Counts times prices of everything that the kernel does for memory against its whole time for the command.
fn consistency(blocks: &[Block], counted: &Counted) -> Option<Consistency> {
    let kinds = [&FAULTS[..], &FREEING, &CALLS].concat();
    // The split of CPU time is sampled by ticks: over all blocks together it is as good as it gets.
    let system: f64 = blocks.iter().map(|b| b.clean.system_us as f64 * 1e-6).sum::<f64>() / blocks.len() as f64;
    if system <= 0.0 {
        return None;
    }
    let parts: Vec<f64> = blocks.iter().map(|b| b.cost_s(counted, &kinds) / system).collect();
    let explained = amount(&parts)?;
    let unseen = TICK_S / (blocks.len() as f64).sqrt();
    Some(Consistency { explained, holds: explained.low * system <= SURPLUS * system + unseen })
}

/// The followed run relative to the clean one of the same block.
fn overhead(runs: &[ProfileRun]) -> Option<Amount> {
    let cpu = |r: &ProfileRun| r.cost.as_ref().map(|c| (c.user_us + c.system_us) as f64);
    let clean = |block: i64| runs.iter().find(|r| r.block == block && r.what == What::Clean).and_then(cpu);
    let followed = runs.iter().filter(|r| r.what == What::Followed && r.block >= 0);
    let ratios: Vec<f64> =
        followed.filter_map(|r| Some((cpu(r)? / clean(r.block)?).ln())).filter(|x| x.is_finite()).collect();
    amount(&ratios).map(|a| Amount { value: a.value.exp(), low: a.low.exp(), high: a.high.exp() })
}

/// Cost of the command in each block, for another profile to be compared with; nothing where it is not to be believed.
pub(crate) fn costs(plan: &ProfilePlan, runs: &[ProfileRun]) -> Vec<Times> {
    let counted = counted(plan, runs).filter(|c| c.doubt.is_none() && outcome::given_up(plan, runs).is_none());
    let Some(counted) = counted else { return Vec::new() };
    let all = blocks(plan, runs, &counted);
    let cost = |time, of: &dyn Fn(&Block) -> f64| Times {
        command: plan.shown.clone(),
        arm: "command".to_owned(),
        time,
        seconds: all.iter().map(of).collect(),
    };
    vec![
        cost("cpu", &|b| b.cpu_s()),
        cost("kernel", &|b| b.clean.system_us as f64 * 1e-6),
        cost("page-faults", &|b| b.cost_s(&counted, &FAULTS)),
    ]
}

/// Predicted kernel time of each setting: the change in seconds, negative where it saves.
pub fn predictions(summary: &ProfileSummary) -> BTreeMap<String, Change> {
    summary
        .candidates
        .iter()
        .map(|c| {
            let Amount { value, low, high } = c.kernel_s;
            (c.setting.clone(), Change { value: -value, low: -high, high: -low })
        })
        .collect()
}

/// Judges a kept profile; its damage is noted.
pub fn judge_kept(kept: &Kept<ProfilePlan, ProfileRun>) -> ProfileSummary {
    let mut summary = judge(&kept.plan, &kept.launches);
    let remarks = notes::of_program(kept, record::kind::Kind::Profile);
    summary.notes.extend(remarks.map(|(code, text)| ProfileNote { code, text }));
    summary
}

/// Judges a profile from its plan and runs alone.
pub fn judge(plan: &ProfilePlan, runs: &[ProfileRun]) -> ProfileSummary {
    let counted = counted(plan, runs);
    let all = counted.as_ref().map(|c| blocks(plan, runs, c)).unwrap_or_default();
    let (outcome, reason) = match (outcome::given_up(plan, runs), counted.as_ref().and_then(|c| c.doubt.clone())) {
        (Some(why), _) => (Outcome::Failed, why),
        (None, Some(why)) => (Outcome::Untrusted, why),
        (None, None) => (Outcome::Ok, String::new()),
    };
    let told = outcome == Outcome::Ok;
    let of = |kinds: &[Kind]| counted.as_ref().filter(|_| told).and_then(|c| line(&all, c, kinds));
    let clean = |of: fn(&Cost) -> u64| amount(&all.iter().map(|b| of(b.clean) as f64 * 1e-6).collect::<Vec<_>>());
    let consistency = counted.as_ref().filter(|_| told).and_then(|c| consistency(&all, c));
    let mut notes = outcome::notes(plan, runs, counted.as_ref());
    if told && all.len() < LEAST_LAUNCHES {
        let text = format!("no interval below {LEAST_LAUNCHES} blocks of runs");
        notes.push(ProfileNote { code: "too-few".to_owned(), text });
    }
    let holds = consistency.is_none_or(|c| c.holds);
    ProfileSummary {
        schema: PROFILE_SCHEMA,
        plan: plan.clone(),
        outcome,
        reason,
        blocks: all.len(),
        by_kind: counted.as_ref().is_some_and(|c| c.by_kind),
        cpu_s: clean(|c| c.user_us + c.system_us),
        kernel_s: clean(|c| c.system_us),
        overhead: overhead(runs),
        prices: counted.as_ref().map(|c| shown(&all, c)).unwrap_or_default(),
        faults: of(&FAULTS),
        freeing: of(&FREEING),
        calls: of(&CALLS),
        consistency,
        candidates: match &counted {
            Some(counted) if told && holds => candidates::candidates(plan, counted, &all),
            _ => Vec::new(),
        },
        counts: counted.map(|c| c.shown),
        notes,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/tests.rs"]
mod tests;
