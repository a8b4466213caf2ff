use super::*;

fn parameters(text: &str) -> Parameters {
    text.split(' ')
        .filter_map(|word| word.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn grouped(cells: &[&str]) -> Vec<(Parameters, Vec<usize>)> {
    let mut alike: BTreeMap<Parameters, Vec<usize>> = BTreeMap::new();
    cells
        .iter()
        .enumerate()
        .for_each(|(index, text)| alike.entry(parameters(text)).or_default().push(index));
    families(&alike)
}

#[test]
fn a_cell_without_a_parameter_belongs_to_every_value_of_it() {
    let groups = grouped(&[
        "bytes=1 threads=1",
        "bytes=1 threads=2",
        "bytes=1",
        "bytes=2 threads=1",
    ]);
    let expected = [
        ("bytes=1 threads=1", vec![0, 2]),
        ("bytes=1 threads=2", vec![1, 2]),
        ("bytes=2 threads=1", vec![3]),
    ];
    assert_eq!(
        groups,
        expected.map(|(text, cells)| (parameters(text), cells))
    );
}

#[test]
fn a_cell_with_a_parameter_of_its_own_brings_no_values_together_that_contradict_each_other() {
    // As fork has it: `cow` lacks the child's program, and writes to every page.
    let groups = grouped(&[
        "bytes=1 program=tiny",
        "bytes=1 program=large",
        "bytes=1 every=page",
    ]);
    let expected = [
        ("bytes=1 program=large", vec![1, 2]),
        ("bytes=1 program=tiny", vec![0, 2]),
    ];
    assert_eq!(
        groups,
        expected.map(|(text, cells)| (parameters(text), cells))
    );
    // Nothing is left without a group where each side is divided.
    let all: std::collections::BTreeSet<usize> =
        grouped(&["a=1 b=1", "a=2 b=1", "b=1 c=1", "b=1 c=2"])
            .into_iter()
            .flat_map(|(_, cells)| cells)
            .collect();
    assert_eq!(all.len(), 4);
}
