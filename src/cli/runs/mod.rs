//! `pagewise runs`: what is kept, and what becomes of it.

mod index;

use super::damage::{code_of_program, code_of_run};
use super::opened::{JudgedFolder, Judging, open_any};
use super::output::{ShownArgs, print_folded};
use super::{named, named::first_of, print, print_json, printed::Printed, runs_folder, tags};
use crate::{plan::catalog, run};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use files::Folder;
pub(super) use index::{Entry, entries};
use record::{folder::RunFolder, sizes::about_size};
use report::escape::terminal;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Indent of what goes on in a further line of the list.
const FURTHER: usize = 4;
/// Column of the values of a run.
const VALUE: usize = 20;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct RunsArgs {
    #[command(subcommand)]
    what: Option<RunsVerb>,
    /// Runs of this experiment only.
    #[arg(long, value_name = "EXPERIMENT")]
    experiment: Option<String>,
    /// Runs of machines whose name or hash begins like this.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Runs made at this time or later: 2026-11, 2026-11-21, 2026-11-21T08 …
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Runs made at this time or earlier; a day means all of it.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Runs with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Print them as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum RunsVerb {
    /// Show one run: its plan, the outcome of its cells, and its place.
    #[command(after_help = "Example: pagewise runs show 20261121T171805Z-1a2b3c4d")]
    Show {
        /// An id, a folder's path, `last` or tag:NAME.
        run: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Removes kept runs, after asking.
    #[command(after_help = "Example: pagewise runs rm 20261121T171805Z-1a2b3c4d --yes")]
    Rm {
        /// Ids of kept runs, `last` or tag:NAME.
        #[arg(required = true)]
        runs: Vec<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Gives a run tags, by which compare and this list take several at once.
    #[command(after_help = "Example: pagewise runs tag 20261121T171805Z-1a2b3c4d before")]
    Tag {
        /// An id, a folder's path or `last`.
        run: String,
        /// The tags.
        #[arg(required = true)]
        tags: Vec<String>,
        /// Take them from it instead.
        #[arg(long)]
        remove: bool,
    },
}

pub(super) fn runs(arguments: &RunsArgs) -> Result<u8> {
    match &arguments.what {
        None => list(arguments),
        Some(RunsVerb::Show { run, json }) => show(run, *json),
        Some(RunsVerb::Rm { runs, yes }) => remove(runs, *yes),
        Some(RunsVerb::Tag { run, tags, remove }) => {
            let kept = tags::change(&named::folder(run)?.mine()?, tags, *remove)?;
            let tags = if kept.is_empty() {
                "no tags".to_owned()
            } else {
                kept.join(" ")
            };
            print(&format!("{run}: {tags}\n"))
        }
    }
}

fn list(arguments: &RunsArgs) -> Result<u8> {
    let store = runs_folder();
    let (since, until) = (
        moment(&arguments.since, "--since")?,
        moment(&arguments.until, "--until")?,
    );
    if let (Some(since), Some(until)) = (since, until)
        && since[..since.len().min(until.len())] > until[..until.len().min(since.len())]
    {
        bail!("--since {since} is later than --until {until}");
    }
    let kept = entries(&store);
    check_filters(&kept, arguments)?;
    if kept.is_empty() && !arguments.json {
        return print_folded(
            &format!("no runs are kept yet below {}\n", store.display()),
            FURTHER,
        );
    }
    let entries: Vec<&Entry> = kept
        .iter()
        .filter(|entry| is_wanted(entry, arguments))
        .collect();
    if arguments.json {
        return print_json(&entries);
    }
    let mut text = lines(&entries);
    let bytes: u64 = entries.iter().map(|e| e.bytes).sum();
    text += &format!(
        "{} of {} runs, {}\n",
        entries.len(),
        kept.len(),
        about_size(bytes as f64)
    );
    print_folded(&text, FURTHER)
}

/// An error if no run can be of the experiment, or none has the tag.
fn check_filters(kept: &[Entry], arguments: &RunsArgs) -> Result<()> {
    if let Some(name) = &arguments.experiment
        && !kept.iter().any(|entry| entry.experiments.contains(name))
    {
        catalog::find(&catalog::experiments(None)?, name)?;
    }
    if let Some(tag) = &arguments.tag
        && !kept.iter().any(|entry| entry.tags.contains(tag))
    {
        bail!("no kept run has the tag {tag:?}");
    }
    Ok(())
}

/// A line for each command that made runs.
fn lines(entries: &[&Entry]) -> String {
    let names: BTreeSet<&str> = entries.iter().map(|entry| entry.run.as_str()).collect();
    // Further runs of a command, by its first one.
    let mut further: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for entry in entries {
        if let Some(first) = first_of(&entry.run) {
            further.entry(first).or_default().push(entry.bytes);
        }
    }
    let mut text = String::new();
    for entry in entries {
        if first_of(&entry.run).is_some_and(|first| names.contains(first)) {
            continue;
        }
        let further = further.get(entry.run.as_str());
        let further_bytes: u64 = further.iter().copied().flatten().sum();
        let count = further.map_or_else(String::new, |runs| format!(" ({} runs)", runs.len() + 1));
        let line = format!(
            "{}  {}  {}  {}{count}{}",
            entry.run,
            entry.created.get(..16).unwrap_or(&entry.created),
            about_size((entry.bytes + further_bytes) as f64),
            entry.description,
            tags_of(entry)
        );
        text += &terminal(&line);
        text.push('\n');
    }
    text
}

fn tags_of(entry: &Entry) -> String {
    entry.tags.iter().map(|tag| format!("  #{tag}")).collect()
}

/// The beginning of a time in RFC 3339, from a year to a second; a sentence where it is none.
fn moment<'a>(text: &'a Option<String>, option: &str) -> Result<Option<&'a str>> {
    const FIRST: &str = "0000-01-01T00:00:00Z";
    let Some(text) = text else { return Ok(None) };
    let is_whole = [4, 7, 10, 13, 16, 19, 20].contains(&text.len()) && text.is_ascii();
    if !is_whole
        || format!("{text}{}", &FIRST[text.len()..])
            .parse::<jiff::Timestamp>()
            .is_err()
    {
        bail!("{option} {text:?} is no time such as 2026-11, 2026-11-21 or 2026-11-21T08:30");
    }
    Ok(Some(text))
}

fn is_wanted(entry: &Entry, arguments: &RunsArgs) -> bool {
    let RunsArgs {
        experiment,
        host,
        since,
        until,
        tag,
        ..
    } = arguments;
    experiment
        .as_ref()
        .is_none_or(|name| entry.experiments.contains(name))
        && host
            .as_ref()
            .is_none_or(|start| entry.host.split(' ').any(|word| word.starts_with(start)))
        && since.as_ref().is_none_or(|since| entry.created >= *since)
        && until.as_ref().is_none_or(|until| is_until(entry, until))
        && tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
}

/// True if a run was made at this time or earlier; a day means all of it.
fn is_until(entry: &Entry, until: &str) -> bool {
    let length = until.chars().count();
    let start: String = entry.created.chars().take(length).collect();
    start.as_str() <= until
}

/// Describes a kept run.
pub(super) fn show(name: &str, json: bool) -> Result<u8> {
    let (folder, summary) = match open_any(name)?.judge(Judging::Kept)? {
        JudgedFolder::Run(folder, summary) => (folder, summary),
        JudgedFolder::Program(kept, summary) => {
            let printed = Printed::Program {
                kept: &kept,
                summary: &summary,
            };
            printed.print(json, &ShownArgs::default())?;
            return Ok(code_of_program(&kept, printed.measured_code()));
        }
    };
    let state = folder.state()?;
    let plan = &state.plan;
    let launches = folder.launches()?.records;
    let mut cells: BTreeMap<String, usize> = BTreeMap::new();
    for cell in summary.cells.iter().filter(|c| !c.hidden) {
        *cells
            .entry(cell.outcome.status.word().to_owned())
            .or_default() += 1;
    }
    let stopped = |signal| format!("stopped by signal {signal}");
    let ended = state.ended.as_ref().map_or("interrupted".to_owned(), |e| {
        e.stopped_by.map_or("finished".to_owned(), stopped)
    });
    let bytes: u64 = Folder::open(folder.path())?
        .entries()?
        .iter()
        .map(|entry| entry.bytes)
        .sum();
    let value = serde_json::json!({
        "run": plan.run, "kind": folder.kind()?, "folder": folder.path(), "created": plan.created, "version": plan.version,
        "experiments": plan.experiments.iter().map(|e| &e.name).collect::<Vec<_>>(), "host": summary.host,
        "seed": plan.seed, "budget_s": state.budget_s, "margin": plan.margin, "launches": launches.len(),
        "launch_s": launches.iter().map(|l| l.wall_s).sum::<f64>(), "cells": cells, "ended": ended,
        "another_run_beside": state.had_contention, "bytes": bytes, "tags": tags::read(folder.path()), "workers": state.workers,
    });
    let code = code_of_run(&summary, 0);
    if json {
        print_json(&value)?;
        return Ok(code);
    }
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        text += &terminal(&format!("{:<19} {}", key.replace('_', " "), plain(value)));
        text.push('\n');
    }
    print_folded(&text, VALUE)?;
    Ok(code)
}

