//! First launches: they show the cost of a group, what cannot run here, and which comparisons the budget holds. They are judged
//! as every other ([decision 30](../../../docs/decisions/0030-the-first-launch-is-judged.md)), but where a batch is chosen and for
//! claims, whose first launches are pilots. A comparison without room for the launches of an interval is left out: its time would
//! be missing elsewhere.

use crate::constants::{
    CLAIM_PILOTS, FIRST_ROUNDS, LEAST_PILOT_S, LEAST_TIME_S, LONGER, SHORT_ROUND_S, TIMING_ROUNDS,
};
use crate::launch::{Launch, PILOT};
use crate::run::{ActiveRun, Step};
use crate::view::View;
use record::state::Stage;
use stats::estimate::LEAST_POINTS;

/// The time of an experiment while its first launches are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Its end, in seconds of the run.
    pub until_s: f64,
    /// Seconds that the admitted comparisons need.
    held_s: f64,
    /// True if a comparison may be left out now.
    chooses: bool,
    /// Seconds of one pilot at most, if given.
    longest_s: Option<f64>,
}

impl Room {
    /// The room of an experiment. A `retry` leaves out what does not fit even if it is the first.
    pub fn of_experiment(view: &View, until_s: f64, retry: bool) -> Room {
        let plan = &view.state.plan;
        let worth_it = retry || until_s - view.spent_s >= LEAST_TIME_S;
        let chooses = !plan.sweeps() && plan.rounds.is_none() && worth_it;
        Room {
            until_s,
            held_s: if retry { f64::MIN_POSITIVE } else { 0.0 },
            chooses,
            longest_s: None,
        }
    }

    /// The room of a run of claims, which chooses among what has a pilot.
    pub fn of_claims(view: &View) -> Room {
        let (share, total_share) = CLAIM_PILOTS;
        let until_s = view.spent_s + view.left_s() * total_share;
        // The pilots of a few claims may take an even part of a pass each: in some states a launch takes seconds.
        let share = share.max(total_share / (2 * view.state.launch_groups.len()) as f64);
        Room {
            until_s,
            held_s: 0.0,
            chooses: false,
            longest_s: Some(view.state.budget_s * share),
        }
    }

    /// Tells whether something was admitted; the first comparison is measured however long it takes.
    fn limits(&self) -> bool {
        self.chooses && self.held_s > 0.0
    }

    fn left_s(&self, view: &View) -> f64 {
        self.until_s - view.spent_s - self.held_s
    }

    fn longest_s(&self, view: &View) -> Option<f64> {
        let most_s = (self.left_s(view) / (LEAST_POINTS + 1) as f64).max(LEAST_PILOT_S);
        self.longest_s.or_else(|| self.limits().then_some(most_s))
    }

    /// Tells whether a first launch is judged, as in every run but one of claims.
    fn is_judged(&self) -> bool {
        self.longest_s.is_none()
    }

    /// Admits a comparison after its first launches if its least launches fit; otherwise the groups to leave out.
    fn admit(&mut self, view: &View, comparison: &[usize]) -> Vec<usize> {
        if !self.chooses {
            return Vec::new();
        }
        let is_open = |group: &&usize| {
            view.is_alive(**group) && matches!(view.stage(**group), Stage::Piloted(_))
        };
        let open_groups = comparison.iter().filter(is_open);
        let block_s: f64 = open_groups.map(|&group| view.one_round_s(group)).sum();
        let need_s = LEAST_POINTS as f64 * LONGER * block_s;
        let mut stages = comparison.iter().map(|&group| view.stage(group));
        let is_in = stages.clone().any(Stage::is_sized);
        let is_cut = stages.any(Stage::is_left_out);
        let fits = self.held_s <= 0.0 || need_s <= self.left_s(view);
        if !is_in && (is_cut || !fits) {
            return open(view, comparison);
        }
        self.held_s += need_s;
        Vec::new()
    }
}

/// The comparisons of an experiment that are launched for the first time.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    All,
    /// Those under the usual condition of their question.
    Usual,
    /// The one of these launch groups.
    These(Vec<usize>),
}

impl Scope {
    fn holds(&self, view: &View, comparison: &[usize]) -> bool {
        match self {
            Scope::All => true,
            Scope::Usual => !comparison.iter().any(|&group| view.is_neighbor(group)),
            Scope::These(groups) => comparison.iter().any(|group| groups.contains(group)),
        }
    }
}

/// Makes the first launches of an experiment's comparisons in a scope, the shortest first, and leaves out what has no room.
pub(crate) fn first_launches(
    run: &mut ActiveRun,
    experiment: &str,
    scope: &Scope,
    mut room: Room,
) -> Step {
    let comparisons = shortest_first(&run.view(), experiment, scope);
    for comparison in comparisons {
        let view = run.view();
        if room.limits() && room.left_s(&view) < 0.0 {
            let unsized_groups = open(&view, &comparison);
            run.leave_out(unsized_groups)?;
            continue;
        }
        let mut groups = comparison.clone();
        if room.is_judged() {
            // First launches that are judged are the first block, whose order is drawn as every block's is.
            view.shuffle(&comparison, 0, &mut groups);
        }
        let (mut known_groups, mut at) = (view.state.launch_groups.len(), 0);
        while let Some(&group) = groups.get(at) {
            first_launch(run, &room, &groups, group)?;
            // A group whose first launch dies is split; its parts have first launches of their own.
            let parts = known_groups..run.view().state.launch_groups.len();
            known_groups = parts.end;
            groups.extend(parts);
            at += 1;
        }
        let left_out = room.admit(&run.view(), &groups);
        run.leave_out(left_out)?;
    }
    Ok(())
}

