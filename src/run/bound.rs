//! Memory bounds: a memory cgroup for each bound that cells ask for, made only where the user allowed it, and removed again.

use super::guard::{Guard, Undo, Undoing, session};
use crate::machine::memory::{self, huge_page_bytes};
use anyhow::{Context, Result, bail};
use files::kernel;
use record::concern::{Bound, Concern};
use record::expression::{Expression, Values};
use record::outcome::{Cause, Outcome, Status};
use record::parameters::Parameters;
use record::plan::{Plan, PlannedCell};
use record::{cell::Cell, decision::DecisionKind, state::State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Memory of a worker besides the need of its method, in bytes; a bound below that would only kill it.
const WORKER_BYTES: u64 = 16 << 20;

/// The cgroups of a run by their bound.
#[derive(Debug, Default)]
pub struct Bounds {
    cgroups: BTreeMap<String, PathBuf>,
}

impl Bounds {
    /// Makes a cgroup for every bound that the cells of a run ask for; beside them what is to be decided of cells whose bound
    /// cannot be made, with the reason.
    pub fn make(
        state: &State,
        guard: &mut dyn Undoing,
    ) -> Result<(Bounds, Vec<(String, DecisionKind)>)> {
        let mut bounds = Bounds::default();
        let mut settled = Vec::new();
        let mut wanted: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, planned) in state
            .cells
            .iter()
            .enumerate()
            .filter(|(_, p)| p.outcome.is_none())
        {
            let Some((key, bound)) = bound_of(&state.plan, &planned.cell) else {
                continue;
            };
            let needed = memory_needed(planned, 1)?.saturating_add(WORKER_BYTES);
            // What piles up is compared with the bound by the worker, and with what is left before each launch.
            let itself = bounds_itself(&state.plan, &planned.cell);
            if let Some(bound_bytes) = Bound::parse(&bound).map(|bound| bound.bytes)
                && !itself
                && bound_bytes < needed
            {
                let outcome = Outcome::because(
                    Status::Refused,
                    Cause::Bound {
                        key,
                        bound_bytes,
                        needed_bytes: needed,
                    },
                );
                settled.push((
                    "the bound was looked at".to_owned(),
                    DecisionKind::Settled {
                        cells: vec![index],
                        outcome,
                    },
                ));
            } else {
                wanted.entry(bound).or_default().push(index);
            }
        }
        for (bound, cells) in wanted {
            let name = format!("pagewise-{}-memory-{bound}", session(state));
            match make_one(Path::new("/"), &name, &bound, guard)? {
                Ok(path) => {
                    bounds.cgroups.insert(bound, path);
                }
                Err(cause) => {
                    let waits = |c: &usize| !bounds_itself(&state.plan, &state.cells[*c].cell);
                    let cells = cells.into_iter().filter(waits).collect();
                    let outcome = Outcome::because(Status::Skipped, cause);
                    settled.push((
                        "a memory cgroup was tried".to_owned(),
                        DecisionKind::Settled { cells, outcome },
                    ));
                }
            }
        }
        Ok((bounds, settled))
    }

    /// The cgroup that a process of a cell has to join.
    pub fn cgroup(&self, plan: &Plan, cell: &Cell) -> Option<&Path> {
        self.cgroups
            .get(&bound_of(plan, cell)?.1)
            .map(PathBuf::as_path)
    }
}

/// The key and the bound in bytes, `None` where there is none.
fn bound_of(plan: &Plan, cell: &Cell) -> Option<(String, String)> {
    let experiment = plan.experiment(&cell.experiment)?;
    let setting = |concern| {
        Some((
            experiment.key(concern)?.to_owned(),
            experiment.value(cell, concern)?.to_owned(),
        ))
    };
    setting(Concern::MemoryBound)
        .or_else(|| setting(Concern::OwnMemoryBound))
        .filter(|(_, bound)| Bound::parse(bound).is_some())
}

/// Tells whether the worker keeps the bound by itself, too, by stopping early: it is measured where no cgroup can be made.
fn bounds_itself(plan: &Plan, cell: &Cell) -> bool {
    plan.value(cell, Concern::OwnMemoryBound).is_some()
}

/// Control text that passes the memory controller on.
const PASS_ON: &str = "+memory";

