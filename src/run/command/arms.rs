//! From the user's words to the arms of a try: what each runs and with which environment.

use crate::{machine::preflight, plan::text_of, worker, worker::carried};
use anyhow::{Context, Result, bail};
use files::kernel;
use record::command::{Arm, ArmRole};
use record::setting::{Setting, split_words};
use record::{outcome::Cause, sizes, sizes::did_you_mean};
use std::path::{Path, PathBuf};

/// The arms: the baseline first, the baseline once more last.
pub fn arms(commands: &[String], settings: &[Setting]) -> Result<Vec<Arm>> {
    if commands.is_empty() {
        bail!(
            "nothing to try; write the command behind --, as in pagewise try --with thp -- sort FILE"
        );
    }
    let mut arms = Vec::new();
    if settings.is_empty() {
        for line in commands {
            let command = command_words(line)?;
            if let Err(error) = runnable(&command[0]) {
                bail!(
                    "{error}; without --with each word behind -- is a whole command (quote it), or name a setting by --with"
                );
            }
            let role = if arms.is_empty() {
                ArmRole::Baseline
            } else {
                ArmRole::Command
            };
            arms.push(plain(line, role, line, command));
        }
    } else {
        let (shown, command) = subject(commands)?;
        arms.push(plain("unchanged", ArmRole::Baseline, &shown, command));
        for setting in settings {
            let arm = with(&arms[0], setting)?;
            arms.push(arm);
        }
    }
    arms.push(Arm {
        name: "control (A/A)".to_owned(),
        role: ArmRole::Again,
        ..arms[0].clone()
    });
    Ok(arms)
}

/// One command as it is shown and as it is run. One word with spaces is a whole command.
pub fn subject(commands: &[String]) -> Result<(String, Vec<String>)> {
    let Some(first) = commands.first() else {
        bail!("nothing to run; write the command behind --")
    };
    let whole = commands.len() == 1 && first.contains(char::is_whitespace);
    let (shown, command) = if whole {
        (first.clone(), command_words(first)?)
    } else {
        (commands.join(" "), commands.to_vec())
    };
    runnable(&command[0])?;
    Ok((shown, command))
}

/// The arm of an unchanged command.
pub fn plain(name: &str, role: ArmRole, shown: &str, command: Vec<String>) -> Arm {
    Arm {
        name: name.to_owned(),
        role,
        shown: shown.to_owned(),
        command,
        ..Arm::default()
    }
}

/// The words of a line; by the shell only where it has something that only a shell understands.
fn command_words(line: &str) -> Result<Vec<String>> {
    let needs_shell = line.contains(|c| "|&;<>()$`*?[]{}~#!\n\\".contains(c))
        || line
            .split_whitespace()
            .next()
            .is_some_and(|first| first.contains('='));
    let command = if needs_shell {
        vec!["/bin/sh".to_owned(), "-c".to_owned(), line.to_owned()]
    } else {
        split_words(line)?
    };
    if command.is_empty() {
        bail!("an empty command cannot be tried");
    }
    Ok(command)
}

/// Checks that there is such a program: by its path, or in a folder of `PATH`, as the user's shell finds it. A part of PATH
/// that stands for the current folder is no order to run another user's file.
fn runnable(program: &str) -> Result<()> {
    let path = if program.contains('/') {
        Some(PathBuf::from(program)).filter(|path| may_run(path))
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .map(|folder| folder.join(program))
            .find(|path| may_run(path))
    };
    let Some(path) = path else {
        bail!("there is no program {program:?} that may be run");
    };
    if path.is_relative() && !program.contains('/') {
        files::trusted_program(&std::path::absolute(&path)?).with_context(|| {
            format!("{program} stands in the current folder, which is in PATH; write ./{program} to run it")
        })?;
    }
    Ok(())
}

