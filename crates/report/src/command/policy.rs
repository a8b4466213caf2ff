//! Lines that deploy what a try has shown to cost less.

use super::quoted;
use super::trial::{exports, finding};
use record::command::{Arm, TrialSummary};
use std::path::Path;

/// Files that deploy a setting.
pub struct Deployment {
    pub setting: String,
    /// Name and content; programs end in `.sh`.
    pub files: Vec<(&'static str, String)>,
    /// The library of Pagewise's that goes with them, by its path and its name in their folder.
    pub library: Option<(String, String)>,
}

/// The policy of the setting that won, for a folder; nothing where none is shown to cost less.
pub fn policy(summary: &TrialSummary, folder: &Path) -> Option<Deployment> {
    let best = judge::command::trial::best(summary)?;
    let mut arm = summary.plan.arms[best].clone();
    let setting = arm.setting.clone()?;
    // A library of Pagewise's lies in its cache, which is no place to deploy from.
    let library = arm.preloaded.clone().filter(|_| setting.advise_mappings);
    let library = library.and_then(|path| {
        let name = Path::new(&path).file_name()?.to_str()?.to_owned();
        let deployed = folder.join(&name).to_str()?.to_owned();
        arm.variables.values_mut().for_each(|value| *value = value.replace(&path, &deployed));
        Some((path, name))
    });
    let mut about = vec![format!("{}: {}", setting.name, setting.title), finding(&summary.arms[best])];
    about.extend((!setting.side_effects.is_empty()).then(|| format!("Side effect: {}.", setting.side_effects)));
    about.push(format!("pagewise report {}", summary.plan.run));
    let mut files = vec![
        ("environment.sh", commented(&about, &exports(&arm))),
        ("run.sh", runner(&arm, &about)),
        ("systemd.conf", commented(&about, &drop_in(&arm))),
        ("Dockerfile", commented(&about, &container(&arm, library.as_ref().map(|(_, name)| name.as_str()), folder))),
    ];
    if !setting.java_options.is_empty() {
        files.push(("jvm.options", commented(&about, std::slice::from_ref(&setting.java_options))));
    }
    if setting.no_thp {
        files.push(("no-thp.c", NO_THP.to_owned()));
    }
    Some(Deployment { setting: setting.name, files, library })
}

/// Runs a program without huge pages.
const NO_THP: &str = include_str!("no-thp.c");

fn commented(about: &[String], lines: &[String]) -> String {
    let about = about.iter().map(|line| format!("# {}", line.replace('\n', " ")));
    about.chain(lines.iter().cloned()).map(|line| line + "\n").collect()
}

/// A script that runs any program as the setting does.
fn runner(arm: &Arm, about: &[String]) -> String {
    let setting = arm.setting.clone().unwrap_or_default();
    let mut lines = exports(arm);
    let mut parts = vec!["exec".to_owned()];
    parts.extend(setting.no_thp.then(|| "\"$(dirname \"$0\")/no-thp\"".to_owned()));
    parts.extend(arm.cpus.iter().map(|cpus| format!("taskset -c {}", quoted(cpus))));
    if !setting.arguments.is_empty() {
        lines.push("program=$1; shift".to_owned());
        parts.push("\"$program\"".to_owned());
        parts.extend(setting.arguments.iter().map(|word| quoted(word)));
    }
    parts.push("\"$@\"".to_owned());
    lines.push(parts.join(" "));
    format!("#!/bin/sh\n# run.sh PROGRAM ARGUMENTS\n{}", commented(about, &lines))
}

/// A drop-in for a unit: /etc/systemd/system/NAME.service.d/pagewise.conf.
fn drop_in(arm: &Arm) -> Vec<String> {
    let setting = arm.setting.clone().unwrap_or_default();
    let mut lines = vec!["[Service]".to_owned()];
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    lines.extend(arm.variables.iter().map(|(name, value)| format!("Environment=\"{name}={}\"", quoted(value))));
    lines.extend(arm.cpus.iter().map(|cpus| format!("CPUAffinity={cpus}")));
    if setting.no_thp {
        lines.push("# Since systemd 260; before, put no-thp before the program in ExecStart=.".to_owned());
        lines.push("MemoryTHP=disable".to_owned());
    }
    if !setting.arguments.is_empty() {
        lines.push(format!("# Put behind the program in ExecStart=: {}", setting.arguments.join(" ")));
    }
    lines
}

fn container(arm: &Arm, library: Option<&str>, folder: &Path) -> Vec<String> {
    let inside = |value: &str| folder.to_str().map_or(value.to_owned(), |at| value.replace(at, "/usr/local/lib"));
    let mut lines: Vec<String> = library.iter().map(|name| format!("COPY {name} /usr/local/lib/{name}")).collect();
    let value = |value: &str| inside(value).replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
    lines.extend(arm.variables.iter().map(|(name, text)| format!("ENV {name}=\"{}\"", value(text))));
    lines.extend(arm.cpus.iter().map(|cpus| format!("# docker run --cpuset-cpus {cpus}")));
    lines
}
