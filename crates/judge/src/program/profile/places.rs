//! The cost of page faults by their callers.

use super::{blocks::ProfileBlock, counts::Counted, sampled::SampledKernel};
use indexmap::IndexSet;
use record::command::{
    CallFrame, CallStack, CallStacks, CommandLaunch, EventFamily, LaunchMode, MemoryEvent,
};
use std::collections::BTreeMap;

/// Seconds by stack. The saved stacks of a kind share the cost of all its faults, and all together are the cost of page faults.
pub(super) fn stacks(
    launches: &[CommandLaunch],
    blocks: &[ProfileBlock],
    counted: &Counted,
    faults_s: f64,
) -> Option<CallStacks> {
    let mut weights: BTreeMap<(Vec<&CallFrame>, MemoryEvent), f64> = BTreeMap::new();
    let followed = launches
        .iter()
        .filter(|launch| launch.mode != LaunchMode::Sampled);
    for table in followed.filter_map(|launch| launch.stacks.as_ref()) {
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
    let mut costs: BTreeMap<MemoryEvent, f64> = BTreeMap::new();
    for &kind in kinds {
        let in_blocks = blocks
            .iter()
            .map(|block| block.cost_s(counted, |event| event == kind));
        let cost_s: f64 = in_blocks.sum();
        if cost_s > 0.0 {
            costs.insert(kind, cost_s);
        }
    }
    let mut samples: BTreeMap<MemoryEvent, f64> = BTreeMap::new();
    for ((_, kind), weight) in &weights {
        *samples.entry(*kind).or_default() += weight;
    }
    // A kind of which no stack was saved has a place all the same.
    for kind in costs.keys().filter(|kind| !samples.contains_key(kind)) {
        weights.insert((Vec::new(), *kind), 1.0);
    }
    let scale = faults_s / costs.values().sum::<f64>();
    let mut seconds = Vec::new();
    for ((frames, kind), weight) in weights {
        if let Some(cost_s) = costs.get(&kind) {
            let sampled = samples.get(&kind).copied().unwrap_or(1.0);
            let stack_s = weight / sampled * (cost_s * scale);
            seconds.push(((frames, kind), stack_s));
        }
    }
    seconds.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(table(&seconds))
}

/// Seconds of the kernel's time by stack, from its samples.
pub(super) fn kernel_stacks(
    launches: &[CommandLaunch],
    sampled: &SampledKernel,
) -> Option<CallStacks> {
    let mut weights: BTreeMap<(Vec<&CallFrame>, MemoryEvent), f64> = BTreeMap::new();
    let in_kernel = launches
        .iter()
        .filter(|launch| launch.mode == LaunchMode::Sampled);
    for table in in_kernel.filter_map(|launch| launch.stacks.as_ref()) {
        for stack in &table.stacks {
            let frames = stack
                .frames
                .iter()
                .filter_map(|&at| table.frames.get(at))
                .collect();
            *weights.entry((frames, stack.event)).or_default() += stack.weight;
        }
    }
    let total: f64 = weights.values().sum();
    let scale = sampled.cost(|_, _| true).seconds.value / total;
    let mut seconds: Vec<_> = weights.into_iter().collect();
    seconds.iter_mut().for_each(|(_, weight)| *weight *= scale);
    seconds.sort_by(|a, b| b.1.total_cmp(&a.1));
    (total > 0.0).then(|| table(&seconds))
}

fn table(costs: &[((Vec<&CallFrame>, MemoryEvent), f64)]) -> CallStacks {
    let mut known: IndexSet<&CallFrame> = IndexSet::new();
    let mut stacks = Vec::new();
    for ((frames, event), weight) in costs {
        let frames = frames
            .iter()
            .map(|&frame| known.insert_full(frame).0)
            .collect();
        stacks.push(CallStack {
            frames,
            event: *event,
            weight: *weight,
        });
    }
    CallStacks {
        frames: known.into_iter().cloned().collect(),
        stacks,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge};
    use record::command::{CallFrame, CallStack, CallStacks, LaunchMode, MemoryEvent};

    fn frame(function: &str) -> CallFrame {
        CallFrame {
            function: function.to_owned(),
            ..CallFrame::default()
        }
    }

    fn stack(frames: &[usize], weight: f64) -> CallStack {
        CallStack {
            frames: frames.to_vec(),
            event: MemoryEvent::Heap,
            weight,
        }
    }

    /// The cost of the stacks of just these functions.
    fn cost(stacks: &CallStacks, functions: &[&str]) -> f64 {
        let mut cost_s = 0.0;
        for stack in &stacks.stacks {
            let names = stack
                .frames
                .iter()
                .map(|&frame| stacks.frames[frame].function.as_str());
            if names.eq(functions.iter().copied()) {
                cost_s += stack.weight;
            }
        }
        cost_s
    }

    #[test]
    fn the_stacks_of_a_kind_share_its_cost_and_all_together_are_the_cost_of_faults() {
        let mut launches = runs(|_| 2_000);
        for (at, run) in launches
            .iter_mut()
            .filter(|run| run.mode == LaunchMode::Followed)
            .enumerate()
        {
            // The same functions, numbered in another order in every second launch.
            let (frames, stacks) = if at % 2 == 0 {
                (
                    vec![frame("main"), frame("grow")],
                    vec![stack(&[0, 1], 6.0), stack(&[0], 2.0)],
                )
            } else {
                (
                    vec![frame("grow"), frame("main")],
                    vec![stack(&[1, 0], 6.0), stack(&[1], 2.0)],
                )
            };
            run.stacks = Some(CallStacks { frames, stacks });
        }
        let of = judge(&plan(), &launches);
        let stacks = of.stacks.unwrap();
        let total = of.faults.unwrap().seconds.value;
        near(stacks.stacks.iter().map(|stack| stack.weight).sum(), total);
        let (grown, main) = (cost(&stacks, &["main", "grow"]), cost(&stacks, &["main"]));
        near(grown / main, 3.0);
        // Of faults inside calls and of files no stack was saved.
        let unsaved = cost(&stacks, &[]);
        near(unsaved, total - grown - main);
        assert!(unsaved >= 2_000.0 * 2e-6);
    }
}
