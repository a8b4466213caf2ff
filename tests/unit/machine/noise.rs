mod busy;

use super::*;
use std::fs;

#[test]
fn only_what_others_did_is_foreign() {
    let delta = NoiseDelta {
        device_read_bytes: 100,
        own_read_bytes: 60,
        device_written_bytes: 10,
        own_written_bytes: 500,
        ..NoiseDelta::default()
    };
    assert_eq!(delta.foreign_bytes(), 40);
    let late = NoiseDelta {
        device_written_bytes: 700,
        own_pending_bytes: 200,
        ..NoiseDelta::default()
    };
    assert_eq!(
        late.foreign_bytes(),
        100,
        "a launch before made them, with their journal"
    );
}

#[test]
fn what_stands_on_another_device_is_counted_once() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    for folder in [
        "proc",
        "sys/block/vda",
        "sys/block/loop0/loop",
        "sys/block/dm-0/slaves/vda",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let write = |sectors: u64, dirty: u64| {
        let line = |name: &str| format!(" 254 0 {name} 1 0 0 0 2 0 {sectors} 0\n");
        fs::write(
            root.join("proc/diskstats"),
            ["vda", "loop0", "dm-0"].map(line).concat(),
        )
        .unwrap();
        fs::write(
            root.join("proc/meminfo"),
            format!("Dirty: {dirty} kB\nWriteback: 4 kB\n"),
        )
        .unwrap();
        fs::create_dir_all(root.join("proc/self")).unwrap();
        fs::write(root.join("proc/self/io"), "write_bytes: 10240\n").unwrap();
    };
    write(100, 4);
    let before = Snapshot::take(root);
    write(108, 0);
    let delta = Snapshot::take(root).delta(&before);
    assert_eq!(
        (delta.device_written_bytes, delta.own_pending_bytes),
        (4096, 8192)
    );
}

#[test]
fn only_what_moved_is_told() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::create_dir_all(root.join("proc/pressure")).unwrap();
    fs::create_dir_all(root.join("sys/block/vda")).unwrap();
    let write = |stat: &str, vm: &str, disk: &str| {
        fs::write(root.join("proc/stat"), stat).unwrap();
        fs::write(root.join("proc/vmstat"), vm).unwrap();
        fs::write(root.join("proc/diskstats"), disk).unwrap();
    };
    write(
        "cpu 10 0 10 80 0 0 0 0 0 0\n",
        "oom_kill 1\ncompact_stall 5\n",
        " 254 0 vda 1 0 100 0 2 0 200 0\n",
    );
    let before = Snapshot::take(root);
    write(
        "cpu 20 0 10 160 0 0 0 10 0 0\n",
        "oom_kill 2\ncompact_stall 5\n",
        " 254 0 vda 1 0 104 0 2 0 200 0\n",
    );
    let delta = Snapshot::take(root).delta(&before);
    assert_eq!((delta.steal_share, delta.busy_cpu_s), (0.1, 0.1));
    assert_eq!(delta.counter("oom_kill"), 1);
    assert!(!delta.vmstat.contains_key("compact_stall"));
    assert_eq!(
        (delta.device_read_bytes, delta.device_written_bytes),
        (2048, 0)
    );
}
