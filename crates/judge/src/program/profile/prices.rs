//! Prices of single events, from workers that ran between the runs of the command.

use super::{ProfileBlock, amount, counts::Counted};
use record::command::{
    CommandEnd, CommandLaunch, CommandPlan, EventFamily, LaunchMode, MemoryEvent, Price, PricePhase,
};
use stats::quantile::quantile;
use std::collections::BTreeMap;

/// Seconds for one event of each kind.
type Prices = BTreeMap<MemoryEvent, f64>;

/// Bytes of a mebibyte.
pub const MIB: u64 = 1 << 20;
/// The least footprint that is priced: fewer faults are not resolved.
const LEAST_BYTES: u64 = 4 * MIB;
/// The largest footprint that is priced for a process that runs already: more takes longer than its user expects.
const MOST_OF_A_WINDOW: u64 = 64 * MIB;
/// A price whose ninth decile is this many times the first is called unsteady.
const UNSTEADY: f64 = 1.5;

/// Memory of the price's worker: as much as the largest process of the command had, in whole huge pages.
pub fn footprint_bytes(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<u64> {
    let ended = launches
        .iter()
        .filter_map(|r| r.cost.as_ref())
        .find(|c| c.end == CommandEnd::Exit)?;
    let unit = huge_page_bytes(plan).max(2 * MIB);
    let most = if plan.attached.is_some() {
        MOST_OF_A_WINDOW
    } else {
        u64::MAX
    };
    Some(
        (ended.max_rss_kib * 1024)
            .min(most)
            .max(LEAST_BYTES)
            .div_ceil(unit)
            * unit,
    )
}

fn huge_page_bytes(plan: &CommandPlan) -> u64 {
    plan.pages.as_ref().map_or(0, |pages| pages.huge_page_bytes)
}

/// Seconds for one event of each kind, by one block.
pub(super) struct BlockPrices {
    each: Prices,
    /// A huge page whose memory the process has just given back.
    pub huge_again_s: f64,
}

impl BlockPrices {
    pub fn measured<'a>(
        plan: &CommandPlan,
        run: impl Fn(LaunchMode) -> Option<&'a CommandLaunch>,
    ) -> Option<BlockPrices> {
        let phase =
            |what: LaunchMode, name: &str| run(what).and_then(|r| r.phases.get(name)).copied();
        let mut prices = base(&phase)?;
        let huge_again_s = huge(plan, &phase, &mut prices).unwrap_or_default();
        let page_bytes = plan
            .pages
            .as_ref()
            .map_or(4096, |pages| pages.page_bytes.max(1));
        events(page_bytes, &phase, &mut prices);
        let copied = phase(LaunchMode::PriceCow, "write").map(|p| per_fault(p, 0));
        prices.extend(copied.map(|price| (MemoryEvent::Cow, price)));
        Some(BlockPrices {
            each: prices,
            huge_again_s,
        })
    }

    pub fn of_kind_or_zero(&self, event: MemoryEvent) -> f64 {
        self.price(event).unwrap_or(0.0)
    }

    /// A fault without a price of its own costs as much as a first write; a huge page does not.
    pub fn price(&self, event: MemoryEvent) -> Option<f64> {
        let usual = event.family() == EventFamily::Faults && event != MemoryEvent::Huge;
        self.each
            .get(&event)
            .or_else(|| self.each.get(&MemoryEvent::Heap).filter(|_| usual))
            .copied()
    }
}

/// Seconds a fault, without the loop around it.
fn per_fault(phase: PricePhase, loop_ns: u64) -> f64 {
    phase.cpu_ns.saturating_sub(loop_ns) as f64 * 1e-9 / phase.minor_faults.max(1) as f64
}

fn base(phase: &impl Fn(LaunchMode, &str) -> Option<PricePhase>) -> Option<Prices> {
    let measured = |name| phase(LaunchMode::PriceBase, name);
    let first = per_fault(measured("first-touch")?, measured("re-touch")?.cpu_ns);
    let unmap = measured("unmap")?;
    let mut prices = BTreeMap::from([(MemoryEvent::Heap, first)]);
    prices.insert(
        MemoryEvent::FreeBase,
        unmap.cpu_ns as f64 * 1e-9 / unmap.ops.max(1) as f64,
    );
    Some(prices)
}

