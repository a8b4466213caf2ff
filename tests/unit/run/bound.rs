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
