//! The `pagewise` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use pagewise::cli::{self, Cli};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap ends with 2 on wrong use; here 2 means a confirmed regression, and wrong use is 1.
            let wrong_use = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(u8::from(wrong_use));
        }
    };
    match cli::main(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("pagewise: {error:#}");
            ExitCode::from(1)
        }
    }
}
