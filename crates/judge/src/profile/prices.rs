//! Prices of single events, from workers that ran between the runs of the command.

use std::collections::BTreeMap;

use record::profile::{Kind, Phase, Price, ProfilePlan, ProfileRun, What};
use record::trial::Ending;
use stats::quantile::quantile;

use super::counts::Counted;
use super::{Block, amount};

/// Bytes of a mebibyte.
pub const MIB: u64 = 1 << 20;
/// The least footprint that is priced: fewer faults are not resolved.
const LEAST_BYTES: u64 = 4 * MIB;
/// A price whose ninth decile is this many times the first is called unsteady.
const UNSTEADY: f64 = 1.5;

/// Memory of the price's worker: as much as the largest process of the command had, in whole huge pages.
pub fn footprint_bytes(plan: &ProfilePlan, runs: &[ProfileRun]) -> Option<u64> {
    let ended = runs.iter().filter_map(|r| r.cost.as_ref()).find(|c| c.end == Ending::Exit)?;
    let unit = plan.huge_page_bytes.max(2 * MIB);
    Some((ended.max_rss_kib * 1024).max(LEAST_BYTES).div_ceil(unit) * unit)
}

/// Seconds for one event of each kind, by one block.
pub(super) struct BlockPrices {
    each: BTreeMap<Kind, f64>,
    huge_again: Option<f64>,
}

impl BlockPrices {
    pub fn measured<'a>(plan: &ProfilePlan, run: impl Fn(What) -> Option<&'a ProfileRun>) -> Option<BlockPrices> {
        let phase = |what: What, name: &str| run(what).and_then(|r| r.phases.get(name)).copied();
        let mut prices = base(&phase)?;
        let huge_again = huge(plan, &phase, &mut prices);
        events(&phase, &mut prices);
        let copied = phase(What::PriceCow, "write").map(|p| per_fault(p, 0));
        prices.extend(copied.map(|price| (Kind::Cow, price)));
        // What has no price of its own here costs what a first write does.
        let first = prices[&Kind::Heap];
        for kind in [Kind::ZeroRead, Kind::ZeroWrite, Kind::Cow, Kind::File, Kind::FileWrite] {
            prices.entry(kind).or_insert(first);
        }
        Some(BlockPrices { each: prices, huge_again })
    }

    pub fn of_kind_or_zero(&self, kind: Kind) -> f64 {
        self.of(kind).unwrap_or(0.0)
    }

    pub fn of(&self, kind: Kind) -> Option<f64> {
        self.each.get(&kind).copied()
    }

    /// A huge page whose frame the process itself has given back; what a first one costs where that is not known.
    pub fn huge_again(&self) -> f64 {
        self.huge_again.unwrap_or_else(|| self.of_kind_or_zero(Kind::Huge))
    }
}

/// Seconds a fault, without the loop around it.
fn per_fault(phase: Phase, loop_ns: u64) -> f64 {
    phase.cpu_ns.saturating_sub(loop_ns) as f64 * 1e-9 / phase.minor_faults.max(1) as f64
}

fn base(phase: &impl Fn(What, &str) -> Option<Phase>) -> Option<BTreeMap<Kind, f64>> {
    let of = |name| phase(What::PriceBase, name);
    let first = per_fault(of("first-touch")?, of("re-touch")?.cpu_ns);
    let unmap = of("unmap")?;
    let alike = [
        Kind::Heap,
        Kind::Anonymous,
        Kind::Stack,
        Kind::Shared,
        Kind::Again,
        Kind::Elsewhere,
        Kind::InCalls,
        Kind::Unknown,
    ];
    let mut prices: BTreeMap<Kind, f64> = alike.into_iter().map(|kind| (kind, first)).collect();
    prices.insert(Kind::FreeBase, unmap.cpu_ns as f64 * 1e-9 / unmap.ops.max(1) as f64);
    Some(prices)
}

/// Puts the prices of huge pages to the others and returns that of one whose frame was given back just before.
fn huge(
    plan: &ProfilePlan,
    phase: &impl Fn(What, &str) -> Option<Phase>,
    prices: &mut BTreeMap<Kind, f64>,
) -> Option<f64> {
    let of = |name| phase(What::PriceHuge, name);
    let (first, again, unmap) = (of("first-touch")?, of("re-touch")?, of("unmap")?);
    let pages = (unmap.bytes / plan.huge_page_bytes.max(1)).max(1);
    // Where huge pages had run out, this is no price of one.
    if first.minor_faults != pages {
        return None;
    }
    prices.insert(Kind::Huge, per_fault(first, again.cpu_ns));
    prices.insert(Kind::FreeHuge, unmap.cpu_ns as f64 * 1e-9 / pages as f64);
    of("refault").filter(|refault| refault.minor_faults == pages).map(|refault| per_fault(refault, again.cpu_ns))
}

fn events(phase: &impl Fn(What, &str) -> Option<Phase>, prices: &mut BTreeMap<Kind, f64>) {
    let of = |name| phase(What::PriceEvents, name);
    let faults = [
        (Kind::ZeroRead, "zero-read"),
        (Kind::ZeroWrite, "zero-write"),
        (Kind::File, "file-map"),
        (Kind::FileWrite, "file-write"),
    ];
    prices.extend(faults.into_iter().filter_map(|(kind, name)| Some((kind, per_fault(of(name)?, 0)))));
    for (call, byte, calls, bytes) in [
        (Kind::ReadCalls, Kind::ReadBytes, "read-calls", "read-bytes"),
        (Kind::WriteCalls, Kind::WriteBytes, "write-calls", "write-bytes"),
    ] {
        let (Some(calls), Some(bytes)) = (of(calls), of(bytes)) else { continue };
        let one = calls.cpu_ns as f64 * 1e-9 / calls.ops.max(1) as f64;
        let copy = (bytes.cpu_ns as f64 * 1e-9 - one * bytes.ops as f64).max(0.0);
        prices.insert(call, one);
        prices.insert(byte, copy / bytes.bytes.max(1) as f64);
    }
}

/// The prices of what the command did at all, the dearest first.
pub(super) fn shown(blocks: &[Block], counted: &Counted) -> Vec<Price> {
    let kinds = counted.shown.events.iter().filter(|(_, count)| **count > 0.0).map(|(kind, _)| *kind);
    let mut prices: Vec<Price> = kinds.filter_map(|kind| price(kind, blocks, counted)).collect();
    prices.sort_by(|a, b| b.together_s.value.total_cmp(&a.together_s.value));
    prices
}

fn price(kind: Kind, blocks: &[Block], counted: &Counted) -> Option<Price> {
    let values: Vec<f64> = blocks.iter().filter_map(|b| b.prices.of(kind)).collect();
    let together: Vec<f64> = blocks.iter().map(|b| b.cost_s(counted, &[kind])).collect();
    let each_s = amount(&values)?;
    let decile = |p: f64| quantile(&mut values.clone(), p).unwrap_or(0.0);
    let spread = if decile(0.1) > 0.0 { decile(0.9) / decile(0.1) } else { 1.0 };
    let count = counted.of(kind);
    Some(Price { kind, count, together_s: amount(&together)?, each_s, spread, unsteady: spread > UNSTEADY })
}
