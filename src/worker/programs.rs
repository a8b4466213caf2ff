//! Programs and libraries of this machine that Pagewise starts or loads by itself: toolchains, interpreters, strace. One rule
//! finds them: an absolute path that nobody but this user and root can change (`files::trusted_program`). One way starts them:
//! outside of the current folder, with an environment of named variables, with a limit on time and output.

use anyhow::{Context, Result, bail};
use files::{File, Folder};
use record::machine::tools::RefusedPart;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::{ffi::OsStrExt, ffi::OsStringExt, process::CommandExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Where programs are looked for if there is no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Time of a program that is asked about itself: its version, its methods.
const ANSWER: Duration = Duration::from_secs(30);
/// Time of a compiler.
const COMPILING: Duration = Duration::from_secs(900);
/// Time for which the output of an ended program is still read, where a process that it left has it open.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// Most output of a program, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// Folder of a compiler's temporary files, in that of the build.
const TEMPORARY: &str = "temporary";

/// Variables that name folders in which programs and libraries are searched.
const SEARCHED: [&str; 6] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "COMPILER_PATH",
];
/// Variables that name one folder of programs, settings or built code.
const FOLDERS: [&str; 5] = [
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "XDG_CACHE_HOME",
    "GOCACHE",
];
/// Further variables that a toolchain is given. A star stands for the rest of a name.
const KEPT: [&str; 8] = [
    "RUSTUP_TOOLCHAIN",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "CCACHE_DIR",
    "NIX_*",
];
/// Variables with one value for each toolchain: none fetches another one, and none reads a user's settings of Go.
const FIXED: [(&str, &str); 3] = [
    ("GOTOOLCHAIN", "local"),
    ("GOENV", "off"),
    ("RUSTUP_AUTO_INSTALL", "0"),
];
/// Variables of which `doctor` names each part that is not used.
const NAMED: [&str; 8] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "HOME",
    "XDG_CACHE_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
];

/// Parts of a variable; none if it is not set. The loader also separates its folders by semicolons, and takes an empty
/// variable for none.
fn parts(variable: &str) -> Vec<PathBuf> {
    let is_loaders = variable == "LD_LIBRARY_PATH";
    let value = match std::env::var_os(variable) {
        Some(value) if is_loaders && value.is_empty() => return Vec::new(),
        Some(value) => value,
        None if variable == "PATH" => USUAL_PATH.into(),
        None => return Vec::new(),
    };
    let is_between = |byte: &u8| *byte == b':' || is_loaders && *byte == b';';
    let parts = value.as_bytes().split(is_between);
    parts.map(|part| OsStr::from_bytes(part).into()).collect()
}

/// Parts of a variable that are folders which nobody but this user and root can change.
fn safe_parts(variable: &str) -> Vec<PathBuf> {
    let mut parts = parts(variable);
    parts.retain(|part| files::trusted_folder(part).is_ok());
    parts
}

/// Parts of the user's variables from which nothing is started or loaded. A part that does not exist is none.
pub fn refused() -> Vec<RefusedPart> {
    let mut refused: Vec<RefusedPart> = Vec::new();
    for variable in NAMED {
        for part in parts(variable) {
            let Err(error) = files::trusted_folder(&part) else {
                continue;
            };
            let changeable = error.changeable().map(|path| path.display().to_string());
            let is_relative = !part.is_absolute();
            let entry = RefusedPart {
                variable: variable.to_owned(),
                part: part.display().to_string(),
                changeable,
            };
            if (is_relative || entry.changeable.is_some()) && !refused.contains(&entry) {
                refused.push(entry);
            }
        }
    }
    refused
}

/// Programs of this name in PATH, nearest first. What another user can change is passed over.
pub(super) fn candidates(name: &str) -> impl Iterator<Item = PathBuf> {
    let is_sound = |program: &PathBuf| files::trusted_program(program).is_ok();
    safe_parts("PATH")
        .into_iter()
        .map(move |folder| folder.join(name))
        .filter(is_sound)
}

/// No part of PATH has a program of this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no such program in PATH")]
pub(super) struct NotInPath;

/// The nearest program of this name in PATH.
/// Errors: there is none ([`NotInPath`]), or the nearest is in a part that another user can change.
pub fn find(name: &str) -> Result<PathBuf> {
    if let Some(program) = candidates(name).next() {
        return Ok(program);
    }
    for folder in parts("PATH") {
        let program = folder.join(name);
        if program.is_file() {
            files::trusted_folder(&folder)?;
            files::trusted_program(&program)?;
        }
    }
    Err(NotInPath.into())
}

