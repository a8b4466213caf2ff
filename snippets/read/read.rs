// Sums a file's bytes by read calls into one buffer.
use std::fs::File;
use std::io::{ErrorKind, Read, Result};

// ---
fn sum_of(path: &str) -> Result<u64> {
    let (mut file, mut buffer, mut sum) = (File::open(path)?, vec![0u8; 64 * 1024], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(sum),
            Ok(bytes) => sum += buffer[..bytes].iter().map(|&byte| u64::from(byte)).sum::<u64>(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
// ---

fn main() -> Result<()> {
    println!("{}", sum_of(&std::env::args().nth(1).expect("a path"))?);
    Ok(())
}
