//! The tour of an ordinary run. Every comparison first has the launches of an interval, then every experiment is visited in
//! its share of the time. Several experiments are visited more than once: a machine changes over minutes, and launches of one
//! of them would show nothing of it (docs/decisions/0016-a-run-comes-back-to-its-experiments.md).

use crate::block::{ComparisonSet, Until};
use crate::constants::{LONGER, PLANNED_SHARE, VISITS};
use crate::first_launches::{Room, Scope, first_launches};
use crate::neighbors::Neighbors;
use crate::precision::Policy;
use crate::run::{ActiveRun, Step, names};
use crate::shares::{self, SetNeed};
use crate::view::View;
use crate::visit::Visit;
use record::{decision::LeftOut, state::Stage};

/// The least launches of everything, whatever they take.
const LEAST: Policy = Policy::Least {
    longest_s: f64::INFINITY,
};

/// Measures what a plan asks, until its ratios are as narrow as requested, their words are spoken or its time is over.
pub(crate) fn tour(run: &mut ActiveRun) -> Step {
    let names = names(run.view().state);
    let sweeps = run.view().state.plan.sweeps();
    if sweeps {
        sweep(run, &names)?;
    }
    let (weights, level_s) = weights(&run.view(), &names);
    if !sweeps && names.len() > 1 {
        least(run, &names, &weights)?;
    }
    let mut visits = Visits::new(&run.view(), &weights, level_s);
    for visit in 0..visits.ends.len() {
        if visit > 0 {
            visits.share_again(run, &names, visit);
        }
        for place in 0..names.len() {
            visits.make(run, &names, visit, place)?;
        }
        if visit == 0 && visits.ends.len() > 1 {
            if run.view().state.plan.usual_first {
                least_usual(run, &names)?;
            }
            neighbors(run, &names)?;
        }
    }
    take_up(run, &names, &visits.shares_s)
}

/// The first launches of everything: of an experiment after the other, but of articles the cheapest row first, and equal
/// ones in their order, whichever experiment these are of.
fn sweep(run: &mut ActiveRun, names: &[String]) -> Step {
    let view = run.view();
    let room = Room::of_experiment(&view, view.state.budget_s, false);
    if view.state.plan.articles.is_empty() {
        for name in names {
            first_launches(run, name, &Scope::Usual, room)?;
        }
        return Ok(());
    }
    let mut rows: Vec<(&String, Vec<usize>)> = Vec::new();
    for name in names {
        rows.extend(view.comparisons(name).into_iter().map(|set| (name, set)));
    }
    rows.sort_by_key(|(_, set)| {
        let cells = set.iter().flat_map(|&group| &view.group(group).cells);
        cells.min().copied()
    });
    rows.sort_by_key(|(_, set)| view.guess_of_row_ms(set));
    for (name, set) in rows {
        first_launches(run, name, &Scope::These(set), room)?;
    }
    Ok(())
}

/// The least launches of every experiment within its share; then of the comparisons that were left out, in the time that others
/// left over.
fn least(run: &mut ActiveRun, names: &[String], weights: &[f64]) -> Step {
    for (place, name) in names.iter().enumerate() {
        let view = run.view();
        let share = weights[place] / weights[place..].iter().sum::<f64>();
        let until = Until::all(view.spent_s + view.left_s().max(0.0) * share);
        Visit::new(name, until, LEAST).make(run)?;
    }
    let left_out = lacking(&run.view(), names);
    for (place, groups) in left_out {
        run.readmit(groups)?;
        let until = Until::all(run.view().state.budget_s);
        let visit = Visit {
            retry: true,
            ..Visit::new(&names[place], until, LEAST)
        };
        visit.make(run)?;
    }
    Ok(())
}

/// The least launches that usual conditions still lack after the first visits.
fn least_usual(run: &mut ActiveRun, names: &[String]) -> Step {
    for name in names {
        let visit = Visit {
            scope: Scope::Usual,
            ..Visit::new(name, Until::all(run.view().state.budget_s), LEAST)
        };
        visit.make(run)?;
    }
    Ok(())
}

/// The first launches under neighboring conditions, then the least ones.
fn neighbors(run: &mut ActiveRun, names: &[String]) -> Step {
    let mut neighbors = Neighbors::new(&run.view(), names);
    neighbors.first_launches(run, names)?;
    for &place in &neighbors.places {
        let policy = Policy::Least {
            longest_s: neighbors.longest_s(),
        };
        let visit = Visit {
            scope: Scope::These(Vec::new()),
            ..Visit::new(&names[place], Until::all(neighbors.until_s), policy)
        };
        visit.make(run)?;
    }
    Ok(())
}

/// One more visit of each experiment that has groups which are still left out, where its time is there once more.
fn take_up(run: &mut ActiveRun, names: &[String], shares_s: &[f64]) -> Step {
    for (name, share_s) in names.iter().zip(shares_s) {
        let view = run.view();
        let mut groups = view.groups_of(name);
        groups.retain(|&group| view.stage(group).is_left_out());
        if groups.is_empty() || view.left_s() < LONGER * share_s {
            continue;
        }
        run.readmit(groups)?;
        let until = Until::all(run.view().state.budget_s);
        Visit::new(name, until, Policy::Precise).make(run)?;
    }
    Ok(())
}

