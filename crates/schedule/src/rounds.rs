//! The rounds of launches: how many are worth the start of a process, within what the time holds, and which cells take part
//! in each.

use crate::action::{Action, Launch, Why};
use crate::constants::{
    CHEAP, CLAIMS_ROUNDS, LOWER_BOUND_EVERY, MOST_ROUNDS, PLANNED_LAUNCHES, PLANNED_SHARE, PRECISION_ROUNDS, PROOFS,
    RoundsRule, SHORT_ROUND_S,
};
use crate::{block::ComparisonSet, view::View};
use record::method::Role;
use record::state::{LaunchCost, Stage, State};
use stats::{interval::LEAST_LAUNCHES, orders, rng::Seeded};

/// Fixes the rounds of what a pilot has shown: of an experiment until a time in seconds, or of all for claims.
#[derive(Debug)]
pub(crate) enum Sizing {
    Precision { experiment: String, until_s: f64 },
    Claims { without: std::collections::BTreeSet<usize> },
}

impl Sizing {
    pub fn decisions(&self, view: &View) -> Vec<Action> {
        let mut decisions = match self {
            Sizing::Precision { experiment, until_s } => precision(view, experiment, *until_s),
            Sizing::Claims { without } => {
                let groups = (0..view.state.launch_groups.len()).filter(|group| !without.contains(group));
                let piloted = groups.filter(|&g| view.is_alive(g) && matches!(view.stage(g), Stage::Piloted(_)));
                piloted.map(|group| fixed(view, group, claims(view, group), Why::MoreLaunches)).collect()
            }
        };
        decisions.reverse();
        decisions
    }
}

fn fixed(view: &View, launch_group: usize, rounds: u32, why: Why) -> Action {
    Action::FixRounds { launch_group, rounds, warmup_rounds: view.warmup_rounds(launch_group), why }
}

/// Rounds with which about ten launches of each group fit and the most launches fill the time.
fn precision(view: &View, experiment: &str, until_s: f64) -> Vec<Action> {
    let groups = view.groups_of(experiment);
    let begun = groups.iter().any(|&g| matches!(view.stage(g), Stage::Sized { rounds: 2.., .. }));
    let is_open = |&g: &usize| view.is_alive(g) && matches!(view.stage(g), Stage::Piloted(_));
    let open: Vec<usize> = groups.into_iter().filter(is_open).collect();
    let least_s: f64 = open.iter().map(|&g| view.one_round_s(g)).sum();
    let adjustable = open.iter().filter(|&&g| !view.group(g).fresh).count().max(1) as f64;
    let left_s = (until_s - view.spent_s) * PLANNED_SHARE;
    let spare_s = |launches: f64| (left_s / launches - least_s) / adjustable;
    let plan = &view.state.plan;
    let (most_s, fewest_s) =
        (spare_s(PLANNED_LAUNCHES.max(f64::from(plan.min_launches))), spare_s(f64::from(plan.max_launches)));
    let rounds = |group: usize| {
        let (cost, warmup) = (view.cost(group), view.warmup_rounds(group));
        if view.group(group).fresh || view.is_launched(group) {
            1
        } else if begun || view.is_neighbor(group) {
            cheap(cost, warmup)
        } else {
            between(cost.round_s, worth(cost, warmup, PRECISION_ROUNDS), fewest_s, most_s).max(cheap(cost, warmup))
        }
    };
    open.into_iter().map(|group| fixed(view, group, rounds(group), Why::WorthItsStart)).collect()
}

fn claims(view: &View, group: usize) -> u32 {
    if view.group(group).fresh { 1 } else { worth(view.cost(group), view.warmup_rounds(group), CLAIMS_ROUNDS) as u32 }
}

/// The rounds with which a launch is worth its start.
pub(crate) fn worth(cost: LaunchCost, warmup_rounds: u32, rule: RoundsRule) -> f64 {
    let round_s = cost.round_s.max(1e-6);
    let short = if round_s < SHORT_ROUND_S { rule.short } else { 1.0 };
    let rounds = (rule.worth * cost.launch_s(warmup_rounds) / round_s).max(short);
    rounds.min(rule.enough_s / round_s).clamp(1.0, MOST_ROUNDS).ceil()
}

/// Rounds that lengthen a launch by a share of its start and warm-up: they cost little, and a launch of fewer would be mostly
/// start.
fn cheap(cost: LaunchCost, warmup_rounds: u32) -> u32 {
    let rounds = CHEAP * cost.launch_s(warmup_rounds) / cost.round_s.max(1e-6);
    rounds.clamp(1.0, PRECISION_ROUNDS.short) as u32
}

/// Rounds between those with which the most launches fill the time and those with which about ten fit.
fn between(round_s: f64, worth: f64, fewest_s: f64, most_s: f64) -> u32 {
    let within = |seconds: f64| 1.0 + (seconds / round_s.max(1e-6)).max(0.0);
    worth.max(within(fewest_s)).min(within(most_s)).min(MOST_ROUNDS) as u32
}

