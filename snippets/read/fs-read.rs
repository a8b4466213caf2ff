// Sums a file's bytes after all of it is in memory.
use std::io::Result;

// ---
fn sum_of(path: &str) -> Result<u64> {
    Ok(std::fs::read(path)?.iter().map(|&byte| u64::from(byte)).sum())
}
// ---

fn main() -> Result<()> {
    println!("{}", sum_of(&std::env::args().nth(1).expect("a path"))?);
    Ok(())
}
