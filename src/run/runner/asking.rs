//! A run that is made to answer questions: everything gets its least launches, then the time goes to what has no word yet.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use judge::claims::Wanted;
use judge::evidence::Evidence;
use record::cell::Cell;
use record::decision::What;
use record::plan::BATCH;
use record::state::{GroupState, State};
use record::summary::Note;
use stats::interval::LEAST_LAUNCHES;
use stats::rng::Seeded;

use super::admission::Room;
use super::pilot::{MOST_ROUNDS, SHORT_ROUND_S};
use super::{Cluster, Runner, launch_s};
use crate::run::strategy::deciding::{Launched, Question, turn};

/// The part of the budget that pilots may take each, and the share of what is left that the least launches may take.
const PILOT_PART: f64 = 50.0;
const LEAST_SHARE: f64 = 0.8;
/// Launches take longer than their pilot promises by so much.
const LONGER: f64 = 1.1;
/// What a comparison counts that is no claim's own word, of one that is.
const BESIDE: f64 = 0.1;
/// Rounds that a launch should have where one is short, and the seconds after which it has enough of them.
const SHORT_ROUNDS: f64 = 8.0;
const ENOUGH_S: f64 = 0.4;
/// A turn of launches without a look takes this share of what is left, and no less than this many seconds.
const TURN_SHARE: f64 = 0.04;
const LEAST_TURN_S: f64 = 3.0;

/// What a run is made to answer.
pub trait Questions {
    /// All comparisons: their cells, and whether a word of its own hangs on each.
    fn comparisons(&self) -> Vec<(Vec<Cell>, bool)>;

    /// Those that have no word yet and should have one after more launches.
    fn open(&self, state: &State, evidence: &Evidence) -> Result<Vec<Wanted>>;
}

