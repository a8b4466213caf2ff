// A block of zeros, which the allocator asks the kernel for: no page is there before it is used.

// ---
fn block(bytes: usize) -> Vec<u8> {
    vec![0; bytes] // calloc; Vec::with_capacity and resize would write all of it
}
// ---

fn main() {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let mut block = block(bytes);
    block.chunks_mut(4096).for_each(|page| page[0] = 1);
    println!("{}", block.len());
}
