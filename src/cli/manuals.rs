//! `pagewise completions` and `pagewise man`: what shells and man(1) want to know of the verbs, made from the verbs themselves.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::write::{may_write, write};
use super::{Cli, print};

/// The words after `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell.
    shell: Shell,
}

/// The words after `man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder to write the pages into; it is made where there is none.
    #[arg(long, value_name = "DIR", required = true)]
    out: PathBuf,
    /// Replace pages that are there.
    #[arg(long)]
    force: bool,
}

pub(super) fn completions(arguments: &CompletionsArgs) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "pagewise", &mut script);
    print(&String::from_utf8(script).context("a script is text")?)
}

pub(super) fn man(arguments: &ManArgs) -> Result<u8> {
    files::Folder::make(&arguments.out)?;
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let mut pages = Vec::new();
    gather(&all, "pagewise", &mut pages);
    // Either all of them or none: half a manual is worse than an old one.
    for (name, _) in &pages {
        may_write(&page(&arguments.out, name), arguments.force)?;
    }
    for (name, text) in &pages {
        write(&page(&arguments.out, name), arguments.force, |out| Ok(out.write_all(text)?))?;
    }
    print(&format!("{} pages are in {}\n", pages.len(), arguments.out.display()))
}

fn page(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.1"))
}

/// The page of a command and those of what it has below it.
fn gather(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut text);
    pages.push((name.to_owned(), text));
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        gather(below, &format!("{name}-{}", below.get_name()), pages);
    }
}