/// A cgroup, or the cause for which none can be made.
type Tried<T> = Result<std::result::Result<T, Cause>>;
pub(super) fn make_cgroup(name: &str, bytes: u64, guard: &mut dyn Undoing) -> Tried<PathBuf> {
    cgroup(name, &bytes.to_string(), guard)
}

/// A cgroup with a bound.
pub(super) fn cgroup(name: &str, bound: &str, guard: &mut dyn Undoing) -> Tried<PathBuf> {
    make_one(Path::new("/"), name, bound, guard)
}

/// Makes one cgroup in the first hierarchy and at the lowest level where that is possible; otherwise the first cause.
fn make_one(root: &Path, name: &str, bound: &str, guard: &mut dyn Undoing) -> Tried<PathBuf> {
    let bound = Bound::parse(bound).with_context(|| format!("{bound} is no bound"))?;
    let mut first = None;
    for (own, version) in memory::cgroups(root) {
        for level in own
            .ancestors()
            .take_while(|p| p.starts_with(root.join("sys/fs/cgroup")))
        {
            match make_at(level, version, name, &bound, guard)? {
                Ok(path) => return Ok(Ok(path)),
                Err(cause) => first = first.or(Some(cause)),
            }
        }
    }
    Ok(Err(first.unwrap_or(Cause::NoCgroup {
        path: None,
        error: None,
    })))
}

fn make_at(
    level: &Path,
    version: u8,
    name: &str,
    bound: &Bound,
    guard: &mut dyn Undoing,
) -> Tried<PathBuf> {
    let limit = match (version, bound.slows) {
        (1, true) => return Ok(Err(Cause::NoMemoryHigh)),
        (1, false) => "memory.limit_in_bytes",
        (_, true) => "memory.high",
        (_, false) => "memory.max",
    };
    if version == 2
        && let Err(obstacle) = offer_memory(level, guard)?
    {
        return Ok(Err(obstacle));
    }
    let path = level.join(name);
    guard.undo(Undo::RemoveCgroup { level, name })?;
    let made = kernel::make_cgroup(&path)
        .and_then(|()| kernel::write(path.join(limit), &bound.bytes.to_string()));
    Ok(match made {
        Ok(()) => Ok(path),
        Err(error) => {
            let _ = kernel::remove_cgroup(&path);
            Err(refused(&path, &error))
        }
    })
}

/// In cgroup v2 a level must pass its memory controller on to the cgroups below it (Documentation/admin-guide/cgroup-v2.rst).
fn offer_memory(level: &Path, guard: &mut dyn Undoing) -> Tried<()> {
    if !lists_memory(level, "cgroup.controllers") {
        return Ok(Err(Cause::NoCgroup {
            path: Some(level.display().to_string()),
            error: None,
        }));
    }
    if lists_memory(level, "cgroup.subtree_control") {
        return Ok(Ok(()));
    }
    let control = level.join("cgroup.subtree_control");
    guard.undo(Undo::Restore {
        setting: &control,
        text: "-memory",
    })?;
    Ok(kernel::write(&control, PASS_ON).map_err(|error| refused(&control, &error)))
}

/// True if a list of controllers of a level has that of memory.
fn lists_memory(level: &Path, list: &str) -> bool {
    let text = kernel::read(level.join(list)).unwrap_or_default();
    let mut controllers = text.split_whitespace();
    controllers.any(|name| Some(name) == PASS_ON.strip_prefix('+'))
}

fn refused(path: &Path, error: &std::io::Error) -> Cause {
    Cause::NoCgroup {
        path: Some(path.display().to_string()),
        error: Some(error.to_string()),
    }
}

/// A reserved pool of huge pages (Documentation/admin-guide/mm/hugetlbpage.rst).
struct PagePool {
    /// Need of the methods that draw from it.
    need: &'static str,
    /// File that holds its number of pages.
    path: &'static str,
    /// Bytes of a page; those of a huge page where absent.
    page_bytes: Option<u64>,
    /// True if pages are so large that cells take whole ones besides other memory, and are skipped where the kernel cannot
    /// gather them; otherwise the run ends.
    is_giant: bool,
}

/// The pools of the default size and of 1 GiB, of which a kernel that has run for a while often gathers none.
const POOLS: [PagePool; 2] = [
    PagePool {
        need: "huge-pages",
        path: "/proc/sys/vm/nr_hugepages",
        page_bytes: None,
        is_giant: false,
    },
    PagePool {
        need: "giant-pages",
        path: "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
        page_bytes: Some(1 << 30),
        is_giant: true,
    },
];

