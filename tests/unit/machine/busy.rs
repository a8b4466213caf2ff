use super::*;

fn stat(name: &str, parent: u32, user: u64, system: u64) -> Process {
    let text =
        format!("7 ({name}) S {parent} 7 7 0 -1 0 1 2 3 4 {user} {system} 0 0 20 0 1 0 5 6 7");
    parse(&text).expect("a line of stat")
}

fn processes(list: &[(u32, Process)]) -> Processes {
    Processes {
        by_pid: list.iter().cloned().collect(),
    }
}

#[test]
fn names_with_spaces_and_parentheses_are_read() {
    let process = stat("a (b) c", 5, 10, 3);
    assert_eq!(
        (process.name.as_str(), process.parent, process.ticks),
        ("a (b) c", 5, 13)
    );
    assert!(parse("cut short").is_none());
}

#[test]
fn the_busy_are_told_apart_from_the_kernel_s_memory_threads() {
    let before = processes(&[
        (10, stat("make", 1, 100, 0)),
        (20, stat("kswapd0", 2, 5, 5)),
        (30, stat("idle", 1, 1, 1)),
    ]);
    let after = processes(&[
        (10, stat("make", 1, 150, 0)),
        (20, stat("kswapd0", 2, 5, 15)),
        (30, stat("idle", 1, 1, 1)),
        (40, stat("worker", 99, 500, 0)),
        (99, stat("pagewise", 1, 500, 0)),
    ]);
    let (others, threads) = after.since(&before, 1.0, 99);
    assert_eq!(
        others,
        [Busy {
            name: "make".into(),
            pid: 10,
            cpus: 0.5
        }]
    );
    assert_eq!(
        threads,
        [Busy {
            name: "kswapd0".into(),
            pid: 20,
            cpus: 0.1
        }]
    );
}