/// Puts the prices of huge pages to the others and returns that of recycled ones; none where huge pages had run out.
fn huge(
    plan: &CommandPlan,
    phase: &impl Fn(LaunchMode, &str) -> Option<PricePhase>,
    prices: &mut Prices,
) -> Option<f64> {
    let measured = |name| phase(LaunchMode::PriceHuge, name);
    let (again, unmap) = (measured("re-touch")?, measured("unmap")?);
    let pages = (unmap.bytes / huge_page_bytes(plan).max(1)).max(1);
    let first = measured("first-touch").filter(|first| first.minor_faults == pages)?;
    prices.insert(MemoryEvent::Huge, per_fault(first, again.cpu_ns));
    prices.insert(
        MemoryEvent::FreeHuge,
        unmap.cpu_ns as f64 * 1e-9 / pages as f64,
    );
    Some(per_fault(
        measured("refault").unwrap_or(first),
        again.cpu_ns,
    ))
}

fn events(
    page_bytes: u64,
    phase: &impl Fn(LaunchMode, &str) -> Option<PricePhase>,
    prices: &mut Prices,
) {
    let measured = |name| phase(LaunchMode::PriceEvents, name);
    let faults = [
        (MemoryEvent::ZeroRead, "zero-read"),
        (MemoryEvent::ZeroWrite, "zero-write"),
        (MemoryEvent::File, "file-map"),
        (MemoryEvent::FileWrite, "file-write"),
    ];
    prices.extend(
        faults
            .into_iter()
            .filter_map(|(kind, name)| Some((kind, per_fault(measured(name)?, 0)))),
    );
    for (call, byte, calls, bytes) in [
        (
            MemoryEvent::ReadCalls,
            MemoryEvent::ReadBytes,
            "read-calls",
            "read-bytes",
        ),
        (
            MemoryEvent::WriteCalls,
            MemoryEvent::WriteBytes,
            "write-calls",
            "write-bytes",
        ),
    ] {
        let (Some(calls), Some(bytes)) = (measured(calls), measured(bytes)) else {
            continue;
        };
        let call_s = calls.cpu_ns as f64 * 1e-9 / calls.ops.max(1) as f64;
        let copy = (bytes.cpu_ns as f64 * 1e-9 - call_s * bytes.ops as f64).max(0.0);
        prices.insert(call, call_s);
        prices.insert(byte, copy / bytes.bytes.max(1) as f64);
    }
    // The cost of a new page beyond that of overwriting one that is there.
    if let (Some(new), Some(over)) = (measured("write-new"), measured("write-bytes")) {
        let beyond_s = new.cpu_ns.saturating_sub(over.cpu_ns) as f64 * 1e-9;
        prices.insert(
            MemoryEvent::WriteNew,
            beyond_s / (new.bytes / page_bytes).max(1) as f64,
        );
    }
}

/// The prices of what the command did at all, the dearest first.
pub(super) fn shown(blocks: &[ProfileBlock], counted: &Counted) -> Vec<Price> {
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
    let values: Vec<f64> = blocks.iter().filter_map(|b| b.prices.price(kind)).collect();
    let together_s = amount(
        blocks
            .iter()
            .map(|block| block.cost_s(counted, |event| event == kind)),
    )?;
    let each_s = amount(values.iter().copied())?;
    let decile = |p: f64| quantile(&mut values.clone(), p).unwrap_or(0.0);
    let spread = if decile(0.1) > 0.0 {
        decile(0.9) / decile(0.1)
    } else {
        1.0
    };
    let count = counted.count(kind);
    Some(Price {
        kind,
        count,
        together_s,
        each_s,
        spread,
        unsteady: spread > UNSTEADY,
    })
}
