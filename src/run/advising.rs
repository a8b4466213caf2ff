//! Measures what a question lacks: the size asked for, the sizes where the answer changes, other cases. Each step is an
//! ordinary run, kept like any other; what kept runs of this machine answer is not measured again.

use super::Session;
use crate::plan::request::least_s;
use crate::plan::{self, Choice, Laboratory, Start, Terms, Wish, advice};
use anyhow::{Result, bail};
use judge::questions::advise::{AdviceRequest, choices, has, points};
use record::{advice::Topic, kind::Kind, sizes::format_size, summary::Summary};
use schedule::crossover::{CrossoverSearch, SizeAnswer};
use std::{collections::BTreeMap, path::PathBuf, time::Instant};

/// Before the number of a further run of one command: `20261121T171805Z-1a2b3c4d-p2`.
pub const PART: &str = "-p";
/// Half-width at which a ratio is narrow enough.
const PRECISION: f64 = 0.015;
/// Seconds that the question itself gets before sizes and other cases get any: workers start, and each method has a launch.
const POINT_S: f64 = 3.0;

/// A guess at the seconds that a size needs: a pilot and the launches of an interval of all its methods, by their bytes.
fn question_s(request: &AdviceRequest, bytes: u64) -> f64 {
    (stats::interval::LEAST_LAUNCHES + 1) as f64
        * (request.methods.len() + 1) as f64
        * schedule::guess_s(0.0, bytes as f64)
}

/// Use of the time of one question, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Spending {
    /// On the size asked for.
    pub point_s: f64,
    /// On where the answer changes.
    pub axis_s: f64,
    /// On other cases.
    pub cases_s: f64,
}

impl Spending {
    pub fn new(request: &AdviceRequest, budget_s: f64) -> Spending {
        let cases = if advice::cases(request).is_empty() {
            0.0
        } else {
            0.15
        };
        let axis = if request.topic.by_size { 0.6 } else { 0.0 };
        let least_s = question_s(request, request.bytes).max(POINT_S);
        let point_s = (budget_s * (1.0 - cases - axis)).max(least_s.min(budget_s));
        let beyond_s = if cases + axis > 0.0 {
            (budget_s - point_s) / (cases + axis)
        } else {
            0.0
        };
        Spending {
            point_s,
            axis_s: beyond_s * axis,
            cases_s: beyond_s * cases,
        }
    }
}

/// Time of one run, in seconds, and the half-width at which it may end before.
#[derive(Clone, Copy, Debug)]
struct Spend {
    budget_s: f64,
    precision: f64,
    /// Launches that are planned for; as many as usual where left out.
    launches: Option<u32>,
}

impl Spend {
    fn narrow(budget_s: f64) -> Spend {
        Spend {
            budget_s,
            precision: PRECISION,
            launches: None,
        }
    }
}

/// Options of all runs of a command.
#[derive(Clone, Debug)]
pub struct AdviceOptions {
    /// Folder of the kept runs.
    pub store: PathBuf,
    pub seed: Option<u64>,
    /// True if another run that is measuring is no obstacle.
    pub forced: bool,
    pub allow_system_changes: bool,
    /// A gain below it is none.
    pub margin: f64,
}

/// Everything that is known while questions are answered.
pub struct AdviceSession<'a> {
    pub laboratory: &'a Laboratory,
    wish: Wish,
    kept: Vec<Summary>,
    made: Vec<Summary>,
    pub options: AdviceOptions,
    /// The signal that ended it.
    pub stopped_by: Option<i32>,
}

