//! The cells of each round of a launch, their order, and the rounds that carry proofs. Unjudged work takes little time:
//! overhead is measured in one launch of a run (in each where harm is compared with it), a lower bound in one round of three,
//! and one round of eight carries proofs.

use crate::constants::{LOWER_BOUND_EVERY, PROOFS};
use crate::launch::Launch;
use record::{method::Role, state::State};
use stats::{orders, rng::Seeded};

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
        let samples = |cell: usize| {
            self.rounds
                .iter()
                .filter(|round| round.contains(&cell))
                .count() as u32
        };
        let counts: Vec<u32> = (0..cells).map(samples).collect();
        if counts.iter().all(|&n| n as usize == self.rounds.len()) {
            Vec::new()
        } else {
            counts
        }
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
/// given rounds, such as the conformance suite, proves everything; so does the first launch, also in discarded rounds: what a
/// method does only once is seen there.
pub fn of_launch(state: &State, launch: &Launch, cells: &[usize], proves_by_round: bool) -> Turns {
    let (block, seed) = (launch.block, state.plan.seed);
    let seed = seed
        ^ ((launch.launch_group as u64) << 40)
        ^ (i64::from(block) as u64).wrapping_mul(0x9E37);
    let experiment = state
        .plan
        .experiment(&state.launch_groups[launch.launch_group].experiment);
    // What harm is compared with is measured beside it, as a method is.
    let has_harm = experiment.is_some_and(|experiment| experiment.harm.is_some());
    let roles: Vec<Role> = cells
        .iter()
        .map(|&cell| match state.cells[cell].method.role {
            Role::Null if has_harm => Role::Method,
            role => role,
        })
        .collect();
    let given = state.plan.rounds.is_some();
    let is_first = match block {
        0 => launch.warmup_rounds > 0,
        ..0 => launch.rounds == 1,
        _ => false,
    };
    let sparing = proves_by_round && !given && !is_first;
    let mut turns = turns(
        &roles,
        block,
        (launch.warmup_rounds, launch.rounds),
        seed,
        given || block < 0,
        sparing,
    );
    if turns.proofs == [launch.rounds] && cells.iter().any(|&cell| state.cells[cell].proves) {
        turns.proofs = vec![0];
    }
    turns
}

/// The turns of cells with these roles in a launch of so many discarded and measured rounds. With `everything` all cells take
/// part in all rounds; with `sparing` few rounds carry proofs.
pub fn turns(
    roles: &[Role],
    block: i32,
    (warmup, rounds): (u32, u32),
    seed: u64,
    everything: bool,
    sparing: bool,
) -> Turns {
    let mut turns = Turns {
        warmup: orders::rounds(roles.len(), warmup as usize, seed ^ 1),
        rounds: orders::rounds(roles.len(), rounds as usize, seed),
        proofs: if sparing {
            proofs(rounds, seed, block > 0)
        } else {
            Vec::new()
        },
    };
    if everything {
        return turns;
    }
    let first = u32::try_from(block).unwrap_or(0).wrapping_mul(rounds);
    let measured = roles
        .iter()
        .any(|role| !matches!(role, Role::Null | Role::Limit));
    for (number, order) in (first..).zip(&mut turns.rounds) {
        let counted = |role| {
            if role == Role::Null {
                u32::from(block != 0)
            } else {
                number
            }
        };
        order.retain(|&cell| comes(roles[cell], counted(roles[cell])) || !measured);
    }
    // A cell without a measured round needs no warm-up.
    let comes: Vec<bool> = (0..roles.len())
        .map(|cell| turns.rounds.iter().any(|order| order.contains(&cell)))
        .collect();
    turns
        .warmup
        .iter_mut()
        .for_each(|order| order.retain(|&cell| comes[cell]));
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
    (0..number)
        .map(|part| start(part) + random.below((start(part + 1) - start(part)) as usize) as u32)
        .collect()
}
