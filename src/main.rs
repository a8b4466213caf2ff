//! The `pagewise` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use pagewise::cli::{self, Cli};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap ends with 2 on wrong use; here 2 means a confirmed regression, and wrong use is 1.
            let wrong_use = error.use_stderr();
            if wrong_use && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                eprintln!("pagewise: {}", in_one_sentence(&error.render().to_string()));
            } else {
                let _ = error.print();
            }
            return ExitCode::from(u8::from(wrong_use));
        }
    };
    match cli::main(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // What a file or an argument said may steer a terminal.
            let text = format!("{error:#}");
            let lines: Vec<String> = text.lines().map(report::inert::inert).collect();
            eprintln!("pagewise: {}", lines.join("\n"));
            ExitCode::from(1)
        }
    }
}

/// clap's account of wrong use, which takes several paragraphs: what is wrong, and the tip where there is one.
fn in_one_sentence(text: &str) -> String {
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let mut sentence = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    if let Some(tip) = paragraphs.find_map(|p| p.trim().strip_prefix("tip: ")) {
        sentence += &format!("; {}", tip.lines().next().unwrap_or_default());
    }
    sentence
}
