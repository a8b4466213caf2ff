//! The user's compiler, which makes the worker of the user's functions.

use super::{CPP, FunctionTerms, HEADER_FOLDER, RUST, WORKER, rust};
use crate::worker::{MOST_BYTES, carried, programs, with_this_process};
use anyhow::{Context, Result, bail};
use files::Folder;
use object::{Object, ObjectSymbol};
use report::escape::c_literal;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// C source with the facts of a build (workers/c/bench/build.h).
const BUILD: &str = "build.c";

/// Compiles a source: the copy of the user's file, or the calls of the functions of the user's library.
pub(super) fn compile(
    source: &Path,
    path: &Path,
    is_library: bool,
    terms: FunctionTerms,
    folder: &Folder,
) -> Result<()> {
    let compiler = UserCompiler::of_user(source);
    let text = compiler.build_text(is_library, terms)?;
    folder.write(BUILD, text.as_bytes())?;
    let is_rust = source.extension().is_some_and(|end| end == RUST);
    let linker = if is_rust { &C } else { compiler.tools };
    let linker = UserCompiler::of_tools(linker);
    let mut command = linker.command(folder)?;
    if is_rust {
        let archive = rust::archive(&compiler, source, path, folder)?;
        command.arg("-Wl,--whole-archive").arg(archive);
        command.arg("-Wl,--no-whole-archive");
    } else {
        add_subject(&mut command, source, path, is_library);
    }
    command.args([BUILD, "functions.o"].map(|file| folder.path().join(file)));
    // The file may have a main of its own, which is not called.
    command.arg("-Wl,--wrap=main");
    let libraries = std::env::var("LDLIBS").unwrap_or_default();
    command
        .args(["-pthread", "-ldl", "-lrt", "-lm"])
        .args(libraries.split_whitespace());
    command.arg("-o").arg(folder.path().join(WORKER));
    linker.run(&mut command, path, folder)?;
    let program = files::read_input(&folder.path().join(WORKER), MOST_BYTES)?;
    check_names(&program, path)
}

/// Names of the C library that a user's file may define all the same, and beginnings of names: an allocator of the user's own.
const REPLACED: [&str; 6] = ["malloc", "calloc", "realloc", "free", "mem", "str"];
/// Variables of the C library. A linker may put a copy of them into the program.
const VARIABLES: [&str; 6] = [
    "environ",
    "program_invocation",
    "stdin",
    "stdout",
    "stderr",
    "errno",
];

/// An error if a user's file defines a function of the C library that the harness calls: it would be called instead.
fn check_names(program: &[u8], path: &Path) -> Result<()> {
    let program = object::File::parse(program)?;
    // A program without libraries has the whole of the C library in it.
    if program.dynamic_symbols().next().is_none() {
        return Ok(());
    }
    let harness = carried::FUNCTIONS.to_vec();
    let harness = object::File::parse(&*harness)?;
    let called: BTreeSet<&[u8]> = harness
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name_bytes().ok())
        .collect();
    let is_free = |name: &str| {
        [REPLACED, VARIABLES]
            .concat()
            .iter()
            .any(|lead| name.starts_with(lead))
    };
    let clash = program
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .filter(|symbol| symbol.name_bytes().is_ok_and(|name| called.contains(name)))
        .filter_map(|symbol| symbol.name().ok())
        .find(|name| {
            !name.starts_with(['_', '.']) && !name.starts_with("pagewise_") && !is_free(name)
        });
    match clash {
        Some(name) => bail!(
            "{} defines {name}, a function of the C library that the harness calls: make it static",
            path.display()
        ),
        None => Ok(()),
    }
}

/// The compiler of a language: the variables that name it and its flags, and both where these are unset.
pub(super) struct Tools {
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
    fn of_user(source: &Path) -> UserCompiler {
        let end = source.extension().unwrap_or_default();
        UserCompiler::of_tools(if end == RUST {
            &RUSTC
        } else if CPP.iter().any(|known| end == *known) {
            &CXX
        } else {
            &C
        })
    }

    pub fn of_tools(tools: &'static Tools) -> UserCompiler {
        UserCompiler {
            tools,
            program: variable(tools.variable, tools.usual),
            flags: variable(tools.flags, tools.usual_flags),
        }
    }

    /// Runs a command of this compiler, whose messages the user sees if it fails.
    /// Errors: the file does not compile.
    pub fn run(&self, command: &mut Command, path: &Path, folder: &Folder) -> Result<()> {
        let output = programs::compiled(command, folder)?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        // Below a line of source the compiler points at a column of it.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            report::escape::lines(&messages).as_bytes(),
        );
        bail!(
            "{} does not compile with {} {}",
            path.display(),
            self.program.join(" "),
            self.flags.join(" ")
        )
    }

    /// The command that compiles files of a folder. The user's flags come last, so that they decide.
    fn command(&self, folder: &Folder) -> Result<Command> {
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
    fn build_text(&self, is_library: bool, terms: FunctionTerms) -> Result<String> {
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

/// Words of a variable of the environment; those of `usual` where it is unset or blank.
pub(super) fn variable(name: &str, usual: &str) -> Vec<String> {
    let text = std::env::var(name)
        .ok()
        .filter(|text| !text.trim().is_empty());
    let text = text.as_deref().unwrap_or(usual);
    text.split_whitespace().map(str::to_owned).collect()
}

/// Adds the source and the folder of the user's file to a compiler's command.
fn add_subject(command: &mut Command, source: &Path, path: &Path, is_library: bool) {
    let above = path.parent().unwrap_or(path);
    if is_library {
        let file = path.file_name().unwrap_or_default();
        // A kept worker finds its library beside itself. Without a soname, the loader's name is the one given here.
        command.args(["-Xlinker", "-rpath", "-Xlinker"]);
        command
            .arg(format!("$ORIGIN:{}", above.display()))
            .arg("-L")
            .arg(above)
            .arg(source);
        command.arg(format!("-l:{}", file.display()));
    } else {
        if files::trusted_folder(above).is_ok() {
            command.arg("-iquote").arg(above);
        }
        command.arg(source);
    }
}
