//! Orders in which rounds run their cells: randomised complete blocks, balanced for what came just before.
//!
//! A cell runs faster or slower after some cells than after others (the cache, the allocator and the host remember), by
//! more than many differences that are asked for. In a Williams square every cell follows every other equally often and
//! holds every place equally often, so that this effect is the same for all.

use super::rng::Seeded;

/// The orders of `count` rounds of `cells` cells: each round holds every index `0..cells` once.
///
/// Rounds come in squares (Williams 1949): `cells` rounds where that number is even, twice as many where it is odd. Each
/// square has its own random naming of the cells and its rounds in random order. A complete square has every ordered pair
/// of neighbours within a round equally often, once for even and twice for odd; an incomplete one has no pair more often
/// than that, so the balance also holds as well as it can where there are fewer rounds than cells. Same seed, same orders.
pub fn rounds(cells: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = Seeded::new(seed);
    let mut rounds = Vec::with_capacity(count);
    while rounds.len() < count {
        let mut square = williams(cells);
        let mut names: Vec<usize> = (0..cells).collect();
        rng.shuffle(&mut names);
        rng.shuffle(&mut square);
        square.truncate(count - rounds.len());
        rounds.extend(
            square
                .into_iter()
                .map(|row| row.into_iter().map(|cell| names[cell]).collect()),
        );
    }
    rounds
}

/// The rows of a Williams square: the zigzag 0, 1, n−1, 2, n−2 … shifted by every number, and for odd n its mirror too.
fn williams(cells: usize) -> Vec<Vec<usize>> {
    let needs_mirror = cells % 2 == 1 && cells > 1;
    let mut rows = Vec::new();
    for shift in 0..cells.max(1) {
        let row: Vec<usize> = (0..cells)
            .map(|place| (zigzag(place, cells) + shift) % cells)
            .collect();
        if needs_mirror {
            rows.push(row.iter().rev().copied().collect());
        }
        rows.push(row);
    }
    rows
}

fn zigzag(place: usize, cells: usize) -> usize {
    match place % 2 {
        1 => place.div_ceil(2),
        _ => (cells - place / 2) % cells,
    }
}
