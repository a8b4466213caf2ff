//! Two ways to fill a vector: `pagewise bench mine.rs`. In a project with Cargo, see consumers/pagewise-bench.
pagewise::param!(elements, "1000,100000");

fn filled(mut all: Vec<usize>, elements: usize) -> Vec<usize> {
    (0..elements).for_each(|i| all.push(i));
    all
}

#[pagewise::baseline]
fn grow() -> usize {
    let elements = pagewise::value("elements");
    let all = pagewise::phase!("fill", filled(Vec::new(), elements));
    all.len()
}

#[pagewise::bench]
fn reserve() -> usize {
    let elements = pagewise::value("elements");
    let all = pagewise::phase!("fill", {
        filled(Vec::with_capacity(elements), elements)
    });
    all.len()
}
