//! The user's compilers, with the user's flags.

use super::{CPP, FunctionTerms, HEADER_FOLDER, RUST};
use crate::worker::{programs, with_this_process};
use anyhow::{Context, Result, bail};
use files::Folder;
use report::escape::c_literal;
use std::path::Path;
use std::process::{Command, Stdio};

/// The compiler of a language: the variables that name it and its flags, and both where these are unset.
struct Tools {
    language: &'static str,
    variable: &'static str,
    usual: &'static str,
    flags: &'static str,
    usual_flags: &'static str,
    /// Packages that have it.
    packages: &'static str,
}

static C: Tools = Tools {
    language: "C",
    variable: "CC",
    usual: "cc",
    flags: "CFLAGS",
    usual_flags: "-O2 -g",
    packages: "gcc or clang",
};
static CXX: Tools = Tools {
    language: "C++",
    variable: "CXX",
    usual: "c++",
    flags: "CXXFLAGS",
    ..C
};
static RUSTC: Tools = Tools {
    language: "Rust",
    variable: "RUSTC",
    usual: "rustc",
    flags: "RUSTFLAGS",
    usual_flags: "-O -g",
    packages: "rustc",
};

/// The user's compiler.
pub(super) struct UserCompiler {
    tools: &'static Tools,
    /// The program, with arguments where the variable has some.
    program: Vec<String>,
    pub flags: Vec<String>,
}

impl UserCompiler {
    pub fn of_user(source: &Path) -> UserCompiler {
        let end = source.extension().unwrap_or_default();
        UserCompiler::of_tools(if end == RUST {
            &RUSTC
        } else if CPP.iter().any(|known| end == *known) {
            &CXX
        } else {
            &C
        })
    }

    fn of_tools(tools: &'static Tools) -> UserCompiler {
        UserCompiler {
            tools,
            program: variable(tools.variable, tools.usual),
            flags: variable(tools.flags, tools.usual_flags),
        }
    }

    /// The compiler that links what this one makes: a program of Rust is linked as one of C.
    pub fn linker(&self) -> UserCompiler {
        UserCompiler::of_tools(if self.tools.variable == RUSTC.variable {
            &C
        } else {
            self.tools
        })
    }

    /// Runs a command of this compiler, whose messages the user sees if it fails.
    /// Errors: the file does not compile.
    pub fn run(&self, command: &mut Command, path: &Path, folder: &Folder) -> Result<()> {
        let compiler = [self.program.join(" "), self.flags.join(" ")].join(" ");
        compiled(command, path, folder, &compiler)
    }

    /// The command that compiles files of a folder. The user's flags come last, so that they decide.
    pub fn command(&self, folder: &Folder) -> Result<Command> {
        let mut command = self.started()?;
        // Paths in the user's flags are relative to the user's folder; nothing else is taken from there.
        let has_flags = ["CFLAGS", "CXXFLAGS", "LDLIBS"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
        if has_flags {
            command.current_dir(std::env::current_dir()?);
        } else {
            command.current_dir(folder.path());
        }
        command
            .args(["-D_GNU_SOURCE", "-Wno-maybe-uninitialized", "-I"])
            .arg(folder.path().join(HEADER_FOLDER));
        // The same source gives the same program in whatever folder it is compiled, so that a run can be resumed.
        command.arg(format!(
            "-ffile-prefix-map={}=pagewise",
            folder.path().display()
        ));
        command.args(&self.flags);
        Ok(command)
    }

    /// The program, to be started as every toolchain is. It ends with this process.
    /// Errors: there is none, or another user can change it.
    pub fn started(&self) -> Result<Command> {
        let program = programs::of_word(&self.program[0]).with_context(|| {
            format!(
                "bench needs a {} compiler, and {} cannot be started: install {}, or set {}",
                self.tools.language, self.program[0], self.tools.packages, self.tools.variable
            )
        })?;
        let mut command = with_this_process(program, &[])?;
        programs::settle(&mut command);
        command.args(&self.program[1..]);
        Ok(command)
    }

    /// Facts of the build, as a C source.
    pub fn build_text(&self, is_library: bool, terms: FunctionTerms) -> Result<String> {
        let version = programs::answer(self.started()?.arg("--version"), Stdio::null())?;
        let version = String::from_utf8_lossy(&version.stdout)
            .lines()
            .next()
            .unwrap_or("unknown")
            .to_owned();
        let mut fields = vec![
            c_literal(&version),
            c_literal(&self.flags.join(" ")),
            i32::from(is_library).to_string(),
            i32::from(terms.is_fresh).to_string(),
        ];
        match terms.peer {
            Some(peer) => fields.extend(peer.facts().map(|fact| c_literal(&fact))),
            None => fields.extend(["0"; 5].map(str::to_owned)),
        }
        Ok(format!(
            "#include \"build.h\"\nconst struct pagewise_build pagewise_build = {{{}}};\n",
            fields.join(", ")
        ))
    }
}

/// Runs a compiler, whose messages the user sees if it fails. `compiler` is what it is called in the error.
/// Errors: the file does not compile.
pub(super) fn compiled(
    command: &mut Command,
    path: &Path,
    folder: &Folder,
    compiler: &str,
) -> Result<()> {
    let output = programs::compiled(command, folder)?;
    if output.status.success() {
        return Ok(());
    }
    let messages = [output.stdout, output.stderr].concat();
    // Below a line of source the compiler points at a column of it.
    let messages = report::escape::lines(&String::from_utf8_lossy(&messages));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), messages.as_bytes());
    bail!("{} does not compile with {compiler}", path.display())
}

/// Words of a variable of the environment; those of `usual` where it is unset or blank.
pub(super) fn variable(name: &str, usual: &str) -> Vec<String> {
    let text = std::env::var(name)
        .ok()
        .filter(|text| !text.trim().is_empty());
    let text = text.as_deref().unwrap_or(usual);
    text.split_whitespace().map(str::to_owned).collect()
}
