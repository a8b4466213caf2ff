//! Files that deploy what a try has shown to cost less. Their texts are templates in `policy.toml`.

use super::trial::{exports, finding};
use crate::render::escape;
use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use record::command::{Arm, TrialSummary};
use std::{collections::BTreeMap, path::Path};

const FILES: &str = include_str!("policy.toml");

/// Files that deploy a setting.
pub struct Deployment {
    pub setting: String,
    /// Content by name; programs end in `.sh`.
    pub files: BTreeMap<String, String>,
    /// The library of Pagewise's that goes with them, by its path and its name in their folder.
    pub preload: Option<(String, String)>,
}

/// The policy of the setting that won, for a folder; nothing where none is shown to cost less.
pub fn policy(summary: &TrialSummary, folder: &Path) -> Option<Deployment> {
    let best = judge::program::trial::best(summary)?;
    let mut arm = summary.plan.arms[best].clone();
    let setting = arm.setting.clone()?;
    // A library of Pagewise's lies in its cache, which is no place to deploy from.
    let preload = arm.preloaded.clone().filter(|_| setting.advise_mappings);
    let preload = preload.and_then(|path| {
        let name = Path::new(&path).file_name()?.to_str()?.to_owned();
        if name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)) {
            return None;
        }
        let deployed = folder.join(&name).to_str()?.to_owned();
        for value in arm.variables.values_mut() {
            *value = value.replace(&path, &deployed);
        }
        Some((path, name))
    });
    let finding = finding(&summary.arms[best]);
    let copied = preload.as_ref().map(|(_, name)| name.as_str());
    Some(Deployment {
        files: texts(&arm, &finding, &summary.plan.run, copied, folder),
        setting: setting.name,
        preload,
    })
}

/// Texts of the files by name; none of an arm without a setting.
fn texts(
    arm: &Arm,
    finding: &str,
    run: &str,
    copied: Option<&str>,
    folder: &Path,
) -> BTreeMap<String, String> {
    let setting = arm.setting.clone().unwrap_or_default();
    // First a line that a Dockerfile cannot take for a directive to its parser, such as `# syntax=…`.
    let mut about = vec![
        format!("pagewise report {run}"),
        format!("{}: {}", setting.name, setting.title),
        finding.to_owned(),
    ];
    about.extend(
        (!setting.side_effects.is_empty())
            .then(|| format!("Side effect: {}.", setting.side_effects)),
    );
    let about: Vec<String> = about
        .iter()
        .map(|line| format!("# {}", escape::number_sign(line)))
        .collect();
    let in_image = deployed(arm, folder);
    let values = context! {
        about => about.join("\n"),
        exports => exports(arm).into_iter().map(|line| line + "\n").collect::<String>(),
        systemd => assignments(arm, "Environment=", "a file of systemd", escape::systemd),
        dockerfile => assignments(&in_image, "ENV ", "a Dockerfile", escape::dockerfile),
        processors => arm.cpus.as_ref().filter(|cpus| is_cpu_list(cpus)),
        java_options => java_options(&setting.java_options),
        copied => copied,
        ..Value::from(Serde(arm))
    };
    let mut files: BTreeMap<String, String> =
        toml::from_str(FILES).expect("the file is well formed");
    let templates = templates();
    files.values_mut().for_each(|text| {
        *text = templates
            .render_str(text, &values)
            .expect("a template fits every arm")
    });
    files.retain(|_, text| !text.is_empty());
    files
}

/// A line for each variable by `assignment`; a comment in place of one that `file` cannot hold.
fn assignments(
    arm: &Arm,
    keyword: &str,
    file: &str,
    assignment: fn(&str, &str) -> Option<String>,
) -> String {
    let mut lines = String::new();
    for (name, value) in &arm.variables {
        lines += &match assignment(name, value) {
            Some(assigned) => format!("{keyword}{assigned}\n"),
            None => format!(
                "# {} is left out: {file} cannot hold its value\n",
                escape::number_sign(name)
            ),
        };
    }
    lines
}

/// The arm in an image, where the library is in the usual folder.
fn deployed(arm: &Arm, folder: &Path) -> Arm {
    let mut arm = arm.clone();
    let folder = folder.to_string_lossy();
    for value in arm.variables.values_mut() {
        *value = value.replace(&*folder, "/usr/local/lib");
    }
    arm
}

