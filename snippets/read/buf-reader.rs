// Sums a file's bytes through a BufReader.
use std::fs::File;
use std::io::{BufRead, BufReader, Result};

// ---
fn sum_of(path: &str) -> Result<u64> {
    let (mut reader, mut sum) = (BufReader::with_capacity(64 * 1024, File::open(path)?), 0);
    loop {
        let bytes = reader.fill_buf()?; // an interrupted call is made again
        if bytes.is_empty() {
            return Ok(sum);
        }
        sum += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        let used = bytes.len();
        reader.consume(used);
    }
}
// ---

fn main() -> Result<()> {
    println!("{}", sum_of(&std::env::args().nth(1).expect("a path"))?);
    Ok(())
}