/// The comparisons of a scope. After earlier launches the shortest comes first; unknown ones keep their order, after them.
fn shortest_first(view: &View, experiment: &str, scope: &Scope) -> Vec<Vec<usize>> {
    let mut comparisons = view.comparisons(experiment);
    comparisons.retain(|comparison| scope.holds(view, comparison));
    let one_s = |set: &[usize]| {
        set.iter()
            .map(|&group| view.one_round_s(group))
            .sum::<f64>()
    };
    comparisons.sort_by(|a, b| one_s(a).total_cmp(&one_s(b)));
    comparisons
}

/// Launches a group of a comparison for the first time: again where a cell ended that launch, and once more where one round
/// was too short to be timed.
fn first_launch(run: &mut ActiveRun, room: &Room, comparison: &[usize], group: usize) -> Step {
    if run.view().stage(group) != Stage::Planned || !has_turn(run, room, comparison, group) {
        return Ok(());
    }
    let mut is_cut_short = false;
    loop {
        let before = run.view().alive(group).len();
        let launch = launch(&run.view(), room, group, is_cut_short);
        run.launch(&launch)?;
        if !has_turn(run, room, comparison, group) {
            return Ok(());
        }
        // Of a launch that a cell ended, the others have nothing. A skip ends the launch of a pair, too.
        is_cut_short = run.view().alive(group).len() < before;
        if !is_cut_short {
            break;
        }
    }
    // A second launch times it, but not where launches have one round, nor under neighboring conditions, which have few rounds
    // however short these are.
    let view = run.view();
    let may_be_short = !is_judged(&view, room, group)
        && !view.group(group).fresh
        && !view.is_neighbor(group)
        && is_short(&view, group, room.left_s(&view));
    if may_be_short {
        let launch = Launch {
            rounds: TIMING_ROUNDS,
            ..launch(&view, room, group, false)
        };
        run.launch(&launch)?;
    }
    Ok(())
}

/// Tells whether there is time for a first launch of a group, and something to be launched.
fn has_turn(run: &ActiveRun, room: &Room, comparison: &[usize], group: usize) -> bool {
    let view = run.view();
    let is_cut = room.chooses
        && comparison
            .iter()
            .any(|&group| view.stage(group).is_left_out());
    let is_passed_over =
        view.stage(group) == Stage::Planned && view.is_too_long(group, room.until_s);
    view.spent_s < room.until_s
        && !is_passed_over
        && view.is_alive(group)
        && !run.waiting.contains(&group)
        && !is_cut
        && !view.stage(group).is_left_out()
        && !view.stage(group).is_sized()
}

/// Tells whether the first launch of a group is judged. What a batch is chosen for stays outside: its first launches have
/// another one.
fn is_judged(view: &View, room: &Room, group: usize) -> bool {
    let mut cells = view.group(group).cells.iter();
    room.is_judged() && !cells.any(|&cell| view.state.cells[cell].free_batch)
}

/// The launch of a group whose cost is not known. Judged ones are its first block, or the next where a cell ended that.
fn launch(view: &View, room: &Room, group: usize, is_cut_short: bool) -> Launch {
    let next = (0..).find(|&block| !view.forecast.has_launch(group, block));
    let first = next.filter(|block| is_judged(view, room, group) && (*block == 0 || is_cut_short));
    let counts = first.is_some();
    let (is_fresh, is_long) = (view.group(group).fresh, view.is_long(group));
    let is_simple = is_fresh || is_long || view.is_neighbor(group);
    Launch {
        launch_group: group,
        block: first.map_or(PILOT, |block| i32::try_from(block).unwrap_or(PILOT)),
        rounds: if !counts || is_simple {
            1
        } else if view.compiles(group) {
            // Its start takes longer than some rounds more.
            TIMING_ROUNDS
        } else {
            FIRST_ROUNDS
        },
        warmup_rounds: match (is_fresh, is_long) {
            (true, _) => 0,
            _ if counts => view.warmup_rounds(group),
            (false, true) => 0,
            (false, false) => 1 + u32::from(view.compiles(group)),
        },
        at_most_s: room.longest_s(view).or_else(|| view.longest_of_article_s()),
        cells: cells(view, group),
    }
}

/// The cells of the first launch of a group. Of an article's rows none waits for a hidden duplicate, which shows nothing before it
/// has several launches.
fn cells(view: &View, group: usize) -> Vec<usize> {
    let alive = view.alive(group);
    let is_row = |cell: &usize| !view.state.cells[*cell].twin;
    let rows: Vec<usize> = alive.iter().copied().filter(is_row).collect();
    if view.state.plan.articles.is_empty() || rows.is_empty() {
        alive
    } else {
        rows
    }
}

/// The groups that may still be left out.
fn open(view: &View, groups: &[usize]) -> Vec<usize> {
    let is_open = |group: &usize| matches!(view.stage(*group), Stage::Planned | Stage::Piloted(_));
    groups.iter().copied().filter(is_open).collect()
}

/// Tells whether a round is so short that one tells little. It takes longer where it proves, or where samples prepare much.
fn is_short(view: &View, group: usize, left_s: f64) -> bool {
    let samples_ns = view
        .group(group)
        .cells
        .iter()
        .filter_map(|&cell| view.forecast.sample_ns(cell));
    let measured_s = samples_ns.sum::<f64>() / 1e9;
    let round_s = view.stage(group).cost().map(|cost| cost.round_s);
    let most_s = left_s / f64::from(TIMING_ROUNDS * (LEAST_POINTS as u32 + 1));
    round_s.is_some_and(|s| {
        s < SHORT_ROUND_S || measured_s > 0.0 && measured_s < SHORT_ROUND_S && s < most_s
    })
}