impl<'a> Runner<'a> {
    /// The same, made to answer these.
    pub fn asking(self, questions: Option<&'a dyn Questions>) -> Runner<'a> {
        Runner { questions, ..self }
    }

    /// Everything that a word hangs on, then, in what is left of the time, all else: pilots, the least launches of what fits,
    /// and turns of what has no word.
    pub(super) fn answer(&mut self, names: &[String], questions: &dyn Questions) -> Result<Vec<Note>> {
        for only_deciding in [true, false] {
            let waits = self.waiting(questions, only_deciding);
            self.left_out.extend(&waits);
            self.pilots(names)?;
            self.progress.begin(1, 1);
            let mut clusters = self.admitted(names, questions)?;
            if self.least(&mut clusters)? {
                self.turns_of(&mut clusters, questions, only_deciding)?;
            }
            self.precise.clear();
            waits.iter().for_each(|u| _ = self.left_out.remove(u));
            if self.signals.arrived().is_some() {
                return Ok(Vec::new());
            }
        }
        Ok(vec![self.how_it_ended(questions)?])
    }

    /// Launch groups that hold nothing which a claim's own word hangs on; none where everything has its turn.
    fn waiting(&self, questions: &dyn Questions, only_deciding: bool) -> Vec<usize> {
        if !only_deciding {
            return Vec::new();
        }
        let deciding = questions.comparisons().into_iter().filter(|(_, decides)| *decides).flat_map(|(cells, _)| cells);
        let needed: BTreeSet<usize> = deciding.filter_map(|cell| self.place(&cell)).collect();
        let waits = |u: &usize| {
            let group = &self.state.launch_groups[*u];
            let has = |c: &usize| needed.contains(c) || self.state.cells[*c].twin;
            !group.cells.iter().any(has) && !self.left_out.contains(u)
        };
        (0..self.state.launch_groups.len()).filter(waits).collect()
    }

    fn pilots(&mut self, names: &[String]) -> Result<()> {
        let until_s = self.state.budget_s;
        for (done, name) in names.iter().enumerate() {
            self.progress.begin(done + 1, names.len());
            let longest = Duration::from_secs_f64(until_s / PILOT_PART);
            let piloted = self.pilot_in(name, Room::of_all(until_s, longest))?;
            self.calibrate(name, &piloted, until_s)?;
        }
        Ok(())
    }

    /// The clusters whose least launches fit, with their rounds fixed: those first that answer most in their time.
    fn admitted(&mut self, names: &[String], questions: &dyn Questions) -> Result<Vec<Asked>> {
        for u in 0..self.state.launch_groups.len() {
            let group = &self.state.launch_groups[u];
            if group.rounds == 0 && group.timed && !self.left_out.contains(&u) && !self.alive(u).is_empty() {
                let warmup_rounds = self.warmup_rounds(u);
                let rounds = rounds_of(group, warmup_rounds);
                let why = "a launch is worth its start; more launches say more than longer ones";
                self.decide(why, What::Rounds { launch_group: u, rounds, warmup_rounds })?;
            }
        }
        let mut all: Vec<Asked> = Vec::new();
        for name in names {
            let mine = self.clusters(name).into_iter();
            all.extend(mine.map(|cluster| Asked { name: name.clone(), cluster, worth: 0.0 }));
        }
        for (cells, decides) in questions.comparisons() {
            let cells: Vec<usize> = cells.iter().filter_map(|cell| self.place(cell)).collect();
            let touched = clusters_of(self, &all, &cells);
            let worth = if decides { 1.0 } else { BESIDE } / touched.len().max(1) as f64;
            touched.into_iter().for_each(|c| all[c].worth += worth);
        }
        let cost_s = |one: &Asked| self.step_s(&one.cluster, &BTreeSet::new()) * LEAST_LAUNCHES as f64 * LONGER;
        all.sort_by(|a, b| (cost_s(a) / a.worth).total_cmp(&(cost_s(b) / b.worth)));
        let (mut held_s, room_s) = (0.0, (self.state.budget_s - self.spent_s()) * LEAST_SHARE);
        let mut admitted = Vec::new();
        for one in all {
            let more_s = cost_s(&one);
            // The first is measured however long it takes: a run brings something.
            if one.cluster.blocks > 0 || admitted.is_empty() || held_s + more_s <= room_s {
                held_s += more_s;
                admitted.push(one);
            }
        }
        // Experiments one after the other within a block: what is compared across clusters lies near in time.
        admitted.sort_by_key(|one| names.iter().position(|name| *name == one.name));
        Ok(admitted)
    }

    /// The least launches of all, block by block; false where the budget ended before.
    fn least(&mut self, clusters: &mut [Asked]) -> Result<bool> {
        for block in 0..LEAST_LAUNCHES as u32 {
            let mut order: Vec<usize> = (0..clusters.len()).collect();
            Seeded::new(self.state.plan.seed ^ u64::from(block)).shuffle(&mut order);
            order.sort_by(|&a, &b| clusters[a].name.cmp(&clusters[b].name));
            for c in order {
                if clusters[c].cluster.blocks <= block && !self.one_block(&mut clusters[c])? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Turns of launches until everything has its word or the time ends; where `only_likely`, until nothing is left that more
    /// launches should bring one to.
    fn turns_of(&mut self, clusters: &mut [Asked], questions: &dyn Questions, only_likely: bool) -> Result<()> {
        loop {
            let mut open = questions.open(&self.state, &self.evidence)?;
            open.retain(|one| one.likely || !only_likely);
            let mut asked: Vec<Question> = Vec::new();
            let mut lacking: BTreeSet<usize> = BTreeSet::new();
            for one in &open {
                let cells: Vec<usize> = one.cells.iter().filter_map(|cell| self.place(cell)).collect();
                let of = clusters_of(self, clusters, &cells);
                if !of.is_empty() && cells.len() == one.cells.len() {
                    lacking.extend(cells);
                    asked.push(Question {
                        clusters: of,
                        launches: one.launches,
                        decides: one.decides,
                        likely: one.likely,
                    });
                }
            }
            self.precise = (0..self.state.cells.len()).filter(|cell| !lacking.contains(cell)).collect();
            let launched: Vec<Launched> = clusters.iter().map(|one| self.launched(one)).collect();
            let left_s = self.left_s();
            let next = turn(&launched, &asked, left_s, (left_s * TURN_SHARE).max(LEAST_TURN_S));
            if next.is_empty() {
                return Ok(());
            }
            while let Some(behind) = next
                .iter()
                .filter(|(c, until)| {
                    (clusters[*c].cluster.blocks as usize) < *until && self.is_open(&clusters[*c].cluster)
                })
                .map(|(c, _)| *c)
                .min_by_key(|c| clusters[*c].cluster.blocks)
            {
                if !self.one_block(&mut clusters[behind])? {
                    return Ok(());
                }
            }
        }
    }

    fn one_block(&mut self, one: &mut Asked) -> Result<bool> {
        self.block(&one.name, &mut one.cluster, true, self.state.budget_s)
    }

    fn launched(&self, one: &Asked) -> Launched {
        Launched {
            launches: one.cluster.blocks as usize,
            step_s: self.step_s(&one.cluster, &self.precise),
            open: self.is_open(&one.cluster),
        }
    }

    /// What a launch of a cluster should take without these cells, in seconds.
    fn step_s(&self, cluster: &Cluster, without: &BTreeSet<usize>) -> f64 {
        let all = cluster.launch_groups.iter().map(|&u| {
            let (group, alive) = (&self.state.launch_groups[u], self.alive(u));
            let left = alive.iter().filter(|cell| !without.contains(cell)).count();
            let share = left as f64 / alive.len().max(1) as f64;
            let rounds_s = launch_s(group, group.rounds + group.warmup_rounds) - group.start_s;
            if left == 0 { 0.0 } else { group.start_s + rounds_s * share }
        });
        all.sum::<f64>().max(1e-3)
    }

    /// Where a cell stands in the plan; its batch is the pilot's.
    fn place(&self, wanted: &Cell) -> Option<usize> {
        let plain = |cell: &Cell| -> BTreeMap<String, String> {
            cell.parameters.iter().filter(|(key, _)| *key != BATCH).map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        let parameters = plain(wanted);
        self.state.cells.iter().position(|p| {
            !p.twin && p.outcome.is_none() && p.cell.name() == wanted.name() && plain(&p.cell) == parameters
        })
    }

    fn how_it_ended(&self, questions: &dyn Questions) -> Result<Note> {
        let open = questions.open(&self.state, &self.evidence)?;
        let launches = self.next_launch;
        let likely = open.iter().filter(|one| one.likely).count();
        let text = ended_words(likely, open.len() - likely, launches);
        Ok(Note { code: "questions-ended".to_owned(), experiment: String::new(), text })
    }
}

/// How a run of questions ended: how many lack a word though more time should bring it, and how many seem to lie on an edge.
fn ended_words(likely: usize, on_edge: usize, launches: usize) -> String {
    let comparisons = |n: usize| if n == 1 { "1 comparison".to_owned() } else { format!("{n} comparisons") };
    let time = format!("{} without a word should get one in more time", comparisons(likely));
    let edge = format!(
        "{} without a word seem{} to lie on an edge, where more time may not help",
        comparisons(on_edge),
        if on_edge == 1 { "s" } else { "" }
    );
    match (likely, on_edge) {
        (0, 0) => format!("every comparison has its word after {launches} launches, or had all that one may have"),
        (_, 0) => format!("after {launches} launches {time}"),
        (0, _) => format!("after {launches} launches {edge}"),
        _ => format!("after {launches} launches {time}; {edge}"),
    }
}

/// Clusters of the experiments of a run, with how much hangs on each.
struct Asked {
    name: String,
    cluster: Cluster,
    worth: f64,
}

/// The clusters that some cells are in, each once.
fn clusters_of(runner: &Runner, all: &[Asked], cells: &[usize]) -> Vec<usize> {
    let holds = |one: &Asked, cell: &usize| {
        one.cluster.launch_groups.iter().any(|&u| runner.state.launch_groups[u].cells.contains(cell))
    };
    (0..all.len()).filter(|&c| cells.iter().any(|cell| holds(&all[c], cell))).collect()
}

/// As many rounds as take what start and warm-up take, some where they are short, none that makes a launch long.
fn rounds_of(group: &GroupState, warmup_rounds: u32) -> u32 {
    if group.fresh {
        return 1;
    }
    let round_s = group.round_s.max(1e-6);
    let least = if round_s < SHORT_ROUND_S { SHORT_ROUNDS } else { 1.0 };
    let worth = launch_s(group, warmup_rounds) / round_s;
    worth.max(least).min(ENOUGH_S / round_s).clamp(1.0, MOST_ROUNDS).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::ended_words;

    #[test]
    fn the_end_tells_apart_what_lacks_time_and_what_lies_on_an_edge() {
        assert!(ended_words(0, 0, 9).starts_with("every comparison has its word after 9 launches"));
        assert_eq!(ended_words(1, 0, 9), "after 9 launches 1 comparison without a word should get one in more time");
        let edge = "2 comparisons without a word seem to lie on an edge, where more time may not help";
        assert_eq!(ended_words(0, 2, 9), format!("after 9 launches {edge}"));
        let both = format!("after 9 launches 3 comparisons without a word should get one in more time; {edge}");
        assert_eq!(ended_words(3, 2, 9), both);
    }
}
