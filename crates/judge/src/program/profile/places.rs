//! The cost of page faults by their callers.

use super::{ProfileBlock, counts::Counted};
use indexmap::IndexSet;
use record::command::{CallFrame, CallStack, CallStacks, CommandLaunch, EventFamily, MemoryEvent};
use std::collections::BTreeMap;

/// Seconds by stack. The saved stacks of a kind share the cost of all its faults, and all together are the cost of page faults.
pub(super) fn stacks(
    launches: &[CommandLaunch],
    blocks: &[ProfileBlock],
    counted: &Counted,
    faults_s: f64,
) -> Option<CallStacks> {
    let mut weights: BTreeMap<(Vec<&CallFrame>, MemoryEvent), f64> = BTreeMap::new();
    for table in launches.iter().filter_map(|launch| launch.stacks.as_ref()) {
        for stack in &table.stacks {
            let frames = stack
                .frames
                .iter()
                .filter_map(|&at| table.frames.get(at))
                .collect();
            *weights.entry((frames, stack.event)).or_default() += stack.weight;
        }
    }
    if weights.is_empty() {
        return None;
    }
    let kinds = counted
        .shown
        .events
        .keys()
        .filter(|kind| kind.family() == EventFamily::Faults);
    let cost_s = |kind| {
        blocks
            .iter()
            .map(|block| block.cost_s(counted, |event| event == kind))
            .sum::<f64>()
    };
    let costs: BTreeMap<MemoryEvent, f64> = kinds
        .map(|&kind| (kind, cost_s(kind)))
        .filter(|(_, s)| *s > 0.0)
        .collect();
    let mut samples: BTreeMap<MemoryEvent, f64> = BTreeMap::new();
    weights
        .iter()
        .for_each(|((_, kind), weight)| *samples.entry(*kind).or_default() += weight);
    // A kind of which no stack was saved has a place all the same.
    for kind in costs.keys().filter(|kind| !samples.contains_key(kind)) {
        weights.insert((Vec::new(), *kind), 1.0);
    }
    let scale = faults_s / costs.values().sum::<f64>();
    let seconds = |(key, weight): ((_, MemoryEvent), f64)| {
        let all = samples.get(&key.1).copied().unwrap_or(1.0);
        let cost_s = costs.get(&key.1)? * scale;
        Some((key, weight / all * cost_s))
    };
    let mut costs: Vec<_> = weights.into_iter().filter_map(seconds).collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(table(&costs))
}

fn table(costs: &[((Vec<&CallFrame>, MemoryEvent), f64)]) -> CallStacks {
    let mut all: IndexSet<&CallFrame> = IndexSet::new();
    let stacks = costs.iter().map(|((frames, event), weight)| {
        let frames = frames
            .iter()
            .map(|&frame| all.insert_full(frame).0)
            .collect();
        CallStack {
            frames,
            event: *event,
            weight: *weight,
        }
    });
    let stacks = stacks.collect();
    CallStacks {
        frames: all.into_iter().cloned().collect(),
        stacks,
    }
}
