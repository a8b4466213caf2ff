//! One side of a pair by criterion: WORK_SIDE names it, and both have one name, so that the second is compared with the first.

use comparison::{number, work};
use criterion::{Criterion, criterion_group, criterion_main};

fn side(criterion: &mut Criterion) {
    let (pair, side) = (number("WORK_PAIR"), number("WORK_SIDE"));
    criterion.bench_function("work", |bencher| bencher.iter(|| work(pair, side)));
}

criterion_group!(benches, side);
criterion_main!(benches);
