use super::*;
use crate::machine::fixture::tree;

#[test]
fn the_tightest_ancestor_of_a_v2_cgroup_decides() {
    let place = tree(&[
        (
            "proc/meminfo",
            "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
        ),
        (
            "proc/self/mountinfo",
            "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("proc/self/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/a/memory.max", "1073741824\n"),
        ("sys/fs/cgroup/a/memory.current", "800000000\n"),
        (
            "sys/fs/cgroup/a/memory.stat",
            "anon 1\ninactive_file 300000000\n",
        ),
        ("sys/fs/cgroup/a/b/memory.max", "max\n"),
    ]);
    let available = available_bytes(place.path());
    assert_eq!(available.bytes, 1_073_741_824 - 500_000_000);
    assert!(
        available.limited_by.ends_with("sys/fs/cgroup/a"),
        "{}",
        available.limited_by
    );
}

#[test]
fn a_v1_limit_on_a_hybrid_machine_is_found() {
    let place = tree(&[
        ("proc/meminfo", "MemAvailable: 8000000 kB\n"),
        (
            "proc/self/mountinfo",
            "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 x rw\n",
        ),
        ("proc/self/cgroup", "4:memory:/job\n0::/\n"),
        (
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
            "536870912\n",
        ),
        (
            "sys/fs/cgroup/memory/job/memory.usage_in_bytes",
            "36870912\n",
        ),
        (
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
    ]);
    assert_eq!(available_bytes(place.path()).bytes, 500_000_000);
    let limited_by = "the memory cgroup /sys/fs/cgroup/memory/job".to_owned();
    let refused = Cause::Memory {
        needed_bytes: 1 << 30,
        available_bytes: 500_000_000,
        limited_by,
    };
    assert_eq!(fits(place.path(), 1 << 30, 0), Err(refused));
}

#[test]
fn nothing_is_always_allowed() {
    assert!(fits(Path::new("/nowhere"), 0, 1 << 30).is_ok());
}
