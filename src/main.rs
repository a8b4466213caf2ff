//! The `pagewise` command.
#![forbid(unsafe_code)]

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use pagewise::cli::{self, Cli};
use record::sizes;
use rustix::process::{Resource, getrlimit};
use std::{process::ExitCode, thread::JoinHandle};

/// Bytes of stack for all work: enough under any `ulimit -s`.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    pagewise::run::start();
    // A second thread has a heap of its own, which takes address space: only where the stack is too small for the work.
    if getrlimit(Resource::Stack)
        .current
        .is_none_or(|bytes| bytes >= STACK as u64)
    {
        return work();
    }
    match std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .map(JoinHandle::join)
    {
        Ok(Ok(code)) => code,
        // A panic has said its words.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            complain(&format!("cannot start a thread: {error}"));
            ExitCode::from(1)
        }
    }
}

/// Prints an error.
fn complain(text: &str) {
    pagewise::run::lines::remark(&format!("pagewise: {text}"));
}

fn work() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap ends with 2 on wrong use; here 2 means a confirmed regression, and wrong use is 1.
            let wrong_use = error.use_stderr();
            if std::env::args_os().len() == 1 {
                eprint!("{}", cli::help::FIRST);
            } else if wrong_use
                && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            {
                let known = unknown_verb(&error).or_else(|| refused_value(&error));
                complain(&known.unwrap_or_else(|| in_one_sentence(&error.render().to_string())));
            } else if error.kind() == ErrorKind::DisplayVersion && std::env::args_os().len() > 2 {
                complain("--version stands alone: it takes no other word");
                return ExitCode::from(1);
            } else {
                let _ = error.print();
            }
            return ExitCode::from(u8::from(wrong_use));
        }
    };
    match cli::main(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(1)
        }
    }
}

/// A sentence on a first word that is no verb, with the nearest verb.
fn unknown_verb(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let command = Cli::command();
    let verbs = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .map(clap::Command::get_name);
    let first = std::env::args().nth(1);
    let is_first = first.as_ref() == Some(word);
    if is_first && std::path::Path::new(word).exists() {
        return Some(cli::help::on_file(word));
    }
    if first.as_deref() == Some("--") {
        return Some(format!(
            "a command follows a verb: pagewise profile -- {word}, or pagewise try --with thp -- {word}"
        ));
    }
    let hint = sizes::did_you_mean(word, verbs);
    is_first.then(|| format!("there is no verb \"{word}\"{hint} (pagewise --help lists them)"))
}

/// A sentence on an option's value that our own parser refuses: `--budget: "1x" is not a time …`.
fn refused_value(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let why =
        std::error::Error::source(error).filter(|why| !why.is::<std::num::ParseIntError>())?;
    Some(format!(
        "{}: {why}",
        option.split(' ').next().unwrap_or(option)
    ))
}

/// clap's account of wrong use, which takes several paragraphs: what is wrong, and the tip where there is one.
fn in_one_sentence(text: &str) -> String {
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let mut sentence = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    if let Some(tip) = paragraphs.find_map(|p| p.trim().strip_prefix("tip: ")) {
        sentence += &format!("; {}", tip.lines().next().unwrap_or_default());
    }
    sentence
}