fn with(baseline: &Arm, setting: &Setting) -> Result<Arm> {
    let mut arm = Arm {
        name: setting.name.clone(),
        role: ArmRole::Setting,
        setting: Some(setting.clone()),
        ..baseline.clone()
    };
    if setting.needs_thp || setting.avoids_thp {
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        let enabled = kernel::read(path).unwrap_or_default();
        if enabled.is_empty() || enabled.contains("[never]") {
            arm.skipped = Some(Cause::NoHugePages {
                path: path.to_owned(),
            });
        }
    }
    let has_words = !setting.arguments.is_empty() || !setting.last_arguments.is_empty();
    if arm.command[0] == "/bin/sh" && has_words && baseline.shown != "/bin/sh" {
        bail!(
            "{}: words cannot be put into a shell's line; write both commands out instead",
            setting.name
        );
    }
    arm.command.splice(1..1, setting.arguments.iter().cloned());
    arm.command.extend(setting.last_arguments.iter().cloned());
    for (name, value) in &setting.env {
        // A variable that the user names is as they say; the value that it had is kept beside it.
        if is_named(setting) {
            let before = std::env::var(name).ok().filter(|text| !text.is_empty());
            let other = before.filter(|before| before != value);
            arm.replaced.extend(other.map(|text| (name.clone(), text)));
            arm.variables.insert(name.clone(), value.clone());
        } else {
            join(&mut arm, name, value);
        }
    }
    if is_carried(setting)
        && let Some((name, value)) = arm.replaced.pop_first()
    {
        arm.replaced.clear();
        arm.skipped
            .get_or_insert(Cause::OwnVariable { name, value });
    }
    join(&mut arm, "GLIBC_TUNABLES", &setting.tunables);
    join(&mut arm, "JAVA_TOOL_OPTIONS", &setting.java_options);
    preload(&mut arm, setting)?;
    arm.cpus = match setting.cpus.as_deref() {
        Some("last") => preflight::allowed_cpus().last().map(usize::to_string),
        other => other.map(str::to_owned),
    };
    Ok(arm)
}

/// Has an arm load the library of a setting; one that cannot be loaded is why the arm is skipped.
fn preload(arm: &mut Arm, setting: &Setting) -> Result<()> {
    if setting.advise_mappings {
        let path = worker::advising_library()?;
        arm.preloaded = path
            .to_str()
            .filter(|p| !p.contains([' ', ':']))
            .map(str::to_owned);
        if arm.preloaded.is_none() {
            arm.skipped.get_or_insert_with(|| Cause::UnfitPreload {
                path: path.display().to_string(),
            });
        }
    } else if !setting.preload.is_empty() {
        arm.preloaded = library(&setting.preload)?;
        if arm.preloaded.is_none() {
            arm.skipped.get_or_insert_with(|| Cause::NotInstalled {
                package: setting.package.clone(),
                library: Some(setting.preload.join(" or ")),
            });
        }
    }
    if let Some(path) = arm.preloaded.clone() {
        join(arm, "LD_PRELOAD", &path);
    }
    Ok(())
}

/// Variables that hold a list, and what separates its parts; the last of two that contradict each other holds.
const LISTS: [(&str, &str); 9] = [
    ("GLIBC_TUNABLES", ":"),
    ("GODEBUG", ","),
    ("JAVA_TOOL_OPTIONS", " "),
    ("JDK_JAVA_OPTIONS", " "),
    ("LD_PRELOAD", ":"),
    ("MALLOC_CONF", ","),
    ("NODE_OPTIONS", " "),
    ("PGOPTIONS", " "),
    ("RUBYOPT", " "),
];

/// True for the setting of `env:NAME=VALUE`.
fn is_named(setting: &Setting) -> bool {
    setting.name.starts_with("env:")
}

/// True for a setting that the binary carries: it replaces no value of the user's own, which the user's own setting may.
fn is_carried(setting: &Setting) -> bool {
    let file = format!("settings/{}.toml", setting.name);
    carried::SETTINGS.iter().any(|(path, _)| *path == file)
}

