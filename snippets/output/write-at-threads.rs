// Several threads write the file, each its own part.
use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;
use std::thread;

// ---
fn written(path: &str, content: &[u8]) -> Result<()> {
    let file = File::create(path)?;
    let part = content.len().div_ceil(thread::available_parallelism()?.get()).max(1);
    let write = |(number, chunk): (usize, &[u8])| file.write_all_at(chunk, (number * part) as u64);
    thread::scope(|scope| {
        let write = &write;
        let threads: Vec<_> = content.chunks(part).enumerate().map(|piece| scope.spawn(move || write(piece))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
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
