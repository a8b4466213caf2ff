//! True if a setting was seen to take effect. Where it was not, its figures would say nothing of it.

use record::command::{
    Arm, ArmRole, CommandLaunch, CommandPlan, ObservedEffects, ProofSummary, SettingEffect,
};
use record::setting::Proof;
use stats::estimate::Ratio;

/// Least increase of memory in huge pages, in bytes: one huge page of the smallest size in use.
const HUGE: u64 = 2 << 20;
/// Least change of page faults besides their interval: less is what the start of a program brings.
const MOVED: f64 = 0.01;

fn seen(runs: &[CommandLaunch], arm: usize) -> Option<&ObservedEffects> {
    runs.iter()
        .filter(|r| r.arm == arm)
        .find_map(|r| r.cost.as_ref()?.proof.as_ref())
}

/// Page faults of an arm relative to the baseline's, and the launches whose own are outside all of the baseline's: a setting may
/// act in some only. glibc's huge pages of the heap depend on where the heap begins.
pub(super) struct FaultChange {
    ratio: Ratio,
    fewer: usize,
    more: usize,
    launches: usize,
}

impl FaultChange {
    /// Change by the page faults of each launch of the baseline, which is not empty, and of the arm.
    pub fn new(ratio: Ratio, usual: &[f64], arm: &[f64]) -> FaultChange {
        let least = usual.iter().copied().fold(f64::INFINITY, f64::min);
        let most = usual.iter().copied().fold(0.0, f64::max);
        let noise = (most - least).max(MOVED * least);
        FaultChange {
            ratio,
            fewer: arm.iter().filter(|n| **n < least - noise).count(),
            more: arm.iter().filter(|n| **n > most + noise).count(),
            launches: arm.len(),
        }
    }

    /// Proof of an effect on page faults: their ratio excludes 1, or they moved in some launches.
    fn prove(&self, proof: Proof) -> (bool, SettingEffect) {
        let Ratio {
            ratio, low, high, ..
        } = self.ratio;
        let may_grow = proof == Proof::Faults;
        let moved = self.fewer + if may_grow { self.more } else { 0 };
        let effect = SettingEffect::Faults {
            ratio,
            low,
            high,
            moved: moved as u64,
            launches: self.launches as u64,
        };
        let is_one_sided = high < 1.0 - MOVED || (may_grow && low > 1.0 + MOVED);
        (is_one_sided || moved > 0, effect)
    }
}

/// Proof of an arm's effect, given the change of its page faults.
pub(super) fn proof(
    plan: &CommandPlan,
    runs: &[CommandLaunch],
    arm: usize,
    faults: Option<&FaultChange>,
) -> ProofSummary {
    let subject = &plan.arms[arm];
    let (Some(setting), Some(observed)) = (&subject.setting, seen(runs, arm)) else {
        return ProofSummary::default();
    };
    let usual_huge =
        huge_bytes(plan, runs, ArmRole::Baseline).max(huge_bytes(plan, runs, ArmRole::Again));
    let mut seen = Vec::new();
    let mut effect = true;
    if let Some(library) = &subject.preloaded {
        let mapped = observed.mapped.first().copied().unwrap_or(0);
        // What Pagewise preloads itself is one way of several to huge pages; a library that was asked for must be there.
        effect &= mapped > 0 || setting.advise_mappings;
        seen.push(SettingEffect::Preloaded {
            library: short(library).to_owned(),
            mapped,
            all: observed.processes,
        });
    }
    let is_its_own = setting.modules.is_empty()
        || observed.modules.is_empty()
        || has_module(&observed.modules, &setting.modules);
    if !is_its_own {
        effect = false;
        seen.push(SettingEffect::NoModule {
            modules: setting.modules.clone(),
        });
    }
    let mut any = setting.proof.is_empty();
    for proof in &setting.proof {
        let (holds, effect) = prove(*proof, subject, observed, usual_huge, faults);
        any |= holds;
        seen.push(effect);
    }
    // What too few runs cannot show is not disproved.
    let is_open = effect && !any && seen.contains(&SettingEffect::TooFewRuns);
    let can_be = !setting.proof.is_empty() || subject.preloaded.is_some() || !is_its_own;
    let is_proven = can_be && !is_open;
    ProofSummary {
        took_effect: is_proven.then_some(effect && any),
        seen,
    }
}

/// True if a file of code that was mapped is of these programs and libraries, named by the beginnings of their files.
fn has_module(mapped: &[String], beginnings: &[String]) -> bool {
    let mut beginnings = beginnings.iter();
    beginnings.any(|start| mapped.iter().any(|name| name.starts_with(start.as_str())))
}

/// Memory in huge pages that was seen in the arm of a role.
fn huge_bytes(plan: &CommandPlan, runs: &[CommandLaunch], role: ArmRole) -> u64 {
    let arm = plan.arms.iter().position(|arm| arm.role == role);
    arm.and_then(|arm| seen(runs, arm))
        .map_or(0, |observed| observed.huge_bytes)
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn prove(
    proof: Proof,
    arm: &Arm,
    observed: &ObservedEffects,
    usual_bytes: u64,
    faults: Option<&FaultChange>,
) -> (bool, SettingEffect) {
    let all = observed.processes;
    match proof {
        Proof::Huge => {
            let bytes = observed.huge_bytes;
            (
                bytes >= usual_bytes.saturating_add(HUGE),
                SettingEffect::Huge { bytes, usual_bytes },
            )
        }
        Proof::Faults | Proof::FewerFaults => match faults {
            Some(change) => change.prove(proof),
            None => (false, SettingEffect::TooFewRuns),
        },
        Proof::ThpDisabled => {
            let processes = observed.thp_disabled;
            (
                processes > 0 && processes == all,
                SettingEffect::ThpDisabled { processes, all },
            )
        }
        Proof::Cpus => {
            let (seen, wanted) = (observed.cpus.clone(), arm.cpus.clone().unwrap_or_default());
            (seen == wanted, SettingEffect::Cpus { seen, wanted })
        }
        Proof::Environment => {
            let everywhere =
                !observed.expected.is_empty() && observed.expected.iter().all(|n| *n > 0);
            let processes = observed.expected.iter().min().copied().unwrap_or(0);
            (everywhere, SettingEffect::Environment { processes, all })
        }
        Proof::Merged => {
            let bytes = observed.merged_bytes;
            (bytes > 0, SettingEffect::Merged { bytes })
        }
        Proof::Advised => {
            let bytes = observed.advised_bytes;
            let error = observed.advice_error;
            let error = error.map(|number| std::io::Error::from_raw_os_error(number).to_string());
            (bytes > 0, SettingEffect::Advised { bytes, error })
        }
    }
}
