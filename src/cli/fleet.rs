//! `pagewise fleet`: the run folders of many machines compared with each other.

use super::damage::DAMAGED;
use super::output::{OutputArgs, may_write, print_styled, write};
use crate::machine::threads::side_by_side;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use files::Folder;
use judge::sets::fleet::{BY, Gathered, explain, gather, judge, open};
use record::fleet::{Fault, Fleet, Unread, folders};
use record::sizes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Threads that read folders side by side, at most.
const MOST_READERS: usize = 16;
/// Damaged folders that are named one by one, at most.
const MOST_NAMED: usize = 10;
/// Folders that are held in memory as they were read.
const PIECE: usize = 512;

#[derive(Debug, Args)]
pub(super) struct FleetArgs {
    /// Folders with run folders, at most four levels deep.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// A node is odd only where it differs by more than this share.
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    margin: String,
    /// Facts by which nodes are of one kind [default: all of architecture, clocksource, cpu, cpus, free_page_reporting,
    /// governor, hypervisor, kernel, memory, microcode, page, pagewise, thp].
    #[arg(long, value_name = "FACT", value_delimiter = ',')]
    by: Vec<String>,
    /// Judge each run again from its transcripts, whose every changed byte is noticed, and not from its summary. Slow.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    output: OutputArgs,
    /// Write it for other programs instead.
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "markdown", "ascii"])]
    format: Option<Format>,
    /// The file to write [default: standard output]. It appears when it is whole.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with 3 where a node is odd.
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A JSON object a line: each kind's cells, outliers, folders left out.
    Ndjson,
    /// A text file for node_exporter's textfile collector, in seconds.
    Openmetrics,
}

impl FleetArgs {
    fn margin(&self) -> Result<f64> {
        sizes::parse_share(&self.margin).context("--margin")
    }

    fn by(&self) -> Result<Vec<String>> {
        if let Some(unknown) = self.by.iter().find(|word| !BY.contains(&word.as_str())) {
            bail!(
                "--by: nodes have no fact \"{unknown}\"{}",
                sizes::did_you_mean(unknown, BY.into_iter())
            );
        }
        Ok(if self.by.is_empty() {
            BY.map(str::to_owned).to_vec()
        } else {
            self.by.clone()
        })
    }

    /// The command that makes its page anew.
    fn anew(&self) -> String {
        let mut command = vec!["pagewise fleet".to_owned()];
        command.extend(
            self.folders
                .iter()
                .map(|folder| quoted(&folder.display().to_string())),
        );
        command.push(format!("--margin {}", quoted(&self.margin)));
        command.extend((!self.by.is_empty()).then(|| format!("--by {}", self.by.join(","))));
        command.extend(self.again.then(|| "--again".to_owned()));
        command.push("--html PAGE.html".to_owned());
        command.join(" ")
    }

    /// All runs; one that lies below two of the folders counts once.
    fn gathered(&self) -> Result<Gathered> {
        let mut paths = BTreeSet::new();
        for folder in &self.folders {
            let folder = Folder::open(folder)?.path().to_owned();
            paths.extend(folders(&folder)?);
        }
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        let mut gathered = Gathered::default();
        // In pieces, because a folder that was read is larger than what is kept of it.
        for piece in paths.chunks(PIECE) {
            let opened = side_by_side(piece, MOST_READERS, |path| open(path, self.again));
            opened
                .into_iter()
                .for_each(|opened| gather(&mut gathered, opened));
        }
        Ok(gathered)
    }
}

pub(super) fn fleet(arguments: &FleetArgs) -> Result<u8> {
    let (margin, by) = (arguments.margin()?, arguments.by()?);
    // Before ten thousand folders are read, which takes its time.
    arguments.output.check()?;
    arguments
        .out
        .as_ref()
        .map_or(Ok(()), |path| may_write(path, arguments.output.force))?;
    let gathered = arguments.gathered()?;
    let code = name_damage(&gathered);
    let mut judged = judge(&gathered, &by, margin);
    explain(&mut judged, &gathered);
    let document = report::fleet::document(&judged, &command(&judged), &arguments.anew());
    let mut text = arguments.output.text(&judged, &document)?;
    if let Some(format) = arguments.format {
        let mut bytes = Vec::new();
        match format {
            Format::Ndjson => report::export::fleet::ndjson(&judged, &mut bytes)?,
            Format::Openmetrics => report::export::fleet::openmetrics(&judged, &mut bytes)?,
        }
        text = String::from_utf8(bytes)?.into();
    }
    match &arguments.out {
        Some(path) => write(path, arguments.output.force, |out| {
            Ok(out.write_all(text.plain().as_bytes())?)
        })?,
        None => print_styled(&text).map(drop)?,
    }
    let is_odd = arguments.strict && !judged.odd.is_empty();
    Ok(match judged.nodes {
        0 => 4,
        _ if is_odd => 3,
        _ => code,
    })
}

/// Names damaged folders, and those of another version or kind, on standard error; the exit code 3 where any is damaged.
fn name_damage(gathered: &Gathered) -> u8 {
    let named: Vec<&Unread> = gathered
        .unread
        .iter()
        .filter(|folder| matches!(folder.fault, Fault::Damaged { .. } | Fault::Foreign { .. }))
        .collect();
    for folder in named.iter().take(MOST_NAMED) {
        remark!("pagewise: left out: {}", report::fleet::unread(folder));
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
fn command(fleet: &Fleet) -> String {
    let mut what = BTreeSet::new();
    let mut set: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let again = fleet
        .odd
        .iter()
        .filter(|node| fleet.rerun.contains(&node.node));
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
    let nodes: Vec<String> = fleet.rerun.iter().map(|node| quoted(node)).collect();
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
