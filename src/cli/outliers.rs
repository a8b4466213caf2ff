//! `pagewise compare --outliers` and `--by`: the runs of many machines by kinds of machine, the odd ones, and kinds compared.

use super::compare::CompareArgs;
use super::damage::DAMAGED;
use super::output::print_styled;
use super::share::{self, is_shared};
use super::{named, runs_folder};
use crate::{machine::threads::side_by_side, plan::catalog};
use anyhow::{Context, Result, ensure};
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

/// Compares the runs of many machines. Exit code 3 for damaged ones, with `--strict` also for odd ones; 4 if none can be read.
pub(super) fn search(arguments: &CompareArgs) -> Result<u8> {
    let margin = arguments.margin.as_deref().unwrap_or(MARGIN);
    let margin = sizes::parse_share(margin).context("--margin")?;
    // Before ten thousand folders are read, which takes its time.
    arguments.output.check()?;
    let places = places(arguments)?;
    let built_in = places
        .iter()
        .any(|path| is_shared(&path.to_string_lossy()))
        .then(catalog::built_in)
        .transpose()?;
    let by = by(arguments, built_in.is_some())?;
    let gathered = gathered(&places, built_in.as_ref());
    let code = name_damage(&gathered);
    let mut judged = outliers::judge(&gathered, &by, margin);
    outliers::explain(&mut judged, &gathered);
    let again = if built_in.is_some() {
        String::new()
    } else {
        command(&judged)
    };
    let document = report::outliers::document(&judged, &again, &anew(arguments));
    print_styled(&arguments.output.text(&judged, &document)?)?;
    let is_odd = arguments.strict && !judged.odd.is_empty();
    Ok(match judged.nodes {
        0 => 4,
        _ if is_odd => DAMAGED,
        _ => code,
    })
}

/// Facts by which machines are of one kind; `has_shared` where shared files take part, which have fewer.
fn by(arguments: &CompareArgs, has_shared: bool) -> Result<Vec<String>> {
    let known = BY.into_iter().chain([HOST]);
    for fact in &arguments.by {
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
    if !arguments.by.is_empty() {
        return Ok(arguments.by.clone());
    }
    let by = BY
        .iter()
        .filter(|fact| !has_shared || !UNSHARED.contains(fact));
    Ok(by.map(|fact| (*fact).to_owned()).collect())
}

/// The runs: those in the folders, and those that are named; each once.
fn places(arguments: &CompareArgs) -> Result<Vec<PathBuf>> {
    let mut places = BTreeSet::new();
    for folder in &arguments.outliers {
        let folder = Folder::open(folder)?.path().to_owned();
        places.extend(paths(&folder)?);
    }
    for word in arguments.first.iter().chain(&arguments.second) {
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

/// The command that makes its page anew.
fn anew(arguments: &CompareArgs) -> String {
    let mut command = vec!["pagewise compare".to_owned()];
    let margin = arguments.margin.iter();
    command.extend(margin.map(|margin| format!("--margin {}", quoted(margin))));
    command.extend((!arguments.by.is_empty()).then(|| format!("--by {}", arguments.by.join(","))));
    let runs = arguments.first.iter().chain(&arguments.second);
    command.extend(runs.map(|run| quoted(run)));
    let folders = arguments.outliers.iter();
    let folders =
        folders.map(|folder| format!("--outliers {}", quoted(&folder.display().to_string())));
    command.extend(folders);
    command.push("--html PAGE.html".to_owned());
    command.join(" ")
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
