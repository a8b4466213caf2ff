//! Prices of single events, from workers that ran between the runs of the command.

use super::launches::BlockLaunches;
use record::command::{
    CommandEnd, CommandLaunch, CommandPlan, EventFamily, LaunchMode, MemoryEvent, PricePhase,
};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// Seconds for one event of each kind.
type Prices = BTreeMap<MemoryEvent, f64>;

/// Bytes of a mebibyte.
pub const MIB: u64 = 1 << 20;
/// The least footprint that is priced: fewer faults are not resolved.
const LEAST_BYTES: u64 = 4 * MIB;
/// The largest footprint that is priced where time is short: more takes longer than its user expects.
const MOST_IN_HASTE: u64 = 64 * MIB;
/// The largest footprint that is priced for a process that runs already: it may need the processors.
const MOST_BESIDE: u64 = 16 * MIB;

/// Memory that is priced in a second, or less; a huge page may take as long as several hundred base pages.
const PRICED_A_SECOND: f64 = (256 * MIB) as f64;
/// Launches of the command beside those of the blocks: a plain, a traced and a sampled one.
const OTHERS: usize = 3;

/// Memory of the price's worker: as much as the largest process of the command had, in whole huge pages, or what the budget has
/// time for beside six launches of the command.
pub fn footprint_bytes(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<u64> {
    let ended = launches
        .iter()
        .filter_map(|r| r.cost.as_ref())
        .find(|c| c.end == CommandEnd::Exit)?;
    let unit = huge_page_bytes(plan).max(2 * MIB);
    let most = match plan.budget_s {
        _ if plan.attached.is_some() => MOST_BESIDE,
        Some(budget_s) => {
            let command_s = ended.wall_ns as f64 * 1e-9 * (LEAST_LAUNCHES + OTHERS) as f64;
            let left_s = (budget_s - command_s).max(0.0) / LEAST_LAUNCHES as f64;
            MOST_IN_HASTE.max((left_s * PRICED_A_SECOND) as u64)
        }
        None => u64::MAX,
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
    /// The prices that the launches of a block measured; `None` without that of a first write.
    pub fn measured(plan: &CommandPlan, block: &BlockLaunches) -> Option<BlockPrices> {
        let mut prices = base(block)?;
        let huge_again_s = huge(plan, block, &mut prices).unwrap_or_default();
        let page_bytes = plan
            .pages
            .as_ref()
            .map_or(4096, |pages| pages.page_bytes.max(1));
        events(page_bytes, block, &mut prices);
        if let Some(write) = block.phase(LaunchMode::PriceCow, "write") {
            prices.insert(MemoryEvent::Cow, per_fault(write, 0));
        }
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

fn base(block: &BlockLaunches) -> Option<Prices> {
    let first = block.phase(LaunchMode::PriceBase, "first-touch")?;
    let again = block.phase(LaunchMode::PriceBase, "re-touch")?;
    let unmap = block.phase(LaunchMode::PriceBase, "unmap")?;
    Some(Prices::from([
        (MemoryEvent::Heap, per_fault(first, again.cpu_ns)),
        (
            MemoryEvent::FreeBase,
            unmap.cpu_ns as f64 * 1e-9 / unmap.ops.max(1) as f64,
        ),
    ]))
}

/// Puts the prices of huge pages to the others and returns that of recycled ones; none where huge pages had run out.
fn huge(plan: &CommandPlan, block: &BlockLaunches, prices: &mut Prices) -> Option<f64> {
    let again = block.phase(LaunchMode::PriceHuge, "re-touch")?;
    let unmap = block.phase(LaunchMode::PriceHuge, "unmap")?;
    let pages = (unmap.bytes / huge_page_bytes(plan).max(1)).max(1);
    let first = block
        .phase(LaunchMode::PriceHuge, "first-touch")
        .filter(|first| first.minor_faults == pages)?;
    prices.insert(MemoryEvent::Huge, per_fault(first, again.cpu_ns));
    prices.insert(
        MemoryEvent::FreeHuge,
        unmap.cpu_ns as f64 * 1e-9 / pages as f64,
    );
    let refault = block.phase(LaunchMode::PriceHuge, "refault");
    Some(per_fault(refault.unwrap_or(first), again.cpu_ns))
}

fn events(page_bytes: u64, block: &BlockLaunches, prices: &mut Prices) {
    for (kind, name) in [
        (MemoryEvent::ZeroRead, "zero-read"),
        (MemoryEvent::ZeroWrite, "zero-write"),
        (MemoryEvent::File, "file-map"),
        (MemoryEvent::FileWrite, "file-write"),
    ] {
        if let Some(phase) = block.phase(LaunchMode::PriceEvents, name) {
            prices.insert(kind, per_fault(phase, 0));
        }
    }
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
        let [Some(calls), Some(bytes)] =
            [calls, bytes].map(|name| block.phase(LaunchMode::PriceEvents, name))
        else {
            continue;
        };
        let call_s = calls.cpu_ns as f64 * 1e-9 / calls.ops.max(1) as f64;
        let copy = (bytes.cpu_ns as f64 * 1e-9 - call_s * bytes.ops as f64).max(0.0);
        prices.insert(call, call_s);
        prices.insert(byte, copy / bytes.bytes.max(1) as f64);
    }
    // The cost of a new page beyond that of overwriting one that is there.
    if let [Some(new), Some(over)] =
        ["write-new", "write-bytes"].map(|name| block.phase(LaunchMode::PriceEvents, name))
    {
        let beyond_s = new.cpu_ns.saturating_sub(over.cpu_ns) as f64 * 1e-9;
        prices.insert(
            MemoryEvent::WriteNew,
            beyond_s / (new.bytes / page_bytes).max(1) as f64,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MIB, example::*, footprint_bytes, judge};
    use record::command::{CommandPlan, LaunchMode, MemoryEvent};

    #[test]
    fn new_pages_of_files_cost_more_than_overwritten_ones() {
        let mut launches = runs(|_| 2_000);
        launches
            .iter_mut()
            .filter_map(|run| run.cost.as_mut())
            .for_each(|cost| cost.dirtied_pages = 1_000);
        for block in 0..BLOCKS {
            let phases = [
                ("read-calls", 100, 1),
                ("write-calls", 100, 1),
                ("read-bytes", 1, 1),
                ("write-bytes", 20_480_000, 1),
            ];
            let new = ("write-new", 61_440_000, 1);
            launches.push(priced(
                block,
                LaunchMode::PriceEvents,
                &[&phases[..], &[new]].concat(),
            ));
        }
        let of = judge(&plan(), &launches);
        let new = of
            .prices
            .iter()
            .find(|price| price.kind == MemoryEvent::WriteNew)
            .unwrap();
        // 20 480 new pages took 41 ms longer than overwriting as many.
        near(new.each_s.value, 2e-6);
        near(new.together_s.value, 2e-3);
    }

    #[test]
    fn prices_are_of_the_programs_footprint() {
        let unhurried = CommandPlan {
            budget_s: None,
            ..plan()
        };
        assert_eq!(footprint_bytes(&unhurried, &runs(|_| 1)), Some(80 << 20));
        assert_eq!(footprint_bytes(&plan(), &[]), None);
        let priced = |wall_s: u64, budget_s: f64| {
            let mut launches = runs(|_| 1);
            for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
                (cost.max_rss_kib, cost.wall_ns) = (1 << 20, wall_s * 1_000_000_000);
            }
            let budget_s = Some(budget_s);
            let plan = CommandPlan { budget_s, ..plan() };
            footprint_bytes(&plan, &launches).unwrap() / MIB
        };
        // Nine launches of a second leave a sixth of a second for each block, or 8.5 s of a minute.
        assert_eq!(
            [10.0, 60.0, 5.0].map(|budget_s| priced(1, budget_s)),
            [64, 1024, 64]
        );
        assert_eq!(priced(2, 27.0), 384);
    }
}
