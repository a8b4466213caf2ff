// The whole file is read into a Vec.
use std::io::Result;

// ---
fn loaded(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path) // it knows the size and grows the Vec once
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    std::fs::write("loaded-rust", &content)?;
    let back = loaded("loaded-rust");
    std::fs::remove_file("loaded-rust")?;
    assert!(back? == content);
    println!("{}", content.len());
    Ok(())
}
