//! Settings that change the machine while a study lasts: memory cgroups, and the kernel's merging of equal pages. The guard
//! undoes both, however the study ends.

use crate::run::bound::cgroup;
use crate::run::guard::Guard;
use anyhow::Result;
use files::kernel;
use record::command::{Arm, CommandPlan};
use record::outcome::Cause;
use std::path::{Path, PathBuf};

/// The thread that merges pages runs where this is 1 (Documentation/admin-guide/mm/ksm.rst).
const MERGING: &str = "/sys/kernel/mm/ksm/run";
const RUNS: &str = "1";
/// Pages that it looks at before it sleeps, and so many that it meets all of a program within seconds.
const PAGES_AT_ONCE: (&str, u64) = ("/sys/kernel/mm/ksm/pages_to_scan", 1000);

/// Skips the arms that would change the machine.
pub fn forbid(arms: &mut [Arm]) {
    for arm in arms {
        let cause = arm.setting.as_ref().and_then(|setting| {
            if !setting.bound.is_empty() {
                let key = "memory".to_owned();
                return Some(Cause::NeedsCgroup { key });
            }
            let key = MERGING.to_owned();
            let value = RUNS.to_owned();
            (setting.merge && !merges()).then_some(Cause::MadeValue { key, value })
        });
        arm.skipped = arm.skipped.take().or(cause);
    }
}

fn merges() -> bool {
    kernel::read(MERGING).is_ok_and(|text| text.trim() == RUNS)
}

/// Changes of the machine for the arms of a study; dropping them undoes all.
#[derive(Default)]
pub struct Changes {
    /// The cgroup of each arm that has one.
    cgroups: Vec<Option<PathBuf>>,
    _guard: Option<Guard>,
}

impl Changes {
    /// Makes what the arms of a plan need, and skips those for which it cannot be made.
    pub fn make(plan: &mut CommandPlan) -> Result<Changes> {
        let wanted = |arm: &Arm| {
            let setting = arm.setting.as_ref().filter(|_| arm.skipped.is_none());
            setting.is_some_and(|setting| setting.merge || !setting.bound.is_empty())
        };
        if !plan.arms.iter().any(wanted) {
            return Ok(Changes::default());
        }
        let mut guard = Guard::start()?;
        let mut cgroups = Vec::new();
        for (index, arm) in plan.arms.iter_mut().enumerate() {
            let mut path = None;
            let setting = arm.setting.as_ref().filter(|_| arm.skipped.is_none());
            if let Some(setting) = setting {
                let run = format!("{}-{}", plan.run, std::process::id());
                let name = format!("pagewise-{run}-memory-{index}");
                if !setting.bound.is_empty() {
                    match cgroup(&name, &setting.bound, &mut guard)? {
                        Ok(made) => path = Some(made),
                        Err(cause) => arm.skipped = Some(cause),
                    }
                } else if setting.merge && plan.allow_system_changes {
                    arm.skipped = merge(&mut guard)?;
                }
            }
            cgroups.push(path);
        }
        Ok(Changes {
            cgroups,
            _guard: Some(guard),
        })
    }

    /// The cgroup of an arm.
    pub fn cgroup(&self, arm: usize) -> Option<&Path> {
        self.cgroups.get(arm)?.as_deref()
    }
}

/// Has the kernel merge pages; the cause where it does not.
fn merge(guard: &mut Guard) -> Result<Option<Cause>> {
    let (speed, pages) = PAGES_AT_ONCE;
    for (setting, text) in [(speed, pages.to_string()), (MERGING, RUNS.to_owned())] {
        let name = setting.to_owned();
        if kernel::read(setting).is_err() {
            return Ok(Some(Cause::NoSetting { name }));
        }
        guard.keep(Path::new(setting))?;
        if let Err(error) = kernel::write(setting, &text) {
            let error = error.to_string();
            return Ok(Some(Cause::SettingRefused { name, error }));
        }
    }
    Ok(None)
}
