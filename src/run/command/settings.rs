//! The settings that can be tried: those that the binary carries, a user's own files, and the short forms.

use crate::{plan::text_of, worker::carried};
use anyhow::{Context, Result, bail};
use record::{setting::Setting, sizes::did_you_mean};
use std::path::Path;

/// All settings that the binary carries, by name.
pub fn all() -> Result<Vec<Setting>> {
    let mut all: Vec<Setting> =
        carried::SETTINGS.iter().map(|(path, text)| Setting::parse(path, text)).collect::<Result<_>>()?;
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The settings of `--with`: names and files by commas, or one `env:NAME=VALUE` or `args:WORDS`, in which a comma is a comma.
pub fn of_words(names: &[String]) -> Result<Vec<Setting>> {
    let carried = all()?;
    let mut settings: Vec<Setting> = Vec::new();
    for word in names {
        let alone = word.starts_with("env:") || word.starts_with("args:");
        let parts: Vec<&str> = if alone { vec![word] } else { word.split(',').collect() };
        for part in parts {
            let setting = setting(part.trim_matches(|c: char| !alone && c.is_whitespace()), &carried)?;
            if settings.iter().any(|s| s.name == setting.name) {
                bail!("--with names {} twice", setting.name);
            }
            settings.push(setting);
        }
    }
    Ok(settings)
}

fn setting(word: &str, carried: &[Setting]) -> Result<Setting> {
    if let Some(text) = word.strip_prefix("env:") {
        return Setting::variable(text);
    }
    if let Some(text) = word.strip_prefix("args:") {
        return Setting::arguments(text);
    }
    if word.contains('/') || Path::new(word).extension().is_some_and(|e| e == "toml") {
        let text = text_of(word.as_ref())?;
        return Setting::parse(word, &text);
    }
    carried.iter().find(|s| s.name == word).cloned().with_context(|| {
        let names: Vec<&str> = carried.iter().map(|s| s.name.as_str()).collect();
        let hint = did_you_mean(word, names.iter().copied());
        format!("there is no setting \"{word}\"{hint} (there are {}, env:NAME=VALUE, args:WORDS and files)", names.join(", "))
    })
}

/// The list of `try --list`.
pub fn list() -> Result<String> {
    let mut text = String::new();
    for setting in all()? {
        text += &format!("{:<13} {}\n", setting.name, setting.title);
        if !setting.side_effects.is_empty() {
            text += &format!("{:<13} side effect: {}\n", "", setting.side_effects);
        }
    }
    text += "env:NAME=VALUE  any variable\nargs:WORDS      words behind the program's name\nFILE.toml       a setting of your own, written like those in settings/\n";
    Ok(text)
}

#[cfg(test)]
#[path = "../../../tests/unit/run/command/settings.rs"]
mod tests;
