//! The loop between two commits: under a minute once everything is built.

use crate::Failure;
use crate::command::{cargo, git, run};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Simulations that take longer than everything else together; `.ci/run` and `cargo test` have them.
const SIMULATIONS: [&str; 2] = [
    "an_interim_analysis_ends_a_try_sooner_and_is_wrong_no_more_often",
    "identical_commands_are_called_different_in_at_most_5_percent_of_tries",
];

/// Formatting, lints of the packages that changed, the tests that start nothing, and the house.
pub fn quick(root: &Path) -> Result<(), Failure> {
    let begun = Instant::now();
    run(cargo(root, &["fmt", "--all", "--check"]))?;
    let changed = changed(root)?;
    let packages = packages(&changed);
    if !packages.is_empty() {
        let mut words = vec!["clippy", "--all-targets"];
        for package in &packages {
            words.extend(["-p", package.as_str()]);
        }
        words.extend(["--", "-D", "warnings"]);
        run(cargo(root, &words))?;
    }
    let targets = test_targets(root)?;
    let mut words = vec!["test", "--workspace", "--lib", "--bins", "--test", "house"];
    for target in &targets {
        words.extend(["--test", target.as_str()]);
    }
    words.extend(["--quiet", "--"]);
    for simulation in SIMULATIONS {
        words.extend(["--skip", simulation]);
    }
    run(cargo(root, &words))?;
    println!("quick: {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Files that differ from the last commit; of a clean tree those that the last commit changed.
fn changed(root: &Path) -> Result<Vec<String>, Failure> {
    let paths = |text: String| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let mut files = paths(git(root, &["diff", "--name-only", "HEAD"])?);
    files.extend(paths(git(
        root,
        &["ls-files", "--others", "--exclude-standard"],
    )?));
    if files.is_empty() {
        files = paths(git(root, &["diff", "--name-only", "HEAD~1"])?);
    }
    Ok(files)
}

/// Packages that these files belong to.
fn packages(files: &[String]) -> BTreeSet<String> {
    files
        .iter()
        .filter(|file| file.ends_with(".rs") || file.ends_with("Cargo.toml"))
        .filter_map(|file| package_of(file))
        .collect()
}

/// The package that a file belongs to; `None` for a workspace of its own, such as the fuzz targets.
fn package_of(file: &str) -> Option<String> {
    let mut folders = file.split('/');
    match (folders.next()?, folders.next()) {
        ("crates", Some(name)) => Some(format!("pagewise-{name}")),
        ("workers", _) => Some("pagewise-workers".to_owned()),
        ("xtask", _) => Some("xtask".to_owned()),
        ("src" | "tests" | "benches" | "build.rs" | "Cargo.toml", _) => Some("pagewise".to_owned()),
        _ => None,
    }
}

/// Names of the integration tests of the crates, which start nothing.
fn test_targets(root: &Path) -> Result<BTreeSet<String>, Failure> {
    let files = git(root, &["ls-files", "--", "crates/*/tests/*.rs"])?;
    let name = |file: &str| {
        let (folder, name) = file.rsplit_once('/')?;
        let stem = name.strip_suffix(".rs")?;
        folder.ends_with("/tests").then(|| stem.to_owned())
    };
    Ok(files.lines().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulations_that_are_left_out_are_there() {
        let path = crate::root().join("crates/judge/src/program/trial/mod.rs");
        let text = std::fs::read_to_string(path).unwrap();
        for name in SIMULATIONS {
            assert!(text.contains(&format!("fn {name}()")), "{name}");
        }
    }

    #[test]
    fn files_belong_to_packages() {
        let files = [
            "crates/judge/src/sets/gate.rs",
            "crates/judge/tests/runs.rs",
            "src/cli/mod.rs",
            "workers/c/harness/worker.h",
            "workers/build.rs",
            "docs/faq.md",
            "fuzz/targets/plan.rs",
        ];
        let files = files.map(str::to_owned);
        assert_eq!(
            Vec::from_iter(packages(&files)),
            ["pagewise", "pagewise-judge", "pagewise-workers"]
        );
    }
}
