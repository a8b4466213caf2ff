//! True if a setting was seen to take effect. Where it was not, its figures would say nothing of it.

use record::command::{Arm, ArmRole, CommandLaunch, CommandPlan, ObservedEffects, ProofSummary};
use record::setting::Proof;
use stats::estimate::RatioEstimate;

/// Least increase of memory in huge pages, in bytes: one huge page of the smallest size in use.
const HUGE: u64 = 2 << 20;
/// Least change of page faults besides their interval: less is what the start of a program brings.
const MOVED: f64 = 0.01;

fn seen(runs: &[CommandLaunch], arm: usize) -> Option<&ObservedEffects> {
    runs.iter().filter(|r| r.arm == arm).find_map(|r| r.cost.as_ref()?.proof.as_ref())
}

/// Proof of an arm's effect, given the ratio of its page faults to the baseline's.
pub(super) fn proof(plan: &CommandPlan, runs: &[CommandLaunch], arm: usize, faults: Option<&RatioEstimate>) -> ProofSummary {
    let subject = &plan.arms[arm];
    let (Some(setting), Some(own)) = (&subject.setting, seen(runs, arm)) else { return ProofSummary::default() };
    let usual = |role: ArmRole| {
        let index = plan.arms.iter().position(|a| a.role == role);
        index.and_then(|i| seen(runs, i)).map_or(0, |s| s.huge_bytes)
    };
    let usual_huge = usual(ArmRole::Baseline).max(usual(ArmRole::Again));
    let mut seen = Vec::new();
    let mut effect = true;
    if let Some(library) = &subject.preloaded {
        let (mapped, all) = (own.mapped.first().copied().unwrap_or(0), own.processes);
        // What Pagewise preloads itself is one way of several to huge pages; a library that was asked for must be there.
        effect &= mapped > 0 || setting.advise_mappings;
        seen.push(format!("{} mapped in {mapped} of {all} processes", short(library)));
    }
    let mut any = setting.proof.is_empty();
    for proof in &setting.proof {
        let (holds, said) = prove(*proof, subject, own, usual_huge, faults);
        any |= holds;
        seen.push(said);
    }
    let is_proven = !setting.proof.is_empty() || subject.preloaded.is_some();
    ProofSummary { took_effect: is_proven.then_some(effect && any), seen }
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn prove(
    proof: Proof,
    arm: &Arm,
    observed: &ObservedEffects,
    usual_huge: u64,
    faults: Option<&RatioEstimate>,
) -> (bool, String) {
    match proof {
        Proof::Huge => {
            let mib = |bytes: u64| bytes >> 20;
            let text = format!("{} MiB in huge pages ({} without)", mib(observed.huge_bytes), mib(usual_huge));
            (observed.huge_bytes >= usual_huge + HUGE, text)
        }
        Proof::Faults | Proof::FewerFaults => match faults {
            Some(f) => {
                let moved = f.high < 1.0 - MOVED || (proof == Proof::Faults && f.low > 1.0 + MOVED);
                let [at, low, high] = [f.ratio, f.low, f.high].map(|r| format!("{:+.1}", percent(r)).replace('-', "−"));
                (moved, format!("page faults {at} % ({low} to {high} %)"))
            }
            None => (false, "too few runs to see whether page faults moved".to_owned()),
        },
        Proof::ThpDisabled => {
            let text = format!("huge pages off in {} of {} processes", observed.thp_disabled, observed.processes);
            (observed.thp_disabled > 0 && observed.thp_disabled == observed.processes, text)
        }
        Proof::Cpus => {
            let wanted = arm.cpus.as_deref().unwrap_or_default();
            (observed.cpus == wanted, format!("processors {}, {wanted} were asked for", observed.cpus))
        }
        Proof::Environment => {
            let everywhere = !observed.expected.is_empty() && observed.expected.iter().all(|n| *n > 0);
            let most = observed.expected.iter().min().copied().unwrap_or(0);
            (everywhere, format!("in the environment of {most} of {} processes", observed.processes))
        }
    }
}

fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}