/// Prepares the system for the methods that say they need something of it, where that is allowed.
pub fn prepare(state: &State, guard: &mut Guard) -> Result<()> {
    if state.plan.allow_system_changes {
        for pool in &POOLS {
            pool.fill(state, guard)?;
        }
    }
    Ok(())
}

impl PagePool {
    /// Enlarges the pool for the largest cell that draws from it; the guard restores the old size however the run ends.
    fn fill(&self, state: &State, guard: &mut Guard) -> Result<()> {
        let page_bytes = self.page_bytes.or_else(huge_page_bytes);
        let Some(page_bytes) = page_bytes.filter(|_| kernel::read(self.path).is_ok()) else {
            return Ok(());
        };
        let needed = self.needed(state)?;
        let wanted = if self.is_giant {
            needed / page_bytes
        } else {
            needed.div_ceil(page_bytes)
        };
        if wanted == 0 {
            return Ok(());
        }
        // Another run's pool stays for as long as this one needs it.
        let path = Path::new(self.path);
        guard.keep(path)?;
        let old = kernel::read(path)?;
        if old.trim().parse::<u64>().is_ok_and(|pages| pages >= wanted) {
            return Ok(());
        }
        write(path, &wanted.to_string())?;
        let now = kernel::read(path)?;
        if !self.is_giant && now.trim() != wanted.to_string() {
            bail!(
                "the kernel could gather only {} of {wanted} huge pages; memory is too fragmented or too full",
                now.trim()
            );
        }
        Ok(())
    }

    /// The bytes that the largest cell takes from it.
    fn needed(&self, state: &State) -> Result<u64> {
        let mut needed = 0;
        for planned in state.cells.iter().filter(|p| p.outcome.is_none()) {
            if planned.method.needs.as_deref() == Some(self.need) {
                let sides = planned.cell.sides().count() as u64;
                needed = needed.max(memory_needed(planned, 1)?.saturating_mul(sides));
            }
        }
        Ok(needed)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    kernel::write(path, text)
        .with_context(|| format!("cannot write {text} to {}; this needs root", path.display()))
}

/// The bytes that a cell needs at its peak, by its method's own word.
pub fn memory_needed(planned: &PlannedCell, rounds: u32) -> Result<u64> {
    bytes_of(&planned.method.memory, planned, rounds)
}

/// The heap that a launch of these cells is to be given; `None` where none of them asks for one.
pub fn heap_needed<'a>(
    cells: impl Iterator<Item = &'a PlannedCell>,
    rounds: u32,
) -> Result<Option<u64>> {
    let mut most = None;
    for planned in cells {
        if let Some(heap) = &planned.method.heap {
            most = most.max(Some(bytes_of(heap, planned, rounds)?));
        }
    }
    Ok(most)
}

