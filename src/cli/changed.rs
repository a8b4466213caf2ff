//! `bench --published`: a changed copy of an article's program beside the original form of it.

use super::command::{ProgramStudy, compare_programs};
use super::{Cli, first_given, print_document, run::RunArgs};
use crate::plan::published::{runnable, way};
use crate::run::command::arms;
use crate::run::guard::Scratch;
use crate::worker::functions::{WholeProgram, whole};
use crate::worker::{self, programs};
use anyhow::{Context, Result, bail, ensure};
use files::Folder;
use judge::program::printed::{END, times};
use record::command::{Arm, ArmRole};
use record::published::{ProgramInput, ProgramRun, RunnableProgram};
use record::sizes::parse_size;
use report::escape::shell;
use stats::rng::Seeded;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Limit of a program's text, in bytes.
const MOST_TEXT: u64 = 1 << 20;
/// Limit of what all launches of a program print, in bytes.
const MOST_PRINTED: u64 = 16 << 20;
/// Files of a study: what programs read, and what they may write.
const INPUT: &str = "input";
const OUTPUT: &str = "output";
/// The table of printed times in the folder of the study.
const PRINTED: &str = "printed.md";
/// Time of a launch, in seconds, after which it is ended.
const TIME_LIMIT_S: f64 = 120.0;

/// Two programs with the files of their launches, in a folder that is removed afterwards.
struct ProgramPair<'a> {
    folder: Folder,
    program: &'a RunnableProgram,
    run: &'a ProgramRun,
    /// The words that start the original, and the copy.
    started: [Vec<String>; 2],
    names: [String; 2],
}

impl RunArgs {
    /// Refuses what a comparison of whole programs has no use for.
    fn check_programs(&self) -> Result<()> {
        let given = [
            (self.all, "--all"),
            (!self.language.is_empty(), "--language"),
            (!self.select.set.is_empty(), "--set"),
            (self.baseline.is_some(), "--baseline"),
            (self.launches.is_some(), "--launches"),
            (self.watch, "--watch"),
            (self.resume.is_some(), "--resume"),
            (self.long, "--long"),
            (self.keep_environment, "--keep-environment"),
            (self.allow_system_changes, "--allow-system-changes"),
            (self.wait_for_quiet.is_some(), "--wait-for-quiet"),
            (self.strict, "--strict"),
            (self.dry_run, "--dry-run"),
            (self.shown.full, "--full"),
            (self.shown.page.has_file(), "--html"),
            (self.select.what.len() > 1, "a second way"),
        ];
        match first_given(&given) {
            Some(option) => {
                bail!("{option} has no effect on bench --published, which compares two programs")
            }
            None => Ok(()),
        }
    }
}

/// Compiles the article's program and its changed copy, and launches them in turn.
pub(super) fn compare(cli: &Cli, arguments: &RunArgs, name: &str, file: &str) -> Result<u8> {
    arguments.check_programs()?;
    let path = std::path::absolute(file)?;
    let (program, original) = runnable(name, &path)?;
    let run = way(program, arguments.select.what.first().map(String::as_str))?;
    let copy = files::read_input_text(&path, MOST_TEXT)?;
    let place = worker::private_cache("programs")?;
    let scratch = Scratch::within(place.path(), "programs")?;
    let folder = Folder::open(scratch.path())?;
    let workers = super::workers(cli)?;
    let compiled = |path: &Path, text: &str, below: &str| {
        let flags = &program.flags;
        let source = WholeProgram { path, text, flags };
        whole(source, &folder.make_folder(below)?, &workers)
    };
    let started = [
        compiled(Path::new(&program.file), original, "original")?,
        compiled(&path, &copy, "copy")?,
    ];
    let copied = path.file_name().unwrap_or_default().to_string_lossy();
    let pair = ProgramPair {
        folder,
        program,
        run,
        started,
        names: [format!("original {}", program.file), copied.into_owned()],
    };
    pair.make_input()?;
    let (kept, code) = compare_programs(ProgramStudy {
        arms: pair.arms()?,
        budget_s: arguments.budget,
        precision: arguments.precision,
        margin: arguments.margin,
        time_limit_s: arguments.time_limit.unwrap_or(TIME_LIMIT_S),
        seed: arguments.seed,
        out: arguments.out.clone(),
        json: arguments.json,
        force: arguments.shown.page.force,
    })?;
    let outputs: Vec<String> = (0..kept.plan.arms.len())
        .map(|arm| files::read_input_text(&pair.printed(arm), MOST_PRINTED).unwrap_or_default())
        .collect();
    let times = times(&run.prints, &kept.launches, &outputs);
    let study = Folder::open(&kept.path)?;
    study.write(format!("copy-of-{}", program.file), copy.as_bytes())?;
    if times.is_empty() {
        return Ok(code);
    }
    let [first, second] = &pair.names;
    let document = report::command::printed(&times, [first, second], &pair.sentence());
    study.write(PRINTED, report::markdown::render(&document).as_bytes())?;
    if !arguments.json {
        print_document(&document)?;
    }
    Ok(code)
}

