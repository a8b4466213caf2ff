//! Prices of what a command did, each with its scatter from block to block.

use super::blocks::{ProfileBlock, amount};
use super::counts::Counted;
use record::command::{MemoryEvent, Price};
use stats::quantile::quantile;

/// A price whose ninth decile is this many times the first is called unsteady.
const UNSTEADY: f64 = 1.5;

/// The prices of what the command did at all, the dearest first.
pub(super) fn price_list(blocks: &[ProfileBlock], counted: &Counted) -> Vec<Price> {
    let kinds = counted
        .shown
        .events
        .iter()
        .filter(|(_, count)| **count > 0.0)
        .map(|(kind, _)| *kind);
    let mut prices: Vec<Price> = kinds
        .filter_map(|kind| price(kind, blocks, counted))
        .collect();
    prices.sort_by(|a, b| b.together_s.value.total_cmp(&a.together_s.value));
    prices
}

fn price(kind: MemoryEvent, blocks: &[ProfileBlock], counted: &Counted) -> Option<Price> {
    let mut values: Vec<f64> = blocks.iter().filter_map(|b| b.each_s(kind)).collect();
    let together_s = amount(
        blocks
            .iter()
            .map(|block| block.cost_s(counted, |event| event == kind)),
    )?;
    let each_s = amount(values.iter().copied())?;
    let [first_decile, ninth_decile] = [0.1, 0.9].map(|p| quantile(&mut values, p).unwrap_or(0.0));
    let spread = if first_decile > 0.0 {
        ninth_decile / first_decile
    } else {
        1.0
    };
    Some(Price {
        kind,
        count: counted.count(kind),
        together_s,
        each_s,
        spread,
        unsteady: spread > UNSTEADY,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge};
    use record::command::MemoryEvent;

    #[test]
    fn prices_that_spread_are_unsteady() {
        let of = judge(
            &plan(),
            &runs(|block| if block % 2 == 0 { 1_500 } else { 2_500 }),
        );
        let heap = of
            .prices
            .iter()
            .find(|p| p.kind == MemoryEvent::Heap)
            .unwrap();
        assert!(heap.unsteady && heap.spread > 1.6, "{heap:?}");
        assert!(of.faults.unwrap().seconds.low < 0.04);
    }
}