fn bytes_of(expression: &Expression, planned: &PlannedCell, rounds: u32) -> Result<u64> {
    struct Needs<'a>(&'a Parameters, u32);
    impl Values for Needs<'_> {
        fn number(&self, name: &str) -> Option<i128> {
            match name {
                "rounds" => Some(i128::from(self.1)),
                "page_bytes" => i128::try_from(rustix::param::page_size()).ok(),
                "huge_page_bytes" => huge_page_bytes().map(i128::from),
                _ => self.0.number(name).map(i128::from),
            }
        }
        fn word(&self, name: &str) -> Option<&str> {
            self.0.word(name)
        }
    }
    let value = expression.value(&Needs(&planned.cell.parameters, rounds));
    let value =
        value.map_err(|name| anyhow::anyhow!("{}: memory needs {name}", planned.cell.name()))?;
    Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fixture::tree;
    use std::fs;

    /// Notes what would be undone.
    #[derive(Default)]
    struct Noted(Vec<String>);

    impl Undoing for Noted {
        fn undo(&mut self, undo: Undo) -> Result<()> {
            self.0.push(format!("{undo:?}"));
            Ok(())
        }
    }

    fn made(root: &Path) -> std::result::Result<PathBuf, Cause> {
        make_one(root, "pagewise-x-memory-5", "5", &mut Noted::default()).unwrap()
    }

    #[test]
    fn version_1_bounds_below_the_own_cgroup() {
        let place = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 x rw\n",
            ),
            ("proc/self/cgroup", "4:memory:/job\n0::/\n"),
            ("sys/fs/cgroup/memory/job/cgroup.procs", ""),
            ("sys/fs/cgroup/unified/cgroup.controllers", ""),
        ]);
        let path = made(place.path()).unwrap();
        assert_eq!(
            path,
            place
                .path()
                .join("sys/fs/cgroup/memory/job/pagewise-x-memory-5")
        );
        assert_eq!(
            fs::read_to_string(path.join("memory.limit_in_bytes")).unwrap(),
            "5"
        );
    }

    #[test]
    fn version_2_asks_the_level_to_pass_its_controller_on_and_takes_that_back() {
        let place = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory io\n"),
            ("sys/fs/cgroup/cgroup.subtree_control", "cpu\n"),
            ("sys/fs/cgroup/a/cgroup.controllers", "cpu\n"),
            ("sys/fs/cgroup/a/b/cgroup.controllers", "cpu\n"),
        ]);
        let mut noted = Noted::default();
        let path = make_one(place.path(), "pagewise-x-memory-5", "5", &mut noted)
            .unwrap()
            .unwrap();
        let level = place.path().join("sys/fs/cgroup");
        assert_eq!(
            path,
            level.join("pagewise-x-memory-5"),
            "the lowest level that has the controller"
        );
        assert_eq!(fs::read_to_string(path.join("memory.max")).unwrap(), "5");
        assert_eq!(
            fs::read_to_string(level.join("cgroup.subtree_control")).unwrap(),
            "+memory"
        );
        let restored = Undo::Restore {
            setting: &level.join("cgroup.subtree_control"),
            text: "-memory",
        };
        let removed = Undo::RemoveCgroup {
            level: &level,
            name: "pagewise-x-memory-5",
        };
        assert_eq!(
            noted.0,
            [format!("{restored:?}"), format!("{removed:?}")],
            "noted before they were made"
        );
    }

    #[test]
    fn memory_high_is_version_2s() {
        let slowed = |root: &Path| {
            make_one(
                root,
                "pagewise-x-memory-high",
                "high:5",
                &mut Noted::default(),
            )
            .unwrap()
        };
        let two = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a\n"),
            ("sys/fs/cgroup/a/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/a/cgroup.subtree_control", "memory\n"),
        ]);
        let path = slowed(two.path()).unwrap();
        assert_eq!(fs::read_to_string(path.join("memory.high")).unwrap(), "5");
        assert!(!path.join("memory.max").exists());
        let one = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("proc/self/cgroup", "4:memory:/job\n"),
            ("sys/fs/cgroup/memory/job/cgroup.procs", ""),
        ]);
        assert_eq!(slowed(one.path()).unwrap_err(), Cause::NoMemoryHigh);
    }

    /// The kernel refuses with EBUSY where a level has processes of its own; here a folder stands where the file should be.
    #[test]
    fn a_level_that_cannot_pass_its_controller_on_is_passed_over() {
        let place = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a\n"),
            ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/cgroup.subtree_control", "memory\n"),
            ("sys/fs/cgroup/a/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/a/cgroup.subtree_control/busy", ""),
        ]);
        let path = made(place.path()).unwrap();
        assert_eq!(path, place.path().join("sys/fs/cgroup/pagewise-x-memory-5"));
        let control =
            fs::read_to_string(place.path().join("sys/fs/cgroup/cgroup.subtree_control")).unwrap();
        assert_eq!(control, "memory\n", "what was passed on already stays so");
    }

    #[test]
    fn where_no_cgroup_can_be_made_the_obstacle_is_named() {
        let obstacle =
            made(tree(&[("proc/self/mountinfo", ""), ("proc/self/cgroup", "0::/\n")]).path())
                .unwrap_err();
        assert_eq!(
            obstacle,
            Cause::NoCgroup {
                path: None,
                error: None
            }
        );
        let place = tree(&[
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a\n"),
            ("sys/fs/cgroup/a/cgroup.controllers", "cpu\n"),
        ]);
        let cause = made(place.path()).unwrap_err();
        assert!(
            matches!(cause, Cause::NoCgroup { path: Some(path), error: None } if path.ends_with("cgroup/a"))
        );
    }
}