impl ProgramPair<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// File to which an arm's launches print.
    fn printed(&self, arm: usize) -> PathBuf {
        self.path(&format!("printed-{arm}"))
    }

    /// The way in which both are compiled and started.
    fn sentence(&self) -> String {
        let flags = match self.program.flags.join(" ") {
            flags if flags.is_empty() => String::new(),
            flags => format!(", compiled with {flags}"),
        };
        format!(
            "Both started as {}{flags}; the times above are those of the whole processes.",
            self.run.arguments
        )
    }

    /// Makes the file that the programs read.
    fn make_input(&self) -> Result<()> {
        if self.program.input == ProgramInput::Nothing {
            return Ok(());
        }
        let bytes = parse_size(&self.program.input_bytes)?;
        if self.program.input == ProgramInput::Random {
            let mut random = RandomBytes {
                random: Seeded::new(1),
                left: bytes,
            };
            return Ok(self.folder.write_stream(INPUT, &mut random)?);
        }
        let (program, further) = self.started[0].split_first().context("no program")?;
        let mut command = Command::new(program);
        command.args(further).arg("make").arg(self.path(INPUT));
        let made = programs::answer(command.arg(bytes.to_string()), Stdio::null())?;
        ensure!(made.status.success(), "{} made no input", self.program.file);
        Ok(())
    }

    /// The arms of the comparison: the original, the copy, and the original once more.
    fn arms(&self) -> Result<Vec<Arm>> {
        let names = [
            self.names[0].as_str(),
            self.names[1].as_str(),
            "control (A/A)",
        ];
        let roles = [ArmRole::Baseline, ArmRole::Command, ArmRole::Again];
        let mut made = Vec::new();
        for (arm, (name, role)) in names.into_iter().zip(roles).enumerate() {
            let program = usize::from(role == ArmRole::Command);
            let mut line = self.started[program].clone();
            for argument in self.run.arguments.split_whitespace() {
                line.push(match argument {
                    "INPUT" => path_text(&self.path(INPUT))?,
                    "OUTPUT" => path_text(&self.path(OUTPUT))?,
                    plain => plain.to_owned(),
                });
            }
            let line: Vec<String> = line.iter().map(|argument| shell(argument)).collect();
            let printed = shell(&path_text(&self.printed(arm))?);
            // A launch whose end is missing has no time.
            let script = format!(
                "{} >>{printed}; code=$?; echo {} >>{printed}; exit $code",
                line.join(" "),
                shell(END)
            );
            let command = ["/bin/sh", "-c", script.as_str()]
                .map(str::to_owned)
                .to_vec();
            let shown = format!("{} {}", self.names[program], self.run.arguments);
            made.push(arms::plain(name, role, &shown, command));
        }
        Ok(made)
    }
}

fn path_text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("{} is not UTF-8", path.display()))
}

/// So many bytes that nothing can foretell.
struct RandomBytes {
    random: Seeded,
    left: u64,
}

impl Read for RandomBytes {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let wanted = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for part in buffer[..wanted].chunks_mut(8) {
            part.copy_from_slice(&self.random.bits().to_ne_bytes()[..part.len()]);
        }
        self.left -= wanted as u64;
        Ok(wanted)
    }
}