fn plain(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(fields) if fields.is_empty() => "none".to_owned(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key} {}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

/// The folders of kept runs, and of nothing else: a name that leads out of the store is refused.
fn kept(names: &[String]) -> Result<Vec<PathBuf>> {
    let store = runs_folder();
    let real = store
        .canonicalize()
        .with_context(|| format!("there is no store of runs at {}", store.display()))?;
    let mut paths = Vec::new();
    for word in names {
        for name in named::named(word)? {
            paths.push(path_in(&store, &real, &name)?);
        }
    }
    // An answer goes with all of its runs.
    let mut parts = Vec::new();
    for name in Folder::open(&real)?.names()? {
        let first = name.to_str().and_then(first_of);
        let is_named = |first| {
            paths
                .iter()
                .any(|path| path.file_name() == Some(OsStr::new(first)))
        };
        if first.is_some_and(is_named) {
            parts.push(real.join(name));
        }
    }
    paths.extend(parts);
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The folder of a run in the store, whose real path is `real`.
fn path_in(store: &Path, real: &Path, name: &str) -> Result<PathBuf> {
    let path = store.join(name);
    let is_folder = path.symlink_metadata().is_ok_and(|m| m.is_dir());
    let inside = path
        .canonicalize()
        .ok()
        .filter(|path| is_folder && path.parent() == Some(real));
    let Some(path) = inside else {
        bail!("{name:?} is no run among those kept in {}", store.display())
    };
    if path.join("plan.json").is_file() {
        Ok(path)
    } else {
        bail!("{name:?} is no run: it has no plan.json")
    }
}

fn remove(names: &[String], yes: bool) -> Result<u8> {
    let paths = kept(names)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            bail!("runs rm asks before it removes anything; --yes answers where nobody can");
        }
        let count = if paths.len() == 1 {
            "1 run".to_owned()
        } else {
            format!("{} runs", paths.len())
        };
        eprint!("remove {count} for good? [y/N] ");
        std::io::stderr().flush().context("cannot ask")?;
        let mut answer = String::new();
        std::io::stdin()
            .read_line(&mut answer)
            .context("cannot read the answer")?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            return print("nothing was removed\n");
        }
    }
    for path in &paths {
        let folder = RunFolder::open(&path.display().to_string(), path)?;
        // A run that is being made is not taken away from under it.
        let _lock = run::lock(&folder)?;
        Folder::open(&runs_folder())?.remove(path.file_name().unwrap_or_default())?;
    }
    let names: Vec<_> = paths
        .iter()
        .filter_map(|p| p.file_name())
        .map(|n| n.to_string_lossy())
        .collect();
    print_folded(&format!("removed {}\n", names.join(" ")), FURTHER)
}