/// The shares of the budget: each experiment's need, or its jobs' sizes. In the overview every question has its least launches
/// and a share of the rest, which is the second figure.
fn weights(view: &View, names: &[String]) -> (Vec<f64>, Option<f64>) {
    let plan = &view.state.plan;
    if !plan.sweeps() {
        let needed: Vec<f64> = plan
            .experiments
            .iter()
            .map(|experiment| experiment.needed_s())
            .collect();
        let fits = needed.iter().sum::<f64>() <= view.state.budget_s;
        return (
            if fits {
                needed
            } else {
                names.iter().map(|name| view.by_size_s(name)).collect()
            },
            None,
        );
    }
    let needs: Vec<Vec<SetNeed>> = names
        .iter()
        .map(|name| ComparisonSet::needs_of(view, name, |_| true))
        .collect();
    let level_s = shares::level_s(needs.iter().flatten(), 0, view.left_s() * PLANNED_SHARE);
    let due_s =
        |needs: &Vec<SetNeed>| needs.iter().map(|need| need.due_s(level_s, 0)).sum::<f64>() + 1e-3;
    (needs.iter().map(due_s).collect(), Some(level_s))
}

/// The comparisons that were left out, the shortest first, whichever experiment they are of. Guessed by size before a pilot;
/// a pilot that took too long is longer than all others.
fn lacking(view: &View, names: &[String]) -> Vec<(usize, Vec<usize>)> {
    let group_s = |&group: &usize| match view.stage(group) {
        Stage::LeftOut {
            reason: LeftOut::TooLong,
            ..
        } => f64::INFINITY,
        stage if stage.cost().is_some() => view.one_round_s(group),
        _ => view
            .alive(group)
            .into_iter()
            .map(|cell| view.guess_s(cell))
            .sum(),
    };
    let mut lacking: Vec<(f64, usize, Vec<usize>)> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let sets = view.comparisons(name).into_iter();
        let left_out = sets.filter(|set| set.iter().any(|&group| view.stage(group).is_left_out()));
        lacking.extend(left_out.map(|set| (set.iter().map(group_s).sum(), place, set)));
    }
    lacking.sort_by(|a, b| a.0.total_cmp(&b.0));
    lacking
        .into_iter()
        .map(|(_, place, set)| (place, set))
        .collect()
}

/// The visits of a run.
#[derive(Debug)]
struct Visits {
    /// The share of each experiment, in seconds.
    shares_s: Vec<f64>,
    /// The seconds that each experiment has had.
    spent_s: Vec<f64>,
    /// In the overview, the seconds of a usual condition beyond its least launches.
    level_s: Option<f64>,
    /// The share of its time that an experiment has had after each visit.
    ends: &'static [f64],
}

impl Visits {
    /// The time left, shared out by these weights.
    fn new(view: &View, weights: &[f64], level_s: Option<f64>) -> Visits {
        let left_s = view.left_s().max(0.0);
        let shares_s = weights
            .iter()
            .map(|weight| left_s * weight / weights.iter().sum::<f64>())
            .collect();
        let several = VISITS
            .iter()
            .rev()
            .find(|(from_s, _)| left_s >= *from_s)
            .map_or(VISITS[0].1, |(_, ends)| ends);
        let has_neighbors =
            (0..view.state.launch_groups.len()).any(|group| view.is_neighbor(group));
        Visits {
            shares_s,
            spent_s: vec![0.0; weights.len()],
            level_s,
            ends: if weights.len() < 2 && !has_neighbors {
                &[1.0]
            } else {
                several
            },
        }
    }

    /// Shares the time left out anew in the overview, by what each experiment's comparisons need.
    fn share_again(&mut self, run: &ActiveRun, names: &[String], visit: usize) {
        if self.level_s.is_none() {
            return;
        }
        let needs: Vec<&[SetNeed]> = names
            .iter()
            .map(|name| run.needs.get(name).map_or(&[][..], |needs| needs))
            .collect();
        let visits = self.ends.len() - visit;
        let left_s = run.view().left_s();
        let level_s = shares::level_s(needs.iter().copied().flatten(), visits, left_s);
        for (place, needs) in needs.into_iter().enumerate() {
            let due_s: f64 = needs.iter().map(|need| need.due_s(level_s, visits)).sum();
            self.shares_s[place] = self.spent_s[place] + due_s;
        }
        self.level_s = Some(level_s);
    }

    /// Visits an experiment, usual conditions only in the overview.
    fn make(&mut self, run: &mut ActiveRun, names: &[String], visit: usize, place: usize) -> Step {
        let view = run.view();
        let begun_s = view.spent_s;
        let (planned_s, visit_s) = self.time(visit, place, view.left_s().max(0.0));
        let until = Until {
            planned_s: begun_s + planned_s,
            visit_s: begun_s + visit_s,
            level_s: self.level_s,
        };
        let visit = Visit {
            scope: if view.state.plan.usual_first {
                Scope::Usual
            } else {
                Scope::All
            },
            ..Visit::new(&names[place], until, Policy::Precise)
        };
        visit.make(run)?;
        self.spent_s[place] += run.view().spent_s - begun_s;
        Ok(())
    }

    fn owed_s(&self, place: usize) -> f64 {
        (self.shares_s[place] - self.spent_s[place]).max(0.0)
    }

    /// The seconds that an experiment has left in all and in this visit, with `left_s` of the run left. The last visits also
    /// share out what others left over.
    fn time(&self, visit: usize, place: usize, left_s: f64) -> (f64, f64) {
        let owed_s = self.owed_s(place);
        if visit + 1 < self.ends.len() {
            let before = visit.checked_sub(1).map_or(0.0, |before| self.ends[before]);
            let part = (self.ends[visit] - before) / (1.0 - before);
            return (owed_s.min(left_s), (owed_s * part).min(left_s));
        }
        let rest_s: f64 = (place..self.shares_s.len())
            .map(|place| self.owed_s(place))
            .sum();
        let last_s = left_s * owed_s / rest_s.max(1e-9);
        (last_s, last_s)
    }
}