impl<'a> AdviceSession<'a> {
    pub fn new(
        laboratory: &'a Laboratory,
        wish: Wish,
        kept: Vec<Summary>,
        options: AdviceOptions,
    ) -> AdviceSession<'a> {
        AdviceSession {
            laboratory,
            wish,
            kept,
            made: Vec::new(),
            options,
            stopped_by: None,
        }
    }

    pub fn request(&self, topic: Topic, terms: &advice::AdviceTerms) -> Result<AdviceRequest> {
        advice::request(topic, terms, self.laboratory, &self.wish)
    }

    /// New summaries, then kept ones, each the newest first.
    pub fn summaries(&self) -> Vec<&Summary> {
        self.made.iter().rev().chain(&self.kept).collect()
    }

    pub fn runs(&self) -> Vec<String> {
        self.made.iter().map(|s| s.run.clone()).collect()
    }

    fn run(
        &mut self,
        request: &AdviceRequest,
        size: u64,
        settings: &BTreeMap<String, String>,
        spend: Spend,
    ) -> Result<()> {
        let wish = advice::wish(request, &[size], settings, &self.wish)?;
        let start = Start::now();
        let seed = self.options.seed.map_or_else(
            || start.seed(),
            |seed| seed.wrapping_add(self.made.len() as u64),
        );
        let goal = (spend.precision, self.options.margin);
        // All runs of one command are parts of the first: the list of runs has one entry of them.
        let name = match self.made.first() {
            Some(first) => format!("{}{PART}{}", first.run, self.made.len() + 1),
            None => start.run_id(),
        };
        let usual = Terms::usual(name, seed, spend.budget_s, goal);
        let launches = spend.launches.map_or(usual.launches, |least| {
            (least, usual.launches.1.max(4 * least))
        });
        let (created, allow_system_changes) = (start.created(), self.options.allow_system_changes);
        let terms = Terms {
            kind: Kind::Advise,
            created,
            launches,
            allow_system_changes,
            ..usual
        };
        let Laboratory {
            experiments,
            workers,
        } = self.laboratory;
        let plan = plan::build(experiments, workers, Choice::Wished(&wish), terms)?;
        if let Some(sentence) = report::ending::too_short(&plan, least_s(&plan, workers))
            .filter(|_| self.made.is_empty())
        {
            remark!("pagewise: {sentence}");
        }
        let path = self.options.store.join(&plan.run);
        let session = Session::begin(plan, &path, self.options.forced)?;
        let (summary, stopped_by) = session.measure(workers, &self.options.store, None)?;
        self.stopped_by = stopped_by;
        self.made.push(summary);
        Ok(())
    }

    /// True if a kept or a new run answers a case at the size in question.
    fn knows(&self, request: &AdviceRequest, settings: &BTreeMap<String, String>) -> bool {
        let summaries = self.summaries();
        let mut summaries = summaries.iter();
        summaries.any(|s| has(request, settings, request.bytes, s, self.options.margin))
    }

    /// Measures the size and the case of a question, unless they are known.
    /// Errors: it has too little time, or cannot be measured.
    pub fn measure_point(&mut self, request: &AdviceRequest, spending: &Spending) -> Result<()> {
        if !self.knows(request, &request.settings) {
            // Half of a guess may do on a fast machine, and less says nothing.
            let least_s = question_s(request, request.bytes);
            if spending.point_s < least_s / 2.0 {
                let (topic, size, count) = (
                    &request.topic.id,
                    format_size(request.bytes),
                    request.methods.len() + 1,
                );
                bail!(
                    "{topic} compares {count} methods at {size}, and the least budget for it is about {least_s:.0}s"
                );
            }
            self.run(
                request,
                request.bytes,
                &request.settings,
                Spend::narrow(spending.point_s),
            )?;
        }
        Ok(())
    }

    /// Measures where the answer to a question changes; the settings of the other cases are returned.
    pub fn measure_changes(
        &mut self,
        request: &AdviceRequest,
        spending: &Spending,
        own_file: bool,
    ) -> Result<Vec<BTreeMap<String, String>>> {
        if spending.axis_s > 0.0 {
            let most = if own_file { request.bytes } else { u64::MAX };
            self.axis(request, spending.axis_s, most)?;
        }
        let mut cases = advice::cases(request);
        let case_s = spending.cases_s / cases.len() as f64;
        if case_s < question_s(request, request.bytes) / 2.0 {
            cases.retain(|settings| self.knows(request, settings));
        }
        for settings in &cases {
            if self.stopped_by.is_none() && !self.knows(request, settings) {
                self.run(request, request.bytes, settings, Spend::narrow(case_s))?;
            }
        }
        Ok(cases)
    }

    /// Looks for the sizes between which the answer changes, none of them larger than `most`.
    pub fn axis(&mut self, request: &AdviceRequest, budget_s: f64, most: u64) -> Result<()> {
        let (from, to) = request.topic.range()?;
        let to = to.min(most);
        let step = if from.is_multiple_of(self.wish.page_bytes) {
            self.wish.page_bytes
        } else {
            1
        };
        if from >= to {
            return Ok(());
        }
        let only: Vec<(String, record::cell::Cell)> = request
            .methods
            .iter()
            .filter(|(name, _)| !request.topic.is_only_asked(name))
            .cloned()
            .collect();
        let narrow = AdviceRequest {
            methods: only,
            ..request.clone()
        };
        let search = CrossoverSearch {
            from,
            to: to / step * step,
            step,
            budget_s,
        };
        let begun = Instant::now();
        let (mut last_s, mut without) = (None, Vec::new());
        let mut looks: BTreeMap<u64, usize> = BTreeMap::new();
        while self.stopped_by.is_none() {
            let spent_s = begun.elapsed().as_secs_f64();
            let Ok(next) = search.next(&self.answers(&narrow, &without, &looks), spent_s, last_s)
            else {
                break;
            };
            *looks.entry(next.size).or_default() += 1;
            let (needed_s, left_s) = (question_s(&narrow, next.size), budget_s - spent_s);
            if left_s < needed_s / 2.0 {
                without.push(next.size);
                continue;
            }
            let spend = Spend {
                budget_s: next.budget_s.max(needed_s.min(left_s)),
                precision: next.half_width,
                launches: next.launches,
            };
            self.run(&narrow, next.size, &request.settings, spend)?;
            // A size without a ratio, such as one that no method knows, would be measured again and again.
            if self
                .answers(&narrow, &[], &looks)
                .iter()
                .all(|answer| answer.size != next.size)
            {
                without.push(next.size);
            }
            last_s = Some(begun.elapsed().as_secs_f64() - spent_s);
        }
        Ok(())
    }

    fn answers(
        &self,
        request: &AdviceRequest,
        without: &[u64],
        looks: &BTreeMap<u64, usize>,
    ) -> Vec<SizeAnswer> {
        let (points, _) = points(request, &self.summaries());
        // The search is for the sign: below the margin a change is as near as anywhere.
        let choices = choices(&points, &request.topic.baseline, 0.0).into_iter();
        let mut answers: Vec<SizeAnswer> = choices
            .chain(without.iter().map(|size| (*size, None)))
            .map(|(size, method)| SizeAnswer {
                size,
                method,
                looks: looks.get(&size).copied().unwrap_or(0),
            })
            .collect();
        answers.sort_by_key(|answer| answer.size);
        answers.dedup_by_key(|answer| answer.size);
        answers
    }
}