/// Sets a variable. Where it holds a list, what the user's environment has there stays; another value is replaced, and kept in
/// `replaced`.
fn join(arm: &mut Arm, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let before = std::env::var(name).ok().filter(|text| !text.is_empty());
    let list = LISTS.iter().find(|(list, _)| *list == name);
    let whole = match (before, list) {
        (Some(before), Some((_, between))) => {
            arm.joined.insert(name.to_owned(), before.clone());
            format!("{before}{between}{value}")
        }
        (before, _) => {
            let other = before.filter(|before| before != value);
            arm.replaced
                .extend(other.map(|text| (name.to_owned(), text)));
            value.to_owned()
        }
    };
    arm.variables.insert(name.to_owned(), whole);
}

/// The real path of the first of these libraries that there is.
fn library(names: &[String]) -> Result<Option<String>> {
    for name in names {
        let path = if name.starts_with('/') {
            Some(name.clone())
        } else {
            worker::find_library(name)?
        };
        let real = path.and_then(|path| files::trusted_file(Path::new(&path)).ok());
        if let Some(real) = real.as_deref().and_then(Path::to_str) {
            return Ok(Some(real.to_owned()));
        }
    }
    Ok(None)
}

fn may_run(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// All settings that the binary carries, by name.
pub fn all() -> Result<Vec<Setting>> {
    let mut settings: Vec<Setting> = carried::SETTINGS
        .iter()
        .map(|(path, text)| Setting::parse(path, text))
        .collect::<Result<_>>()?;
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(settings)
}

/// The settings of `--with`, by commas in any order: names, files, `env:NAME=VALUE` and `args:WORDS`. A comma in a value is one of
/// the value where no setting follows it.
pub fn of_words(names: &[String]) -> Result<Vec<Setting>> {
    let carried = all()?;
    let mut settings: Vec<Setting> = Vec::new();
    for word in names {
        for part in parts(word, &carried) {
            let setting = setting(&part, &carried)?;
            if settings.iter().any(|s| s.name == setting.name) {
                bail!("--with names {} twice", setting.name);
            }
            settings.push(setting);
        }
    }
    Ok(settings)
}

/// Splits the words of `--with` at commas.
fn parts(text: &str, carried: &[Setting]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',') {
        let name = part.trim();
        let is_setting = has_value(name) || is_file(name) || carried.iter().any(|s| s.name == name);
        match parts.last_mut().filter(|last| has_value(last)) {
            Some(last) if !is_setting => *last += &format!(",{part}"),
            _ => parts.push(name.to_owned()),
        }
    }
    parts
}

/// True for `env:NAME=VALUE` and `args:WORDS`.
fn has_value(word: &str) -> bool {
    word.starts_with("env:") || word.starts_with("args:")
}

/// Words that bound memory, before a size; true for a throttle.
const BOUNDS: [(&str, bool); 2] = [("memory-high:", true), ("memory-max:", false)];

fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|e| e == "toml")
}

fn setting(word: &str, carried: &[Setting]) -> Result<Setting> {
    if let Some(text) = word.strip_prefix("env:") {
        return Setting::variable(text);
    }
    if let Some(text) = word.strip_prefix("args:") {
        return Setting::arguments(text);
    }
    for (lead, slows) in BOUNDS {
        if let Some(size) = word.strip_prefix(lead) {
            return Ok(Setting::bounded(word, sizes::parse_size(size)?, slows));
        }
    }
    if let Some(pages) = word.strip_prefix("max-ptes-none:") {
        return Setting::collapsing(word, pages);
    }
    if word.contains('/') || is_file(word) {
        // It decides what the user's program loads and is told.
        files::obeyed_file(word.as_ref())?;
        let text = text_of(word.as_ref())?;
        return Setting::parse(word, &text);
    }
    carried.iter().find(|s| s.name == word).cloned().with_context(|| {
        let names: Vec<&str> = carried.iter().map(|s| s.name.as_str()).collect();
        let hint = did_you_mean(word, names.iter().copied());
        format!("there is no setting \"{word}\"{hint} (there are {}, env:NAME=VALUE, args:WORDS, memory-high:SIZE, memory-max:SIZE, max-ptes-none:N and files)", names.join(", "))
    })
}

