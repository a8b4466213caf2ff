// The file is written in small pieces as they come.
use std::fs::File;
use std::io::{BufWriter, Result, Write};

// ---
fn written<'a>(path: &str, pieces: impl Iterator<Item = &'a [u8]>) -> Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?); // the usual capacity is 8 KiB
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.flush() // a drop would swallow the error
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    written("written-rust", content.chunks(4096))?;
    let back = std::fs::read("written-rust")?;
    std::fs::remove_file("written-rust")?;
    assert!(back == content);
    println!("{}", back.len());
    Ok(())
}
