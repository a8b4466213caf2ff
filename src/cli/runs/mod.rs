//! `pagewise runs`: what is kept, and what becomes of it.

mod index;

use super::damage::{code_of_program, code_of_run};
use super::opened::{Judged, Judging, open_any};
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
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

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
    let all = entries(&store);
    if let Some(name) = &arguments.experiment
        && !all.iter().any(|entry| entry.experiments.contains(name))
    {
        catalog::find(&catalog::experiments(None)?, name)?;
    }
    if let Some(tag) = arguments
        .tag
        .as_ref()
        .filter(|tag| !all.iter().any(|entry| entry.tags.contains(tag)))
    {
        bail!("no kept run has the tag {tag:?}");
    }
    if all.is_empty() && !arguments.json {
        return print_folded(
            &format!("no runs are kept yet below {}\n", store.display()),
            FURTHER,
        );
    }
    let entries: Vec<&Entry> = all
        .iter()
        .filter(|entry| is_wanted(entry, arguments))
        .collect();
    if arguments.json {
        return print_json(&entries);
    }
    let mut text = String::new();
    let mut parts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    entries
        .iter()
        .filter_map(|e| Some((first_of(&e.run)?, e.bytes)))
        .for_each(|(f, b)| parts.entry(f).or_default().push(b));
    let names: BTreeSet<&str> = entries.iter().map(|entry| entry.run.as_str()).collect();
    for entry in entries
        .iter()
        .filter(|entry| first_of(&entry.run).is_none_or(|first| !names.contains(first)))
    {
        let tags: String = entry.tags.iter().map(|tag| format!("  #{tag}")).collect();
        let more = parts.get(entry.run.as_str()).map_or(&[][..], Vec::as_slice);
        let bytes = entry.bytes + more.iter().sum::<u64>();
        let (made, size) = (
            entry.created.get(..16).unwrap_or(&entry.created),
            about_size(bytes as f64),
        );
        let count = if more.is_empty() {
            String::new()
        } else {
            format!(" ({} runs)", more.len() + 1)
        };
        text += &(terminal(&format!(
            "{}  {made}  {size}  {}{count}{tags}",
            entry.run, entry.description
        )) + "\n");
    }
    let bytes: u64 = entries.iter().map(|e| e.bytes).sum();
    text += &format!(
        "{} of {} runs, {}\n",
        entries.len(),
        all.len(),
        about_size(bytes as f64)
    );
    print_folded(&text, FURTHER)
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
    let experiment = |wanted: &String| entry.experiments.contains(wanted);
    let host = |wanted: &String| {
        entry
            .host
            .split(' ')
            .any(|word| word.starts_with(wanted.as_str()))
    };
    let until = |until: &String| {
        entry
            .created
            .chars()
            .take(until.chars().count())
            .collect::<String>()
            <= *until
    };
    arguments.experiment.as_ref().is_none_or(experiment)
        && arguments.host.as_ref().is_none_or(host)
        && arguments
            .since
            .as_ref()
            .is_none_or(|since| entry.created >= *since)
        && arguments.until.as_ref().is_none_or(until)
        && arguments
            .tag
            .as_ref()
            .is_none_or(|tag| entry.tags.contains(tag))
}

/// Describes a kept run.
pub(super) fn show(name: &str, json: bool) -> Result<u8> {
    let (folder, summary) = match open_any(name)?.judge(Judging::Kept)? {
        Judged::Run(folder, summary) => (folder, summary),
        Judged::Program(kept, summary) => {
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
        *cells.entry(cell.outcome.status.word()).or_default() += 1;
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
        "another_run_beside": state.had_company, "bytes": bytes, "tags": tags::read(folder.path()), "workers": plan.workers,
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
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(" "),
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
    let path = |name: &String| -> Result<PathBuf> {
        let given = PathBuf::from(name);
        let path = if given.is_absolute() {
            given
        } else {
            store.join(name)
        };
        let metadata = path.symlink_metadata().ok().filter(|m| m.is_dir());
        let inside = metadata
            .and_then(|_| path.canonicalize().ok())
            .filter(|p| p.parent() == Some(&real));
        let Some(path) = inside else {
            bail!("{name:?} is no run among those kept in {}", store.display())
        };
        if path.join("plan.json").is_file() {
            Ok(path)
        } else {
            bail!("{name:?} is no run: it has no plan.json")
        }
    };
    let names: Vec<String> = names
        .iter()
        .map(|word| named::named(word))
        .collect::<Result<Vec<_>>>()?
        .concat();
    let mut paths: Vec<PathBuf> = names.iter().map(path).collect::<Result<_>>()?;
    // An answer goes with all of its runs.
    let others = Folder::open(&real)?
        .names()?
        .into_iter()
        .filter_map(|name| name.into_string().ok());
    let is_named = |first: &str| {
        paths
            .iter()
            .any(|path| path.file_name() == Some(first.as_ref()))
    };
    let named = |run: &str| first_of(run).is_some_and(is_named);
    let parts: Vec<PathBuf> = others
        .filter(|run| named(run))
        .map(|run| real.join(run))
        .collect();
    paths.extend(parts);
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
