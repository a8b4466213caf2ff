use super::*;

#[test]
fn one_machine_does_not_differ_from_itself() {
    let environment = Environment::default();
    assert_eq!(differences(&environment, &environment), []);
}

#[test]
fn what_costs_nothing_is_told_last() {
    let mut b = Environment::default();
    b.kernel.release = Some("6.12".to_owned());
    b.rights.effective_uid = Some(0);
    b.cpu.memory_flags = Some(["avx2", "erms"].map(str::to_owned).into());
    let found = differences(&Environment::default(), &b);
    let told: Vec<(&str, bool)> = found
        .iter()
        .map(|d| (d.field.as_str(), d.matters))
        .collect();
    assert_eq!(
        told,
        [
            ("cpu.memory_flags", true),
            ("kernel.release", true),
            ("rights.effective_uid", false)
        ]
    );
    assert_eq!(
        (found[0].a.as_str(), found[0].b.as_str()),
        ("absent", "avx2 erms")
    );
}

#[test]
fn a_little_more_memory_is_no_other_machine() {
    let with = |total_bytes| {
        let mut environment = Environment::default();
        environment.memory.total_bytes = Some(total_bytes);
        environment
    };
    assert!(!differences(&with(16_700_000_000), &with(16_690_000_000))[0].matters);
    assert!(differences(&with(16_000_000_000), &with(32_000_000_000))[0].matters);
}

#[test]
fn patterns_stand_for_one_part_each() {
    assert!(is_below("limits.process.stack size", "limits"));
    assert!(is_below(
        "memory.nodes.3.total_bytes",
        "memory.nodes.*.total_bytes"
    ));
    assert!(!is_below(
        "memory.nodes.3.cpus",
        "memory.nodes.*.total_bytes"
    ));
    assert!(!is_below("memory", "memory.dev_shm_bytes"));
}
