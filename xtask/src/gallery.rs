//! The gallery of this repository: a shared file of each real machine whose whole run is in `docs/evidence/runs`, and its site.

use crate::Failure;
use crate::command::{cargo, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs of the evidence that are shared, one of each machine.
const RUNS: [&str; 2] = ["overview", "same-day-1"];
/// Folder of the site, which git ignores.
const SITE: &str = "target/gallery";

/// Writes `gallery/shared` and the site anew.
pub fn make(root: &Path) -> Result<(), Failure> {
    run(cargo(
        root,
        &["build", "--release", "--package", "pagewise"],
    ))?;
    let program = root.join("target/release/pagewise");
    let shared = root.join("gallery/shared");
    fs::create_dir_all(&shared).map_err(|error| format!("{}: {error}", shared.display()))?;
    for name in RUNS {
        let mut share = Command::new(&program);
        share
            .args(["share", "--force"])
            .arg(root.join("docs/evidence/runs").join(name))
            .current_dir(&shared);
        run(share)?;
    }
    let mut gallery = Command::new(&program);
    gallery
        .args(["gallery", "gallery/shared", "--force", "--html", SITE])
        .current_dir(root);
    run(gallery)?;
    println!("{}", root.join(SITE).join("index.html").display());
    Ok(())
}
