//! `pagewise fleet`: the run folders of many machines compared with each other.

use super::output::{OutputArgs, may_write, print_styled, write};
use super::{Laboratory, opened::DAMAGED, print};
use crate::machine::threads::side_by_side;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use files::Folder;
use judge::fleet::{BY, Gathered, explain, gather, judge, learn, open};
use record::fleet::{Fault, Fleet, Unread, folders};
use record::sizes;
use report::escape::pretty_json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

mod check_node;

pub(super) use check_node::{CheckNodeArgs, check_node};

/// Threads that read folders side by side, at most.
const MOST_READERS: usize = 16;
/// Damaged folders that are named one by one, at most.
const MOST_NAMED: usize = 10;
/// Folders that are held in memory as they were read.
const PIECE: usize = 512;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct FleetArgs {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    options: FleetOptions,
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

#[derive(Debug, Subcommand)]
enum What {
    /// Writes what nodes of each kind may cost, learnt from those that are not odd, for fleet check.
    #[command(after_help = "Example: pagewise fleet learn /shared/pagewise --out criteria.json")]
    Learn(LearnArgs),
    /// Measures this node and says in one line whether it is as others of its kind: a node health check.
    #[command(after_help = "Example: pagewise fleet check --criteria criteria.json --budget 20s")]
    Check(CheckNodeArgs),
}

/// Runs, and options of their judging.
#[derive(Debug, Args)]
struct FleetOptions {
    /// Folders with run folders, at most four levels deep. A folder called learn or check is written ./learn.
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
}

#[derive(Debug, Args)]
struct LearnArgs {
    #[command(flatten)]
    options: FleetOptions,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file where there is one.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A JSON object a line: each kind's cells, outliers, folders left out.
    Ndjson,
    /// A text file for node_exporter's textfile collector, in seconds.
    Openmetrics,
}

impl FleetOptions {
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

impl FleetArgs {
    /// True if this node is measured.
    pub(super) fn measures(&self) -> bool {
        matches!(self.what, Some(What::Check(_)))
    }
}

pub(super) fn fleet(
    laboratory: impl FnOnce() -> Result<Laboratory>,
    arguments: &FleetArgs,
) -> Result<u8> {
    match &arguments.what {
        Some(What::Learn(arguments)) => return learnt(arguments),
        Some(What::Check(arguments)) => return check_node(laboratory, arguments),
        None => {}
    }
    let (margin, by) = (arguments.options.margin()?, arguments.options.by()?);
    // Before ten thousand folders are read, which takes its time.
    arguments.output.check()?;
    arguments
        .out
        .as_ref()
        .map_or(Ok(()), |path| may_write(path, arguments.output.force))?;
    let gathered = arguments.options.gathered()?;
    let code = name_damage(&gathered);
    let mut judged = judge(&gathered, &by, margin);
    explain(&mut judged, &gathered);
    let document = report::fleet::document(&judged, &command(&judged), &arguments.options.anew());
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

fn learnt(arguments: &LearnArgs) -> Result<u8> {
    may_write(&arguments.out, arguments.force)?;
    let (margin, by) = (arguments.options.margin()?, arguments.options.by()?);
    let gathered = arguments.options.gathered()?;
    let code = name_damage(&gathered);
    let criteria = learn(&gathered, &by, margin).sealed()?;
    if criteria.kinds.is_empty() {
        bail!(
            "no kind has enough nodes to learn from: {} that are not odd",
            stats::apart::LEAST
        );
    }
    write(&arguments.out, arguments.force, |out| {
        Ok(out.write_all(pretty_json(&criteria)?.as_bytes())?)
    })?;
    let nodes: usize = criteria.kinds.iter().map(|kind| kind.nodes).sum();
    let cells = criteria.what.len();
    print(&format!(
        "learnt from {nodes} nodes of {} kinds, {cells} methods\n",
        criteria.kinds.len()
    ))?;
    Ok(code)
}

/// Names damaged folders, and those of another version or kind, on standard error; the exit code 3 where any is damaged.
fn name_damage(gathered: &Gathered) -> u8 {
    let is_damaged = |folder: &&Unread| matches!(folder.fault, Fault::Damaged { .. });
    let is_foreign = |folder: &&Unread| matches!(folder.fault, Fault::Foreign { .. });
    let unread = gathered.unread.iter();
    let named: Vec<&Unread> = unread
        .filter(|folder| is_damaged(folder) || is_foreign(folder))
        .collect();
    for folder in named.iter().take(MOST_NAMED) {
        remark!("pagewise: left out: {}", report::fleet::unread(folder));
    }
    if named.len() > MOST_NAMED {
        remark!("pagewise: left out: {} more", named.len() - MOST_NAMED);
    }
    u8::from(named.iter().any(is_damaged)) * DAMAGED
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
