//! Settings that change the machine while a study lasts: memory cgroups, the kernel's merging of equal pages and its making of
//! huge ones. The guard undoes all, however the study ends.

use crate::run::bound::cgroup;
use crate::run::guard::Guard;
use anyhow::{Context, Result};
use files::kernel;
use record::command::{Arm, CommandPlan};
use record::outcome::Cause;
use std::path::{Path, PathBuf};

/// The thread that merges pages runs where this is 1 (Documentation/admin-guide/mm/ksm.rst).
const MERGING: &str = "/sys/kernel/mm/ksm/run";
const RUNS: u64 = 1;
/// Pages that it looks at before it sleeps, and so many that it meets all of a program within seconds.
const PAGES_AT_ONCE: (&str, u64) = ("/sys/kernel/mm/ksm/pages_to_scan", 1000);

/// Pages of a huge page that may be absent where khugepaged makes one (Documentation/admin-guide/mm/transhuge.rst).
const MAY_BE_ABSENT: &str = "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none";
/// Pause of khugepaged, and so short that it meets all of a program within seconds.
const PAUSE_MS: (&str, u64) = (
    "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs",
    1000,
);

/// Skips the arms that would change the machine.
pub fn forbid(arms: &mut [Arm]) {
    for arm in arms {
        let cause = arm.setting.as_ref().and_then(|setting| {
            if !setting.bound.is_empty() {
                let key = "memory".to_owned();
                return Some(Cause::NeedsCgroup { key });
            }
            if let Some(pages) = setting.max_ptes_none {
                let (key, value) = (MAY_BE_ABSENT.to_owned(), pages.to_string());
                return Some(Cause::MadeValue { key, value });
            }
            let key = MERGING.to_owned();
            let value = RUNS.to_string();
            (setting.merge && !merges()).then_some(Cause::MadeValue { key, value })
        });
        arm.skipped = arm.skipped.take().or(cause);
    }
}

fn merges() -> bool {
    kernel::read(MERGING).is_ok_and(|text| text.trim() == RUNS.to_string())
}

/// Changes of the machine for the arms of a study; dropping them undoes all.
#[derive(Default)]
pub struct Changes {
    /// The cgroup of each arm that has one.
    cgroups: Vec<Option<PathBuf>>,
    /// Value of `MAY_BE_ABSENT` in arms that do not change it; absent where none does.
    usual_absent: Option<String>,
    _guard: Option<Guard>,
}

/// A kernel's setting that is another one during a launch; dropping it puts the usual one back.
pub struct ChangedSetting<'a>(&'a str);

impl Drop for ChangedSetting<'_> {
    fn drop(&mut self) {
        // The guard does it, too, at the end.
        let _ = kernel::write(MAY_BE_ABSENT, self.0);
    }
}

impl Changes {
    /// Makes what the arms of a plan need, and skips those for which it cannot be made.
    pub fn make(plan: &mut CommandPlan) -> Result<Changes> {
        let wanted = |arm: &Arm| {
            let setting = arm.setting.as_ref().filter(|_| arm.skipped.is_none());
            setting.is_some_and(|setting| {
                setting.merge || !setting.bound.is_empty() || setting.max_ptes_none.is_some()
            })
        };
        if !plan.arms.iter().any(wanted) {
            return Ok(Changes::default());
        }
        let mut guard = Guard::start()?;
        let (mut cgroups, mut usual_absent) = (Vec::new(), None);
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
                } else if let Some(pages) = setting.max_ptes_none
                    && plan.allow_system_changes
                {
                    arm.skipped = collapse(&mut guard, pages, &mut usual_absent)?;
                }
            }
            cgroups.push(path);
        }
        Ok(Changes {
            cgroups,
            usual_absent,
            _guard: Some(guard),
        })
    }

    /// Changes what an arm's setting needs during its launch.
    pub fn hold(&self, arm: &Arm) -> Result<Option<ChangedSetting<'_>>> {
        let setting = arm
            .setting
            .as_ref()
            .and_then(|setting| setting.max_ptes_none);
        let (Some(pages), Some(usual)) = (setting, &self.usual_absent) else {
            return Ok(None);
        };
        let held = ChangedSetting(usual);
        kernel::write(MAY_BE_ABSENT, &pages.to_string())
            .with_context(|| format!("the kernel does not take {pages} for {MAY_BE_ABSENT}"))?;
        Ok(Some(held))
    }

    /// The cgroup of an arm.
    pub fn cgroup(&self, arm: usize) -> Option<&Path> {
        self.cgroups.get(arm)?.as_deref()
    }
}

/// Has the kernel merge pages; the cause where it does not.
fn merge(guard: &mut Guard) -> Result<Option<Cause>> {
    change(guard, &[PAGES_AT_ONCE, (MERGING, RUNS)])
}

/// Has khugepaged look often, and notes the usual number of pages that may be absent; the cause where the kernel does not take
/// an arm's number.
fn collapse(guard: &mut Guard, pages: u64, usual: &mut Option<String>) -> Result<Option<Cause>> {
    if usual.is_none() {
        let text = kernel::read(MAY_BE_ABSENT).unwrap_or_default();
        if let Some(cause) = change(guard, &[PAUSE_MS])? {
            return Ok(Some(cause));
        }
        *usual = Some(text.trim().to_owned());
    }
    let cause = change(guard, &[(MAY_BE_ABSENT, pages)])?;
    drop(usual.as_deref().map(ChangedSetting));
    Ok(cause)
}

/// Gives the kernel's settings these values; the cause where it does not take them.
fn change(guard: &mut Guard, settings: &[(&str, u64)]) -> Result<Option<Cause>> {
    for (setting, value) in settings {
        let name = (*setting).to_owned();
        if kernel::read(setting).is_err() {
            return Ok(Some(Cause::NoSetting { name }));
        }
        guard.keep(Path::new(setting))?;
        if let Err(error) = kernel::write(setting, &value.to_string()) {
            let error = error.to_string();
            return Ok(Some(Cause::SettingRefused { name, error }));
        }
    }
    Ok(None)
}
