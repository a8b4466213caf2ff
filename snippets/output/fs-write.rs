// The whole file is written at once.
use std::io::Result;

// ---
fn written(path: &str, content: &[u8]) -> Result<()> {
    std::fs::write(path, content) // truncates an old file; a reader may see half of the new one
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    written("written-rust", &content)?;
    let back = std::fs::read("written-rust")?;
    std::fs::remove_file("written-rust")?;
    assert!(back == content);
    println!("{}", back.len());
    Ok(())
}
