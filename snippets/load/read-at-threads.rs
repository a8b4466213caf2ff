// Several threads read the file into one Vec, each its own part.
use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;
use std::thread;

// ---
fn loaded(path: &str) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut whole = vec![0; file.metadata()?.len() as usize]; // zeros of the kernel: no page is there yet
    let part = whole.len().div_ceil(thread::available_parallelism()?.get()).max(1);
    let read = |(number, chunk): (usize, &mut [u8])| file.read_exact_at(chunk, (number * part) as u64);
    thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> = whole.chunks_mut(part).enumerate().map(|piece| scope.spawn(move || read(piece))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    Ok(whole)
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
