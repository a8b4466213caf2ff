//! `pagewise compare --outliers` and `--by`: the runs of many machines by kinds of machine, the odd ones, and kinds compared.

use super::damage::DAMAGED;
use super::output::{OutputArgs, print_styled};
use super::share::{self, is_shared};
use super::{named, runs_folder};
use crate::{machine::threads::side_by_side, plan::catalog};
use anyhow::{Context, Result, ensure};
use clap::Args;
use files::Folder;
use judge::sets::outliers::{self, BY, Gathered, HOST, OpenedFolder, UNSHARED};
use record::folder::RunFolder;
use record::outliers::{Fault, OutlierSearch, Unread, paths};
use record::shared::BuiltIn;
use record::sizes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Threads that read runs side by side, at most.
const MOST_READERS: usize = 16;
/// Damaged folders that are named one by one, at most.
const MOST_NAMED: usize = 10;
/// Runs that are held in memory as they were read.
const PIECE: usize = 512;
/// Share by which a machine differs at the least where none is given.
const MARGIN: &str = "5%";

#[derive(Debug, Args)]
pub(super) struct OutlierArgs {
    /// Name the machines that are unlike their kind, among the run folders and shared files of this folder, at most four
    /// levels deep. May be repeated.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["first", "gate", "expect"])]
    outliers: Vec<PathBuf>,
    /// Put runs into groups by these facts, and compare the largest group with the others: host, cpu, kernel, or any of
    /// architecture, clocksource, cpus, free_page_reporting, governor, hypervisor, memory, microcode, page, pagewise, thp
    /// [default of --outliers: all but host]. By host, a run is the unit, and otherwise a machine.
    #[arg(long, value_name = "FACT", value_delimiter = ',', conflicts_with_all = ["gate", "expect"])]
    by: Vec<String>,
    /// With --outliers: exit with 3 where a machine is odd.
    #[arg(long)]
    strict: bool,
}

impl OutlierArgs {
    /// True if machines are compared, and not two sides.
    pub(super) fn are_given(&self) -> bool {
        !self.outliers.is_empty() || !self.by.is_empty()
    }

    /// Errors: an option without the one that it belongs to.
    pub(super) fn check(&self) -> Result<()> {
        ensure!(
            !self.strict || !self.outliers.is_empty(),
            "--strict belongs to --outliers FOLDER"
        );
        Ok(())
    }

    /// Compares the runs of many machines: those in the folders, and those that are named. Exit code 3 for damaged ones, with
    /// `--strict` also for odd ones; 4 if none can be read.
    pub(super) fn search(
        &self,
        runs: &[String],
        margin: Option<&str>,
        output: &OutputArgs,
    ) -> Result<u8> {
        let share = sizes::parse_share(margin.unwrap_or(MARGIN)).context("--margin")?;
        // Before ten thousand folders are read, which takes its time.
        output.check()?;
        let places = self.places(runs)?;
        let built_in = places
            .iter()
            .any(|path| is_shared(&path.to_string_lossy()))
            .then(catalog::built_in)
            .transpose()?;
        let by = self.by(built_in.is_some())?;
        let gathered = gathered(&places, built_in.as_ref());
        let code = name_damage(&gathered);
        let mut judged = outliers::judge(&gathered, &by, share);
        outliers::explain(&mut judged, &gathered);
        let again = if built_in.is_some() {
            String::new()
        } else {
            command(&judged)
        };
        let document = report::outliers::document(&judged, &again, &self.anew(runs, margin));
        print_styled(&output.text(&judged, &document)?)?;
        let is_odd = self.strict && !judged.odd.is_empty();
        Ok(match judged.nodes {
            0 => 4,
            _ if is_odd => DAMAGED,
            _ => code,
        })
    }

    /// Facts by which machines are of one kind; `has_shared` where shared files take part, which have fewer.
    fn by(&self, has_shared: bool) -> Result<Vec<String>> {
        let known = BY.into_iter().chain([HOST]);
        for fact in &self.by {
            ensure!(
                known.clone().any(|known| known == fact),
                "--by: machines have no fact \"{fact}\"{}",
                sizes::did_you_mean(fact, known.clone())
            );
            ensure!(
                !has_shared || fact != HOST && !UNSHARED.contains(&fact.as_str()),
                "--by: a shared file has no {fact}"
            );
        }
        if !self.by.is_empty() {
            return Ok(self.by.clone());
        }
        let by = BY
            .iter()
            .filter(|fact| !has_shared || !UNSHARED.contains(fact));
        Ok(by.map(|fact| (*fact).to_owned()).collect())
    }

