//! Both sides of a pair by divan.

use comparison::{number, work};

fn main() {
    divan::main();
}

#[divan::bench]
fn a(bencher: divan::Bencher) {
    let pair = number("WORK_PAIR");
    bencher.bench(|| work(pair, 0));
}

#[divan::bench]
fn b(bencher: divan::Bencher) {
    let pair = number("WORK_PAIR");
    bencher.bench(|| work(pair, 1));
}
