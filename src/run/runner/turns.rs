//! Who takes part in which round of a launch, in which order, and which rounds carry proofs. What is not judged takes little
//! of the time: the floor comes in one launch of a run, the best possible in one round of four, proofs in one of eight and in
//! no more than four of a launch.

use record::method::Role;
use stats::orders;
use stats::rng::Seeded;

/// A best possible takes part in one round of so many, counted over the launches of a group.
const LIMIT_EVERY: u32 = 4;
/// One round of so many, drawn by the seed, carries proofs.
const PROOFS_EVERY: u32 = 8;
/// No launch has more rounds with proofs: ten launches of many rounds prove each cell forty times.
const MOST_PROOFS: u32 = 4;

/// The rounds of one launch.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Orders of the discarded rounds.
    pub warmup: Vec<Vec<usize>>,
    /// Orders of the measured ones.
    pub rounds: Vec<Vec<usize>>,
    /// The measured rounds that carry proofs; all where empty. A launch in which none does names the number after its last.
    pub proofs: Vec<u32>,
}

impl Turns {
    /// How many samples each cell has; nothing where that is one a round for all.
    pub fn uneven(&self, cells: usize) -> Vec<u32> {
        let of = |cell: usize| self.rounds.iter().filter(|round| round.contains(&cell)).count() as u32;
        let all: Vec<u32> = (0..cells).map(of).collect();
        if all.iter().all(|&n| n as usize == self.rounds.len()) { Vec::new() } else { all }
    }
}

/// Whether a cell of this role comes in a round of this number, or, where it has processes of its own, in a block of it.
pub(super) fn comes(role: Role, number: u32) -> bool {
    match role {
        Role::Null => number == 0,
        Role::Limit => number.is_multiple_of(LIMIT_EVERY),
        _ => true,
    }
}

/// The turns of cells with these roles in a launch of so many discarded and measured rounds. `everything` lets all take part
/// in all rounds; `sparing` proves in few of them, which workers must be able to.
pub(super) fn turns(
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
    // Who is not measured need not be warmed.
    let comes: Vec<bool> =
        (0..roles.len()).map(|cell| turns.rounds.iter().any(|order| order.contains(&cell))).collect();
    turns.warmup.iter_mut().for_each(|order| order.retain(|&cell| comes[cell]));
    turns
}

/// One round of each eight or so. Of launches with fewer, the first proves in one of its rounds, and of the `later` ones as
/// many as makes one round of eight.
fn proofs(rounds: u32, seed: u64, later: bool) -> Vec<u32> {
    let mut random = Seeded::new(seed ^ 2);
    if later && rounds < PROOFS_EVERY && random.below(PROOFS_EVERY as usize) >= rounds as usize {
        return vec![rounds];
    }
    let number = (rounds / PROOFS_EVERY).clamp(1, MOST_PROOFS).min(rounds);
    let start = |part: u32| rounds * part / number;
    (0..number).map(|part| start(part) + random.below((start(part + 1) - start(part)) as usize) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 4] = [Role::Method, Role::Method, Role::Limit, Role::Null];

    #[test]
    fn methods_have_every_round_and_the_rest_few() {
        let first = turns(&ROLES, 0, (2, 20), 7, false, true);
        assert_eq!(first.uneven(4), [20, 20, 5, 20]);
        assert!(first.warmup.iter().all(|order| order.len() == 4));
        let later = turns(&ROLES, 3, (2, 20), 7, false, true);
        assert_eq!(later.uneven(4), [20, 20, 5, 0]);
        assert!(later.warmup.iter().all(|order| order.len() == 3), "the floor is not warmed for nothing");
    }

    #[test]
    fn a_limit_of_launches_with_one_round_comes_in_one_launch_of_four() {
        let with: Vec<i32> =
            (0..9).filter(|&block| turns(&ROLES, block, (0, 1), 7, false, true).rounds[0].contains(&2)).collect();
        assert_eq!(with, [0, 4, 8]);
    }

    #[test]
    fn one_round_of_eight_carries_proofs() {
        let all = turns(&ROLES, 0, (2, 20), 7, false, true).proofs;
        assert_eq!(all.len(), 2);
        assert!((0..10).contains(&all[0]) && (10..20).contains(&all[1]), "{all:?}");
        let many = turns(&ROLES, 0, (2, 400), 7, false, true).proofs;
        assert_eq!(many.iter().map(|round| round / 100).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(turns(&ROLES, 0, (0, 1), 7, false, true).proofs, [0], "the first launch has one");
        let proves = |rounds: u32, seed: u64| turns(&ROLES, 5, (0, rounds), seed, false, true).proofs[0] < rounds;
        let of_hundred = |rounds| (0..800).filter(|&seed| proves(rounds, seed)).count() / 8;
        assert!((9..=16).contains(&of_hundred(1)), "{}", of_hundred(1));
        assert!((45..=55).contains(&of_hundred(4)), "{}", of_hundred(4));
        assert_eq!(of_hundred(8), 100);
        assert!(turns(&ROLES, 5, (0, 1), 7, false, false).proofs.is_empty(), "a worker that always proves");
    }

    #[test]
    fn where_nothing_else_is_measured_limits_are() {
        assert!(turns(&[Role::Limit, Role::Null], 3, (1, 5), 7, false, true).uneven(2).is_empty());
        assert!(turns(&ROLES, 3, (1, 5), 7, true, true).uneven(4).is_empty(), "the conformance suite");
    }
}
