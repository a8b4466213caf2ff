//! Two ways to fill a vector: `cargo bench`, with the program `pagewise` in PATH or named by PAGEWISE.

use pagewise_bench::Run;
use std::hint::black_box;

fn grow(run: &mut Run) {
    let elements = run.value("elements");
    let filled = run.phase("fill", || {
        let mut filled = Vec::new();
        (0..elements).for_each(|i| filled.push(black_box(i)));
        filled
    });
    run.result(filled.iter().sum());
}

fn reserve(run: &mut Run) {
    let elements = run.value("elements");
    let filled = run.phase("fill", || {
        let mut filled = Vec::with_capacity(elements as usize);
        (0..elements).for_each(|i| filled.push(black_box(i)));
        filled
    });
    run.result(filled.iter().sum());
}

pagewise_bench::main! {
    [elements = "1000,100000"]
    grow: ["fill"],
    reserve: ["fill"],
}
