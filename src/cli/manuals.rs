//! `pagewise completions` and `pagewise man`: what shells and man(1) want to know of the verbs, made from the verbs themselves.

use super::output::{may_write, write};
use super::{Cli, print, runs::entries, runs_folder};
use crate::plan::{Laboratory, advice};
use anyhow::{Context, Result};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Sections of every page.
const COMMON: &str = include_str!("manual.roff");

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell.
    #[arg(required_unless_present = "names")]
    shell: Option<Shell>,
    /// Print the names that this verb takes: experiments, methods, kept runs, tags.
    #[arg(long, value_name = "VERB", conflicts_with = "shell")]
    names: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder to write the pages into; it is made where there is none.
    #[arg(long, value_name = "DIR", required = true)]
    out: PathBuf,
    /// Replace pages that are there.
    #[arg(long)]
    force: bool,
}

pub(super) fn completions(cli: &Cli, arguments: &CompletionsArgs) -> Result<u8> {
    let Some(shell) = arguments.shell else {
        let names = names(cli, arguments.names.as_deref().unwrap_or_default())?;
        return print(
            &names
                .iter()
                .map(|name| format!("{name}\n"))
                .collect::<String>(),
        );
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pagewise", &mut script);
    let names = match shell {
        Shell::Bash => include_str!("completions/bash"),
        Shell::Zsh => include_str!("completions/zsh"),
        Shell::Fish => include_str!("completions/fish"),
        _ => "",
    };
    print(&(String::from_utf8(script).context("a script is text")? + names))
}

fn names(cli: &Cli, verb: &str) -> Result<Vec<String>> {
    let mut names = match verb {
        "list" => experiments(&super::open(cli)?).into_iter().collect(),
        "run" | "show" | "check" => {
            let laboratory = super::open(cli)?;
            let visible = experiments(&laboratory);
            let methods = laboratory.workers.iter().flat_map(|w| w.methods());
            let mut names: BTreeSet<String> = methods
                .filter(|m| visible.contains(&m.experiment))
                .map(|m| format!("{}/{}", m.experiment, m.name))
                .collect();
            names.extend(visible);
            names.into_iter().collect()
        }
        "advise" => advice::topics()?
            .into_iter()
            .map(|topic| topic.id)
            .collect(),
        "report" | "compare" | "runs" | "share" => {
            let kept = entries(&runs_folder());
            let tags: BTreeSet<String> = kept
                .iter()
                .flat_map(|run| &run.tags)
                .map(|tag| format!("tag:{tag}"))
                .collect();
            let runs = kept.into_iter().rev().map(|run| run.run);
            std::iter::once("last".to_owned())
                .chain(tags)
                .chain(runs)
                .collect()
        }
        _ => Vec::new(),
    };
    names.retain(|name| is_completed(name));
    Ok(names)
}

/// Names of the visible experiments.
fn experiments(laboratory: &Laboratory) -> BTreeSet<String> {
    let visible = laboratory.experiments.iter().filter(|e| !e.hidden);
    visible.map(|e| e.name.clone()).collect()
}

/// True for a name that every shell takes for itself. A shell that completes a word may insert it as it is, so a name that a
/// shell would expand, split or take for an option is typed by hand.
fn is_completed(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:+@%,".contains(c);
    !name.starts_with('-') && name.chars().all(is_plain)
}

pub(super) fn man(arguments: &ManArgs) -> Result<u8> {
    files::Folder::make(&arguments.out)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    gather(&command, "pagewise", &mut pages);
    // Either all of them or none: half a manual is worse than an old one.
    for (name, _) in &pages {
        may_write(&page(&arguments.out, name), arguments.force)?;
    }
    for (name, text) in &pages {
        write(&page(&arguments.out, name), arguments.force, |out| {
            Ok(out.write_all(text)?)
        })?;
    }
    print(&format!(
        "{} pages are in {}\n",
        pages.len(),
        arguments.out.display()
    ))
}

fn page(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.1"))
}

/// The page of a command and those of what it has below it.
fn gather(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let example = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let page = command.clone().after_help(clap::builder::Resettable::Reset);
    let _ = clap_mangen::Man::new(page)
        .title(name.to_uppercase())
        .render(&mut text);
    if !example.is_empty() {
        text.extend(format!(".SH EXAMPLES\n{}\n", example.replace('-', "\\-")).into_bytes());
    }
    text.extend_from_slice(COMMON.as_bytes());
    pages.push((name.to_owned(), text));
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        gather(below, &format!("{name}-{}", below.get_name()), pages);
    }
}