fn is_cpu_list(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || ",-".contains(c))
}

/// A line of `jvm.options`, which has no escapes.
fn java_options(options: &str) -> String {
    if options.contains(escape::is_steering) {
        format!(
            "# left out, because a line cannot hold it: {}",
            escape::number_sign(options)
        )
    } else {
        options.to_owned()
    }
}

/// Templates with the ways to quote a text.
fn templates() -> Environment<'static> {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .keep_trailing_newline(true)
        .build();
    templates.set_syntax(syntax.expect("the usual marks"));
    templates.add_filter("shell", |text: String| escape::shell(&text));
    templates.add_filter("comment", |text: String| escape::number_sign(&text));
    templates
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: [&str; 12] = [
        "a\nExecStartPre=/bin/evil",
        "a\nRUN evil",
        "a\r\nRUN evil",
        "a\\",
        "a\"; evil; \"",
        "$(evil) `evil` ${HOME}",
        "'; evil; '",
        "\u{1b}]0;x\u{7}\u{9b}31m",
        "\u{202e}\u{2028}\u{e001}",
        "%n %% 100 %",
        "syntax=evil/frontend",
        "",
    ];

    fn arm(text: &str) -> Arm {
        let name = format!("A{}", text.replace(['=', '\0'], ""));
        serde_json::from_value(serde_json::json!({
            "name": text, "role": "setting", "shown": text, "command": [text], "cpus": text,
            "variables": { "PLAIN": text, name: text },
            "setting": {
                "name": text, "title": text, "side_effects": text, "arguments": [text, text],
                "java_options": text, "no_thp": true, "env": { "PLAIN": text },
            },
        }))
        .expect("an arm")
    }

    /// Lines of a file of systemd as systemd.syntax(7) has them, with the kinds of line that a drop-in may have.
    fn is_drop_in(text: &str) -> bool {
        text.lines().all(|line| {
            let is_known = ["# ", "Environment=\"", "CPUAffinity=", "MemoryTHP=disable"]
                .iter()
                .any(|start| line.starts_with(start));
            (line.is_empty() || line == "[Service]" || is_known) && !line.ends_with('\\')
        })
    }

    fn is_recipe(text: &str) -> bool {
        let is_instruction = |line: &str| line.starts_with("ENV ") || line.starts_with("COPY ");
        let is_line =
            |line: &str| line.is_empty() || line.starts_with("# ") || is_instruction(line);
        text.starts_with("# pagewise report ")
            && text
                .lines()
                .all(|line| is_line(line) && !line.ends_with('\\'))
    }

    /// Value of `PLAIN` and the number of programs called `evil` that ran, as a shell reads a file.
    fn in_a_shell(text: &str) -> (String, bool) {
        let script = format!("evil() {{ echo EVIL >&2; }}\n{text}\nprintf %s \"$PLAIN\"");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output();
        let output = output.expect("there is a shell");
        let value = String::from_utf8_lossy(&output.stdout).into_owned();
        (value, output.stderr.is_empty())
    }

    #[test]
    fn no_value_becomes_an_order() {
        for text in HOSTILE {
            let files = texts(&arm(text), text, text, None, Path::new("/deployed"));
            for (name, content) in &files {
                let steers = |sign: char| !"\n\t".contains(sign) && escape::is_steering(sign);
                assert_eq!(
                    content.chars().find(|c| steers(*c)),
                    None,
                    "{name}: {content}"
                );
            }
            assert!(
                is_drop_in(&files["systemd.conf"]),
                "{}",
                files["systemd.conf"]
            );
            assert!(is_recipe(&files["Dockerfile"]), "{}", files["Dockerfile"]);
            assert_eq!(
                in_a_shell(&files["environment.sh"]),
                (text.to_owned(), true),
                "{}",
                files["environment.sh"]
            );
            let options = files.get("jvm.options").map_or("", String::as_str);
            let is_option = |line: &str| line.starts_with("# ") || line == text;
            assert!(options.lines().all(is_option), "{options}");
        }
    }
}
