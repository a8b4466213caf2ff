// The file is written as its content comes.
use std::fs::File;
use std::io::{Result, Write};

// ---
fn written(path: &str, content: &[u8]) -> Result<()> {
    let mut file = File::create(path)?; // truncates; no BufWriter: the content is one piece
    file.write_all(content) // pieces in another order: FileExt::write_all_at
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    written("large-output", &content)?;
    let back = std::fs::read("large-output")?;
    std::fs::remove_file("large-output")?;
    assert!(back == content);
    println!("{}", back.len());
    Ok(())
}
