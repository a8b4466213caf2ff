//! `pagewise runs`: what is kept, and what becomes of it.

mod index;
mod tags;

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use record::folder::RunFolder;
use record::sizes::about_size;
use record::summary::Summary;

use super::{print, profile, runs_folder, trial};
use crate::run;
use index::Entry;

/// The words after `runs`.
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
    /// What one run was asked, what became of its cells, and where it lies.
    #[command(after_help = "Example: pagewise runs show 20261121T171805Z-1a2b3c4d")]
    Show {
        /// An id, or a folder's path.
        run: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Removes kept runs, after asking.
    #[command(after_help = "Example: pagewise runs rm 20261121T171805Z-1a2b3c4d --yes")]
    Rm {
        /// Ids of kept runs.
        #[arg(required = true)]
        runs: Vec<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Gives a run tags, by which compare and this list take several at once.
    #[command(after_help = "Example: pagewise runs tag 20261121T171805Z-1a2b3c4d before")]
    Tag {
        /// An id, or a folder's path.
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
            let kept = tags::change(&RunFolder::open(run, &runs_folder())?, tags, *remove)?;
            let words = if kept.is_empty() { "no tags".to_owned() } else { kept.join(" ") };
            print(&format!("{run}: {words}\n"))
        }
    }
}

/// The names of all kept runs of a tag; an error where there is none.
pub(super) fn tagged(tag: &str) -> Result<Vec<String>> {
    let store = runs_folder();
    let own = index::entries(&store).into_iter().filter(|e| e.tags.iter().any(|own| own == tag));
    let found: Vec<String> = own.map(|e| store.join(e.run).display().to_string()).collect();
    if found.is_empty() {
        bail!("no kept run has the tag {tag:?}; pagewise runs tag RUN {tag} gives it one");
    }
    Ok(found)
}

fn list(arguments: &RunsArgs) -> Result<u8> {
    let store = runs_folder();
    let all = index::entries(&store);
    if all.is_empty() && !arguments.json {
        return print(&format!("no runs are kept yet below {}\n", store.display()));
    }
    let found: Vec<&Entry> = all.iter().filter(|entry| is_wanted(entry, arguments)).collect();
    if arguments.json {
        return print(&(serde_json::to_string_pretty(&found)? + "\n"));
    }
    let mut text = String::new();
    for entry in &found {
        let tags: String = entry.tags.iter().map(|tag| format!("  #{tag}")).collect();
        let line =
            format!("{}  {}  {}  {}{tags}", entry.run, entry.created, about_size(entry.bytes as f64), entry.words);
        text += &(inert(&line) + "\n");
    }
    let bytes: u64 = found.iter().map(|e| e.bytes).sum();
    text += &format!("{} of {} runs, {}\n", found.len(), all.len(), about_size(bytes as f64));
    print(&text)
}

/// What a folder's files say may have been written by anybody, and must not steer the terminal.
fn inert(text: &str) -> String {
    report::inert::inert(text)
}

fn is_wanted(entry: &Entry, asked: &RunsArgs) -> bool {
    let experiment = |wanted: &String| entry.experiments.contains(wanted);
    let host = |wanted: &String| entry.host.split(' ').any(|word| word.starts_with(wanted.as_str()));
    let until = |until: &String| entry.created.chars().take(until.chars().count()).collect::<String>() <= *until;
    asked.experiment.as_ref().is_none_or(experiment)
        && asked.host.as_ref().is_none_or(host)
        && asked.since.as_ref().is_none_or(|since| entry.created >= *since)
        && asked.until.as_ref().is_none_or(until)
        && asked.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
}

fn show(name: &str, json: bool) -> Result<u8> {
    if trial::open(name)?.is_some() {
        return Ok(trial::report_try(name, json, None)?.unwrap_or(0));
    }
    if let Some(code) = profile::report_profile(name, json, None)? {
        return Ok(code);
    }
    let folder = RunFolder::open(name, &runs_folder())?;
    let state = folder.state()?;
    let plan = &state.plan;
    let launches = folder.launches()?.records;
    let mut cells: BTreeMap<&str, usize> = BTreeMap::new();
    let summary = folder.read_json::<Summary>("summary.json");
    for cell in summary.iter().flat_map(|s| &s.cells).filter(|c| !c.hidden) {
        *cells.entry(cell.status.word()).or_default() += 1;
    }
    let ended = match &state.ended {
        Some(ended) => ended.stopped_by.map_or("finished".to_owned(), |signal| format!("stopped by signal {signal}")),
        None => "interrupted".to_owned(),
    };
    let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let bytes: u64 = files.filter_map(|e| e.metadata().ok()).map(|m| m.len()).sum();
    let host = summary.as_ref().map_or_else(|_| BTreeMap::new(), |s| s.host.clone());
    let value = serde_json::json!({
        "run": plan.run, "folder": folder.path(), "created": plan.created, "version": plan.version,
        "experiments": plan.experiments.iter().map(|e| &e.name).collect::<Vec<_>>(), "host": host,
        "seed": plan.seed, "budget_s": state.budget_s, "margin": plan.margin, "launches": launches.len(),
        "launch_s": launches.iter().map(|l| l.wall_s).sum::<f64>(), "cells": cells, "ended": ended,
        "another_run_beside": state.had_company, "bytes": bytes, "tags": tags::of(folder.path()), "workers": plan.workers,
    });
    if json {
        return print(&(serde_json::to_string_pretty(&value)? + "\n"));
    }
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        text += &inert(&format!("{:<19} {}", key.replace('_', " "), plain(value)));
        text.push('\n');
    }
    print(&text)
}

/// A JSON value in a line.
fn plain(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(fields) if fields.is_empty() => "none".to_owned(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key} {}", plain(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// The folders of kept runs, and of nothing else: a name that leads out of the store is refused.
fn kept(names: &[String]) -> Result<Vec<PathBuf>> {
    let store = runs_folder();
    let real = fs::canonicalize(&store).with_context(|| format!("there is no store of runs at {}", store.display()))?;
    let one = |name: &String| -> Result<PathBuf> {
        let given = PathBuf::from(name);
        let path = if given.is_absolute() { given } else { store.join(name) };
        let found = fs::symlink_metadata(&path).ok().filter(|m| m.is_dir());
        let inside = found.and_then(|_| fs::canonicalize(&path).ok()).filter(|p| p.parent() == Some(&real));
        let Some(path) = inside else { bail!("{name:?} is no run among those kept in {}", store.display()) };
        match path.join("plan.json").is_file() {
            true => Ok(path),
            false => bail!("{name:?} is no run: it has no plan.json"),
        }
    };
    let mut paths: Vec<PathBuf> = names.iter().map(one).collect::<Result<_>>()?;
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn remove(names: &[String], yes: bool) -> Result<u8> {
    let paths = kept(names)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            bail!("runs rm asks before it removes anything; --yes answers where nobody can");
        }
        let count = if paths.len() == 1 { "1 run".to_owned() } else { format!("{} runs", paths.len()) };
        eprint!("remove {count} for good? [y/N] ");
        std::io::stderr().flush().context("cannot ask")?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            return print("nothing was removed\n");
        }
    }
    for path in &paths {
        let folder = RunFolder::open(&path.display().to_string(), path)?;
        // A run that is being made is not taken away from under it.
        let _lock = run::lock(&folder)?;
        fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let names: Vec<_> = paths.iter().filter_map(|p| p.file_name()).map(|n| n.to_string_lossy()).collect();
    print(&format!("removed {}\n", names.join(" ")))
}