/// The program of a word of the user's, such as `$CC`: by its path, or by PATH.
/// Errors: as [`find`].
pub(super) fn of_word(word: &str) -> Result<PathBuf> {
    if !word.contains('/') {
        return find(word);
    }
    let program = std::path::absolute(word)?;
    files::trusted_program(&program)?;
    Ok(program)
}

/// Searched variables that have a part which another user can change, each with the parts that are left.
fn cleaned() -> &'static [(&'static str, OsString)] {
    static CLEANED: OnceLock<Vec<(&'static str, OsString)>> = OnceLock::new();
    CLEANED.get_or_init(|| {
        let mut cleaned = Vec::new();
        for variable in SEARCHED {
            let safe = safe_parts(variable);
            if std::env::var_os(variable).is_some() && safe != parts(variable) {
                cleaned.push((variable, joined(safe)));
            }
        }
        cleaned
    })
}

fn joined(parts: Vec<PathBuf>) -> OsString {
    let parts: Vec<&[u8]> = parts
        .iter()
        .map(|part| part.as_os_str().as_bytes())
        .collect();
    OsString::from_vec(parts.join(&b':'))
}

/// Leaves out what another user can change of the folders in which a process searches programs and libraries.
pub(super) fn clean(command: &mut Command) {
    for (variable, value) in cleaned() {
        // An empty part stands for the current folder. Without PATH, execvp(3) searches /bin and /usr/bin.
        if value.is_empty() {
            command.env_remove(variable);
        } else {
            command.env(variable, value);
        }
    }
}

/// Options of the helper that give the user's own program what [`clean`] left out: the search is the user's order.
pub fn users_folders() -> Vec<OsString> {
    let mut options = Vec::new();
    for (variable, _) in cleaned() {
        let mut setting = OsString::from(format!("{variable}="));
        setting.push(std::env::var_os(variable).unwrap_or_default());
        options.extend([OsString::from("--set"), setting]);
    }
    options
}

/// True if the name of a variable is that of a pattern.
fn fits_any(name: &OsStr, patterns: &[&str]) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| patterns.iter().any(|pattern| super::fits(name, pattern)))
}

/// Gives a toolchain its environment and its folder, and no other variable of the user's.
pub(super) fn settle(command: &mut Command) {
    command.env_clear().envs(FIXED).current_dir("/");
    for (name, value) in std::env::vars_os() {
        let folder = Path::new(&value);
        if fits_any(&name, &KEPT)
            || fits_any(&name, &FOLDERS) && files::trusted_folder(folder).is_ok()
            || name == "TMPDIR" && files::safe_folder(folder).is_ok()
        {
            command.env(name, value);
        }
    }
    for variable in SEARCHED {
        let parts = safe_parts(variable);
        if !parts.is_empty() {
            command.env(variable, joined(parts));
        }
    }
}

/// Asks a program of this machine about itself.
/// Errors: it cannot be started, or has not answered in time.
pub(super) fn ask(program: &Path, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(program);
    settle(&mut command);
    answer(command.args(arguments), Stdio::null())
        .with_context(|| format!("cannot use {}", program.display()))
}

/// Output of a program that is to answer at once. It has a process group of its own, so that all of it can be ended.
/// Errors: it cannot be started, takes too long or prints too much.
pub fn answer(command: &mut Command, input: Stdio) -> Result<Output> {
    limited(command.stdin(input).process_group(0), ANSWER)
}

/// Output of a compiler that fills the folder of a build. It stays in the process group of the terminal, whose Ctrl-C ends all
/// of it. Its temporary files are in that folder, so that those of a killed compiler go with the build.
/// Errors: it cannot be started, takes too long or prints too much.
pub(super) fn compiled(command: &mut Command, build: &Folder) -> Result<Output> {
    let temporary = build.make_folder(TEMPORARY)?;
    command
        .env("TMPDIR", temporary.path())
        .env("GOTMPDIR", temporary.path());
    let output = limited(command.stdin(Stdio::null()), COMPILING).context("cannot compile")?;
    build.remove(TEMPORARY)?;
    Ok(output)
}

