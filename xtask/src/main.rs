//! `cargo xtask`: what developers of this repository run. It starts cargo and git, and depends on nothing of the product.

mod bless;
mod command;
mod docs;
mod gallery;
mod method;
mod quick;

use std::path::Path;
use std::process::ExitCode;

/// A sentence on what went wrong.
type Failure = String;

const USAGE: &str = "\
cargo xtask quick                       formatting, lints of what changed, pure tests, house
cargo xtask bless                       write schemas, results of kept runs and snapshots anew; then read git diff
cargo xtask new-method EXPERIMENT NAME  write a C method that compiles and conforms, to begin from
cargo xtask docs                        every page and decision stands in its index
cargo xtask gallery                     the gallery: shared runs of docs/evidence, this machine if its processor is new, the site";

/// Root of the repository.
fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["quick"] => quick::quick(root()),
        ["bless"] => bless::bless(root()),
        ["new-method", experiment, name] => method::write_new(root(), experiment, name),
        ["docs"] => docs::check(root()),
        ["gallery"] => gallery::make(root()),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