    /// The runs: those in the folders, and those that are named; each once.
    fn places(&self, runs: &[String]) -> Result<Vec<PathBuf>> {
        let mut places = BTreeSet::new();
        for folder in &self.outliers {
            let folder = Folder::open(folder)?.path().to_owned();
            places.extend(paths(&folder)?);
        }
        for word in runs {
            for name in named::named(word)? {
                let is_file = is_shared(&name);
                places.insert(if is_file {
                    PathBuf::from(name)
                } else {
                    RunFolder::open(&name, &runs_folder())?.path().to_owned()
                });
            }
        }
        Ok(places.into_iter().collect())
    }

    /// The command that makes its page anew.
    fn anew(&self, runs: &[String], margin: Option<&str>) -> String {
        let mut command = vec!["pagewise compare".to_owned()];
        command.extend(margin.map(|margin| format!("--margin {}", quoted(margin))));
        command.extend((!self.by.is_empty()).then(|| format!("--by {}", self.by.join(","))));
        command.extend(runs.iter().map(|run| quoted(run)));
        let folders = self.outliers.iter();
        let folders =
            folders.map(|folder| format!("--outliers {}", quoted(&folder.display().to_string())));
        command.extend(folders);
        command.push("--html PAGE.html".to_owned());
        command.join(" ")
    }
}

fn gathered(places: &[PathBuf], built_in: Option<&BuiltIn>) -> Gathered {
    let mut gathered = Gathered::default();
    // In pieces, because a folder that was read is larger than what is kept of it.
    for piece in places.chunks(PIECE) {
        let opened = side_by_side(piece, MOST_READERS, |path| opened(path, built_in));
        opened
            .into_iter()
            .for_each(|opened| outliers::gather(&mut gathered, opened));
    }
    gathered
}

/// One run as it was read. Where shared files take part, a run folder counts by what it would share.
fn opened(path: &Path, built_in: Option<&BuiltIn>) -> OpenedFolder {
    let Some(built_in) = built_in else {
        return outliers::open(path);
    };
    let name = path.to_string_lossy();
    let run = if is_shared(&name) {
        share::read(path, built_in)
    } else {
        share::of_run(&name, built_in).map(|part| part.run)
    };
    outliers::of_shared(path, run)
}

/// Names damaged folders, and those of another version or kind, on standard error; the exit code 3 where any is damaged.
fn name_damage(gathered: &Gathered) -> u8 {
    let named: Vec<&Unread> = gathered
        .unread
        .iter()
        .filter(|folder| matches!(folder.fault, Fault::Damaged { .. } | Fault::Foreign { .. }))
        .collect();
    for folder in named.iter().take(MOST_NAMED) {
        remark!("pagewise: left out: {}", report::outliers::unread(folder));
    }
    if named.len() > MOST_NAMED {
        remark!("pagewise: left out: {} more", named.len() - MOST_NAMED);
    }
    let is_damaged = named
        .iter()
        .any(|folder| matches!(folder.fault, Fault::Damaged { .. }));
    u8::from(is_damaged) * DAMAGED
}

/// A line for ClusterShell that measures, on every node of the rerun list, what it was odd in. Each node names its own folder:
/// ClusterShell would replace a %h only in commands that it does not send to nodes.
fn command(search: &OutlierSearch) -> String {
    let mut what = BTreeSet::new();
    let mut set: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let again = search
        .odd
        .iter()
        .filter(|node| search.rerun.contains(&node.node));
    for finding in again.flat_map(|node| &node.findings) {
        let (cell, parameters) = finding.cell();
        what.insert(quoted(cell));
        for (key, value) in parameters {
            set.entry(key).or_default().insert(value);
        }
    }
    let set = set.into_iter().map(|(key, values)| {
        let values: Vec<&str> = values.into_iter().collect();
        format!("--set {}", quoted(&format!("{key}={}", values.join(","))))
    });
    let run: Vec<String> = what.into_iter().chain(set).collect();
    let nodes: Vec<String> = search.rerun.iter().map(|node| quoted(node)).collect();
    format!(
        "clush -w {} \"pagewise run {} --out DIR/\\$(hostname -s)-again\"",
        nodes.join(","),
        run.join(" ")
    )
}

/// A word as a shell takes it. Names may have been written by anybody.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%_+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Within the double quotes of the whole, so nothing is left that these would not hold.
    format!("'{}'", word.replace(['\'', '"', '`', '$', '\\', '!'], "?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_made_up_runs_nothing() {
        assert_eq!(quoted("fault/thp@c-O3"), "fault/thp@c-O3");
        assert_eq!(quoted("n1; rm -rf $HOME"), "'n1; rm -rf ?HOME'");
        assert_eq!(quoted("a'b\"`c`"), "'a?b??c?'");
    }
}