/// The list of `try --list`.
pub fn list() -> Result<String> {
    let mut text = String::new();
    for setting in all()? {
        let saves = if setting.saves_memory {
            "; saves memory"
        } else {
            ""
        };
        text += &format!("{:<13} {}{saves}\n", setting.name, setting.title);
        if !setting.side_effects.is_empty() {
            text += &format!("{:<13} side effect: {}\n", "", setting.side_effects);
        }
    }
    text += "env:NAME=VALUE  any variable\nargs:WORDS      words behind the program's name\n\
        memory-high:SIZE, memory-max:SIZE  in a memory cgroup (--allow-system-changes)\n\
        max-ptes-none:N  khugepaged makes huge pages where at most N of their pages are absent (--allow-system-changes)\nFILE.toml       a setting of your own, written like those in settings/\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_used_only_where_it_is_needed() {
        assert_eq!(
            command_words("gzip -1 'a b'").unwrap(),
            ["gzip", "-1", "a b"]
        );
        assert_eq!(command_words("gzip <a").unwrap()[..2], ["/bin/sh", "-c"]);
        assert_eq!(command_words("A=1 true").unwrap()[0], "/bin/sh");
        assert!(command_words("  ").is_err());
    }

    #[test]
    fn without_a_setting_every_word_is_a_command() {
        let arms = arms(&["true".to_owned(), "sh -c :".to_owned()], &[]).unwrap();
        let roles: Vec<ArmRole> = arms.iter().map(|a| a.role).collect();
        assert_eq!(roles, [ArmRole::Baseline, ArmRole::Command, ArmRole::Again]);
        let error = super::arms(&["true".to_owned(), "no-such-file".to_owned()], &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no-such-file") && error.contains("--with"),
            "{error}"
        );
    }

    #[test]
    fn arguments_stand_behind_the_program() {
        let setting = Setting::arguments("-r -n").unwrap();
        let arms = arms(&["sort".to_owned(), "file".to_owned()], &[setting]).unwrap();
        assert_eq!(arms[1].command, ["sort", "-r", "-n", "file"]);
        assert_eq!((arms.len(), arms[2].role), (3, ArmRole::Again));
    }

    mod settings {
        use super::*;

        #[test]
        fn every_carried_setting_is_sound() {
            let all = all().unwrap();
            assert!(all.len() >= 9);
            for ((path, _), setting) in carried::SETTINGS.iter().zip(
                carried::SETTINGS
                    .iter()
                    .map(|(p, t)| Setting::parse(p, t).unwrap()),
            ) {
                assert_eq!(*path, format!("settings/{}.toml", setting.name));
                assert!(!setting.title.is_empty());
            }
        }

        #[test]
        fn words_name_settings() {
            let of = |words: &[&str]| {
                of_words(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
            };
            let names = |words: &[&str]| {
                of(words)
                    .unwrap()
                    .into_iter()
                    .map(|s| s.name)
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                names(&["thp,keep", "env:A=1,2"]),
                ["thp", "keep", "env:A=1,2"]
            );
            // The same in any order, and a value keeps its commas.
            let mut orders = [
                names(&["env:A=1,2,thp,args:-x,-y,keep"]),
                names(&["keep,env:A=1,2,args:-x,-y,thp"]),
                names(&["args:-x,-y,keep,thp,env:A=1,2"]),
            ];
            orders.iter_mut().for_each(|names| names.sort());
            for order in orders {
                assert_eq!(order, ["args:-x,-y", "env:A=1,2", "keep", "thp"]);
            }
            assert!(
                of(&["jemaloc"])
                    .unwrap_err()
                    .to_string()
                    .contains("did you mean \"jemalloc\"")
            );
            assert!(
                of(&["thp", "thp"])
                    .unwrap_err()
                    .to_string()
                    .contains("twice")
            );
        }
    }
}
