//! The search for the sizes at which an answer changes: a coarse grid, then halving between two different answers until they
//! are near enough. The order of the answers decides the next size; the length of a measurement never depends on them.

use crate::constants::SEARCH;
use record::decision::Reason;

/// The answer at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeAnswer {
    /// Size in bytes.
    pub size: u64,
    /// The method that is shown to cost less; absent if nothing is shown.
    pub method: Option<String>,
    /// Measurements made at this size.
    pub looks: usize,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Size in bytes.
    pub size: u64,
    /// Time of the measurement, in seconds.
    pub budget_s: f64,
    /// The half-width at which it may end before.
    pub half_width: f64,
    /// The launches for which it is planned; the usual number if absent.
    pub launches: Option<u32>,
}

/// The search for one question.
#[derive(Clone, Copy, Debug)]
pub struct CrossoverSearch {
    /// Smallest size in bytes.
    pub from: u64,
    /// Largest size in bytes.
    pub to: u64,
    /// Sizes are multiples of this.
    pub step: u64,
    /// Time of the whole search, in seconds.
    pub budget_s: f64,
}

impl CrossoverSearch {
    /// The next measurement, or the reason why there is none. `answers` are sorted by size, `last_s` is the time of the last
    /// measurement.
    /// Errors: the search has ended.
    pub fn next(
        &self,
        answers: &[SizeAnswer],
        spent_s: f64,
        last_s: Option<f64>,
    ) -> Result<Measurement, Reason> {
        let left_s = self.budget_s - spent_s;
        if last_s.unwrap_or(SEARCH.least_s) > left_s {
            return Err(Reason::BudgetSpent);
        }
        // A measured size stands for one nearby.
        let is_near = |answer: &SizeAnswer, size: u64| {
            (0.75..=1.34).contains(&(answer.size as f64 / size as f64))
        };
        let is_known = |size: u64| answers.iter().any(|answer| is_near(answer, size));
        let coarse: Vec<u64> = self
            .coarse()
            .into_iter()
            .filter(|&size| !is_known(size))
            .collect();
        if let Some(&size) = coarse.first() {
            let budget_s = (left_s * SEARCH.coarse_share / coarse.len() as f64).max(SEARCH.least_s);
            return Ok(Measurement {
                size,
                budget_s,
                half_width: SEARCH.coarse_half_width,
                launches: None,
            });
        }
        let size = self.fine(answers)?;
        let budget_s = (left_s / self.measurements_left(answers) as f64).max(SEARCH.least_s);
        Ok(Measurement {
            size,
            budget_s,
            half_width: SEARCH.half_width,
            launches: Some(SEARCH.launches),
        })
    }

    /// The next size after the coarse grid.
    fn fine(&self, answers: &[SizeAnswer]) -> Result<u64, Reason> {
        if let Some(size) = between_equal(answers) {
            return Ok(size);
        }
        let width = |gap: &(u64, u64)| gap.1 as f64 / gap.0.max(1) as f64;
        let changes = || {
            answers
                .windows(2)
                .filter(|two| two[0].method != two[1].method)
                .map(|two| (two[0].size, two[1].size))
        };
        let wide = changes().filter(|gap| width(gap) > SEARCH.near);
        let middles = wide.filter_map(|gap| Some((width(&gap), self.middle(gap)?)));
        let widest = middles
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, middle)| middle);
        // A size without an answer widens a band: more launches may bring one.
        let ended = if changes().next().is_some() {
            Reason::Precise
        } else {
            Reason::NothingOpen
        };
        widest.or_else(|| unanswered(answers)).ok_or(ended)
    }

    /// The measurements that are still to come, by how far apart different answers are: they share the time left.
    fn measurements_left(&self, answers: &[SizeAnswer]) -> usize {
        let answered: Vec<&SizeAnswer> = answers
            .iter()
            .filter(|answer| answer.method.is_some())
            .collect();
        let changes = answered
            .windows(2)
            .filter(|two| two[0].method != two[1].method);
        let halvings = |two: &[&SizeAnswer]| {
            let steps = (two[1].size as f64 / two[0].size.max(1) as f64).ln() / SEARCH.near.ln();
            steps.log2().ceil().max(0.0) as usize + 1
        };
        changes.map(halvings).sum::<usize>().max(1)
    }

    /// The sizes of the coarse grid, ascending.
    fn coarse(&self) -> Vec<u64> {
        let span = (self.to as f64 / self.from as f64).ln();
        let parts = (span / SEARCH.coarse_factor.ln() - 1e-9).ceil().max(1.0);
        let at = |part: u32| (self.from as f64).ln() + f64::from(part) / parts * span;
        let mut sizes: Vec<u64> = (0..=parts as u32)
            .map(|part| self.round(at(part).exp()))
            .collect();
        sizes.dedup();
        sizes
    }

    fn round(&self, size: f64) -> u64 {
        let step = self.step.max(1);
        (((size / step as f64).round() as u64).max(1) * step).clamp(self.from, self.to)
    }

    /// The size halfway between two on a logarithmic scale; absent if there is none between them.
    fn middle(&self, (low, high): (u64, u64)) -> Option<u64> {
        let middle = self.round((low as f64 * high as f64).sqrt());
        (low < middle && middle < high).then_some(middle)
    }
}

/// The least measured size without an answer between two answers.
fn unanswered(answers: &[SizeAnswer]) -> Option<u64> {
    let first = answers.iter().position(|answer| answer.method.is_some())?;
    let last = answers.iter().rposition(|answer| answer.method.is_some())?;
    let open = answers[first..=last]
        .iter()
        .filter(|answer| answer.method.is_none() && answer.looks < SEARCH.repeats);
    open.min_by_key(|answer| answer.looks)
        .map(|answer| answer.size)
}

/// A size without an answer between two equal ones: it lacks launches.
fn between_equal(answers: &[SizeAnswer]) -> Option<u64> {
    let answered: Vec<&SizeAnswer> = answers
        .iter()
        .filter(|answer| answer.method.is_some())
        .collect();
    let equal = answered
        .windows(2)
        .filter(|two| two[0].method == two[1].method);
    let mut open = equal.flat_map(|two| {
        answers
            .iter()
            .filter(|a| two[0].size < a.size && a.size < two[1].size)
    });
    open.find(|answer| answer.looks < SEARCH.repeats)
        .map(|answer| answer.size)
}
