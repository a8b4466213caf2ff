// A block that the program itself clears.

// ---
fn block(bytes: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(bytes);
    block.resize(bytes, 0); // every page is written here; vec![0; bytes] leaves that to the first use
    block
}
// ---

fn main() {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let block = block(bytes);
    assert!(block.iter().all(|byte| *byte == 0));
    println!("{}", block.len());
}
