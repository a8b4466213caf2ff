use super::*;

fn known(kernel: &str, memory_bytes: u64) -> KindFacts {
    let facts = [("kernel", kernel), ("cpu", "x")]
        .map(|(n, f)| (n.to_owned(), f.to_owned()))
        .into();
    KindFacts {
        facts,
        memory_bytes: Some(memory_bytes),
    }
}

#[test]
fn a_little_more_memory_is_no_other_kind_and_another_kernel_is() {
    let by: Vec<String> = BY.map(str::to_owned).into();
    let all = [
        known("6.1", 1000),
        known("6.2", 1000),
        known("6.1", 1030),
        known("6.1", 2000),
        known("6.1", 1010),
    ];
    let found = kinds_of(&all, &by);
    assert_eq!(
        found.iter().map(|k| k.nodes.clone()).collect::<Vec<_>>(),
        [vec![0, 2, 4], vec![3], vec![1]]
    );
    assert_eq!(found[0].name, "A");
    let by_cpu = kinds_of(&all, &["cpu".to_owned()]);
    assert_eq!(by_cpu.len(), 1);
    assert_eq!(
        (letters(25), letters(26), letters(52)),
        ("Z".to_owned(), "AA".to_owned(), "BA".to_owned())
    );
}
