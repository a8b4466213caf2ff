//! What it took to follow a process that runs already.

use super::launches::windows;
use record::command::{CommandLaunch, CommandPlan, FollowingCost, LaunchMode};

/// Sums over its windows; none of a command, whose costs are of launches that nothing follows.
pub(super) fn following(plan: &CommandPlan, launches: &[CommandLaunch]) -> Option<FollowingCost> {
    plan.attached?;
    let mut sum = FollowingCost::default();
    let is_window = |mode| matches!(mode, LaunchMode::Followed | LaunchMode::Sampled);
    for launch in launches.iter().filter(|launch| is_window(launch.mode)) {
        let Some(cost) = &launch.cost else { continue };
        sum.followed_s += cost.wall_ns as f64 * 1e-9;
        sum.cpu_s += cost.cpu_s();
        sum.observer_cpu_s += cost.observer_us as f64 * 1e-6;
        let records = cost.faults.as_ref().map_or(0, |faults| faults.samples);
        sum.records = sum.records.saturating_add(records);
        if let Some(work) = &cost.kernel_work {
            let samples = work.parts.iter().map(|part| part.samples);
            sum.samples = samples.fold(sum.samples, u64::saturating_add);
        } else if let Some(stacks) = &launch.stacks {
            let saved: f64 = stacks.stacks.iter().map(|stack| stack.weight).sum();
            sum.stacks = sum.stacks.saturating_add(saved as u64);
        }
    }
    let plain = windows(launches).filter_map(|launch| launch.cost.as_ref());
    let lengths: Vec<f64> = plain.map(|cost| cost.wall_ns as f64 * 1e-9).collect();
    if !lengths.is_empty() {
        sum.window_s = lengths.iter().sum::<f64>() / lengths.len() as f64;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge};
    use record::command::{Attached, CommandPlan, FollowingCost, KernelWork, LaunchMode};
    use record::command::{MemoryEvent, SampledPart};

    #[test]
    fn what_follows_a_process_is_counted() {
        assert_eq!(judge(&plan(), &runs(|_| 2_000)).following, None);
        let attached = Attached {
            pid: 1,
            started_ticks: None,
            window_s: 1.0,
        };
        let plan = CommandPlan {
            attached: Some(attached),
            ..plan()
        };
        let mut launches = runs(|_| 2_000);
        let mut sampled = command(0, LaunchMode::Sampled);
        let part = SampledPart {
            event: MemoryEvent::Fork,
            call: "clone".to_owned(),
            samples: 70,
        };
        sampled.cost.as_mut().unwrap().kernel_work = Some(KernelWork {
            period_ns: 2_000_000,
            lost: 0,
            whole: false,
            parts: vec![part],
        });
        launches.push(sampled);
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            cost.observer_us = 500;
        }
        // Eight windows and one that is sampled, of a second each.
        let wanted = FollowingCost {
            followed_s: 9.0,
            window_s: 1.0,
            cpu_s: 9.0,
            observer_cpu_s: 9.0 * 500e-6,
            records: 8 * 18_000,
            stacks: 0,
            samples: 70,
        };
        let found = judge(&plan, &launches).following.unwrap();
        near(found.observer_cpu_s, wanted.observer_cpu_s);
        let observer_cpu_s = wanted.observer_cpu_s;
        let found = FollowingCost {
            observer_cpu_s,
            ..found
        };
        assert_eq!(found, wanted);
    }
}