/// Fewer rounds if launches take longer than their pilot and those of an interval would not fit. Only times decide this.
pub(crate) fn shortened(view: &View, sets: &[ComparisonSet], until_s: f64) -> Vec<Action> {
    let lacking = |set: &ComparisonSet| LEAST_LAUNCHES.saturating_sub(set.blocks as usize) as f64;
    let needed_s: f64 = sets.iter().map(|set| lacking(set) * set.next_s(view)).sum();
    let left_s = (until_s - view.spent_s) * PLANNED_SHARE;
    if needed_s <= left_s || left_s <= 0.0 {
        return Vec::new();
    }
    let open = sets.iter().filter(|set| set.blocks > 0 && lacking(set) > 0.0).flat_map(|set| &set.launch_groups);
    let shorter = open.filter_map(|&launch_group| {
        let Stage::Sized { rounds, warmup_rounds, .. } = view.stage(launch_group) else { return None };
        let fewer = (f64::from(rounds) * left_s / needed_s).floor().max(1.0) as u32;
        let fewer = fewer.max(cheap(view.cost(launch_group), warmup_rounds));
        let action = Action::FixRounds { launch_group, rounds: fewer, warmup_rounds, why: Why::TooSlow };
        (fewer < rounds).then_some(action)
    });
    shorter.collect()
}

// The cells of each round of a launch, their order, and the rounds that carry proofs. Unjudged work takes little time:
// overhead is measured in one launch of a run, a lower bound in one round of four, and one round of eight carries proofs.

/// The rounds of one launch.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Orders of the discarded rounds.
    pub warmup: Vec<Vec<usize>>,
    /// Orders of the measured ones.
    pub rounds: Vec<Vec<usize>>,
    /// The measured rounds that carry proofs; all where empty. A launch in which none does names the number after its last.
    pub proofs: Vec<u32>,
}

impl Turns {
    /// The samples of each cell; empty if every cell has one in each round.
    pub fn uneven(&self, cells: usize) -> Vec<u32> {
        let samples = |cell: usize| self.rounds.iter().filter(|round| round.contains(&cell)).count() as u32;
        let counts: Vec<u32> = (0..cells).map(samples).collect();
        if counts.iter().all(|&n| n as usize == self.rounds.len()) { Vec::new() } else { counts }
    }
}

/// Tells whether a cell of this role takes part in the round of this number; of a group of its own, in the block.
pub(crate) fn comes(role: Role, number: u32) -> bool {
    match role {
        Role::Null => number == 0,
        Role::Limit => number.is_multiple_of(LOWER_BOUND_EVERY),
        _ => true,
    }
}

/// The turns of these cells in a launch. If every worker of it can, few rounds carry proofs (`proves_by_round`). A run with
/// given rounds, such as the conformance suite, proves everything; so does a pilot of one round.
pub fn of_launch(state: &State, launch: &Launch, cells: &[usize], proves_by_round: bool) -> Turns {
    let (block, seed) = (launch.block, state.plan.seed);
    let seed = seed ^ ((launch.launch_group as u64) << 40) ^ (i64::from(block) as u64).wrapping_mul(0x9E37);
    let roles: Vec<Role> = cells.iter().map(|&cell| state.cells[cell].method.role).collect();
    let given = state.plan.rounds.is_some();
    let sparing = proves_by_round && !given && (block >= 0 || launch.rounds > 1);
    turns(&roles, block, (launch.warmup_rounds, launch.rounds), seed, given || block < 0, sparing)
}

/// The turns of cells with these roles in a launch of so many discarded and measured rounds. With `everything` all cells take
/// part in all rounds; with `sparing` few rounds carry proofs.
pub fn turns(roles: &[Role], block: i32, (warmup, rounds): (u32, u32), seed: u64, everything: bool, sparing: bool) -> Turns {
    let mut turns = Turns {
        warmup: orders::rounds(roles.len(), warmup as usize, seed ^ 1),
        rounds: orders::rounds(roles.len(), rounds as usize, seed),
        proofs: if sparing { proofs(rounds, seed, block > 0) } else { Vec::new() },
    };
    if everything {
        return turns;
    }
    let first = u32::try_from(block).unwrap_or(0).wrapping_mul(rounds);
    let measured = roles.iter().any(|role| !matches!(role, Role::Null | Role::Limit));
    for (number, order) in (first..).zip(&mut turns.rounds) {
        let counted = |role| if role == Role::Null { u32::from(block != 0) } else { number };
        order.retain(|&cell| comes(roles[cell], counted(roles[cell])) || !measured);
    }
    // A cell without a measured round needs no warm-up.
    let comes: Vec<bool> = (0..roles.len()).map(|cell| turns.rounds.iter().any(|order| order.contains(&cell))).collect();
    turns.warmup.iter_mut().for_each(|order| order.retain(|&cell| comes[cell]));
    turns
}

/// About one round of eight. The first launch of fewer rounds proves in one of them, and `later` ones at the same rate.
fn proofs(rounds: u32, seed: u64, later: bool) -> Vec<u32> {
    let mut random = Seeded::new(seed ^ 2);
    let (every, most) = PROOFS;
    if later && rounds < every && random.below(every as usize) >= rounds as usize {
        return vec![rounds];
    }
    let number = (rounds / every).clamp(1, most).min(rounds);
    let start = |part: u32| rounds * part / number;
    (0..number).map(|part| start(part) + random.below((start(part + 1) - start(part)) as usize) as u32).collect()
}

#[cfg(test)]
#[path = "../tests/unit/rounds.rs"]
mod tests;