fn limited(command: &mut Command, longest: Duration) -> Result<Output> {
    let program = Path::new(command.get_program()).display().to_string();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let output = collected(&mut child, longest);
    if output.is_err() {
        // Without a group of its own there is none of this number.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = child.kill();
        let _ = child.wait();
    }
    output
}

/// One output of a process; without a pipe once it has ended.
struct Stream {
    pipe: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> Stream {
        Stream {
            pipe: pipe.map(|pipe| File::from(pipe.into())),
            bytes: Vec::new(),
        }
    }

    /// Takes what is there. A pipe that poll(2) named does not wait.
    fn take(&mut self) -> Result<()> {
        let mut bytes = [0; 1 << 16];
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        match pipe.read(&mut bytes)? {
            0 => self.pipe = None,
            length => self.bytes.extend_from_slice(&bytes[..length]),
        }
        Ok(())
    }
}

fn collected(child: &mut Child, longest: Duration) -> Result<Output> {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).context("pidfd_open")?;
    let mut streams = [
        Stream::new(child.stdout.take()),
        Stream::new(child.stderr.take()),
    ];
    let mut deadline = Instant::now() + longest;
    let mut status: Option<ExitStatus> = None;
    while status.is_none() || streams.iter().any(|stream| stream.pipe.is_some()) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() && status.is_some() {
            break;
        }
        if left.is_zero() {
            bail!("it gave no answer within {} s", longest.as_secs());
        }
        let pipes: Vec<usize> = (0..streams.len())
            .filter(|&at| streams[at].pipe.is_some())
            .collect();
        let mut watched: Vec<PollFd> = pipes
            .iter()
            .filter_map(|&at| streams[at].pipe.as_ref())
            .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN))
            .collect();
        if status.is_none() {
            watched.push(PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN));
        }
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut watched, Some(&timeout)) {
            Err(Errno::INTR) => continue,
            ready => ready.context("poll")?,
        };
        let is_ready: Vec<bool> = watched.iter().map(|fd| !fd.revents().is_empty()).collect();
        for (&at, _) in pipes.iter().zip(&is_ready).filter(|(_, ready)| **ready) {
            streams[at].take()?;
        }
        let bytes: usize = streams.iter().map(|stream| stream.bytes.len()).sum();
        if bytes > MOST_BYTES {
            bail!("it printed more than {} MiB", MOST_BYTES >> 20);
        }
        if status.is_none() && is_ready.last() == Some(&true) {
            status = Some(child.wait()?);
            deadline = deadline.min(Instant::now() + AFTERWARDS);
        }
    }
    let status = status.context("it has not ended")?;
    let [stdout, stderr] = streams.map(|stream| stream.bytes);
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit that a list of a worker has, shortened: silence, also of a child that holds the output open, and an output
    /// without an end.
    #[test]
    fn a_program_that_does_not_answer_is_ended_after_its_limit() {
        let limit = Duration::from_millis(300);
        for (line, part) in [
            ("exec sleep 1000", "it gave no answer within 0 s"),
            ("sleep 1000", "it gave no answer within 0 s"),
            ("trap '' TERM; sleep 1000 & wait", "it gave no answer"),
            ("exec yes", "it printed more than 16 MiB"),
        ] {
            let began = Instant::now();
            let mut command = Command::new("sh");
            command.args(["-c", line]).process_group(0);
            let longest = if line == "exec yes" { ANSWER } else { limit };
            let error = limited(&mut command, longest).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
            assert!(began.elapsed() < Duration::from_secs(20), "{line}");
        }
        // A process that it left holds its output open: the answer counts, and is not waited for.
        let began = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "echo answer; sleep 3 & exit 0"]);
        let output = limited(&mut command, ANSWER).unwrap();
        assert_eq!(output.stdout, b"answer\n");
        assert!(began.elapsed() < Duration::from_millis(2500));
    }

    /// Its children are ended with it.
    #[test]
    fn nothing_is_left_of_a_program_that_does_not_answer() {
        let mut command = Command::new("sh");
        let marker = "100062.5";
        command
            .args(["-c", &format!("sleep {marker} & wait")])
            .process_group(0);
        assert!(limited(&mut command, Duration::from_millis(300)).is_err());
        let is_left = || {
            let listed = Command::new("ps").args(["-eo", "args"]).output().unwrap();
            String::from_utf8_lossy(&listed.stdout)
                .lines()
                .any(|line| line == format!("sleep {marker}"))
        };
        let end = Instant::now() + Duration::from_secs(5);
        while is_left() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!is_left());
    }
}
