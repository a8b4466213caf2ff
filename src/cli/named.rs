//! Kept runs by the words that stand for them: an id, a folder, `last`, `tag:NAME`.

use super::{runs_folder, tags};
use anyhow::{Context, Result, anyhow, bail};
use files::Folder;
use record::{folder::RunFolder, kind::Kind, sizes::did_you_mean};
use std::ffi::OsString;
use std::path::Path;

/// Prefix of a word that stands for all runs of a tag.
const TAG: &str = "tag:";
/// The word that stands for the newest entry of the list of runs.
const LAST: &str = "last";

/// Before the number of a further run of one command: `20261121T171805Z-1a2b3c4d-p2`.
pub(super) const PART: &str = "-p";

/// The first run of the command that made this further one.
pub(super) fn first_of(run: &str) -> Option<&str> {
    run.rsplit_once(PART)
        .filter(|(_, number)| number.parse::<u32>().is_ok())
        .map(|(first, _)| first)
}

/// The folder of kept runs. `None` where nothing is kept yet, and where another user can change it, which is said.
pub(super) fn store() -> Option<Folder> {
    match Folder::trusted(&runs_folder()) {
        Ok(store) => Some(store),
        Err(error) => {
            if !error.is_missing() {
                let error = anyhow::Error::from(error);
                remark!("pagewise: {error:#}; no kept run is looked for there");
            }
            None
        }
    }
}

fn store_names() -> Vec<OsString> {
    store()
        .and_then(|store| store.names().ok())
        .unwrap_or_default()
}

/// The kept runs that a word stands for: `tag:NAME` all of a tag, `last` the newest, any other word itself.
pub(super) fn named(word: &str) -> Result<Vec<String>> {
    let store = runs_folder();
    if let Some(tag) = word.strip_prefix(TAG) {
        let tagged: Vec<String> = kept_names()
            .iter()
            .map(|name| store.join(name))
            .filter(|folder| tags::read(folder).iter().any(|kept| kept == tag))
            .map(|folder| folder.display().to_string())
            .collect();
        if tagged.is_empty() {
            bail!("no kept run has the tag {tag:?}; pagewise runs tag RUN {tag} gives it one");
        }
        return Ok(tagged);
    }
    if word != LAST || Path::new(word).is_dir() {
        return Ok(vec![word.to_owned()]);
    }
    let names = kept_names();
    let newest = names
        .last()
        .with_context(|| format!("no run is kept yet below {}", store.display()))?;
    // Of several runs of one command the first stands for them all, as in the list of runs.
    let first = first_of(newest).filter(|first| names.iter().any(|name| name == first));
    let folder = store.join(first.unwrap_or(newest));
    Ok(vec![folder.display().to_string()])
}

/// Names of the kept runs, the newest last.
fn kept_names() -> Vec<String> {
    let mut names: Vec<String> = store_names()
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .collect();
    // Names begin with the time; those that a user made come before them.
    names.sort_by_key(|name| (name.starts_with(|c: char| c.is_ascii_digit()), name.clone()));
    names
}

/// A kept run of this user that `verb --resume` may go on with.
/// Errors: it is another user's, of another verb, or finished.
pub(super) fn resumable(word: &str, verb: Kind) -> Result<RunFolder> {
    let folder = folder(word)?.mine()?;
    folder.check_resumable(verb)?;
    Ok(folder)
}

/// The one kept run that a word stands for: the newest of a tag.
pub(super) fn folder(word: &str) -> Result<RunFolder> {
    let name = named(word)?.pop().unwrap_or_else(|| word.to_owned());
    let store = runs_folder();
    let is_there = Path::new(&name).exists() || store.join(&name).exists();
    let known: Vec<String> = if is_there {
        Vec::new()
    } else {
        let names = store_names().into_iter();
        names.filter_map(|name| name.into_string().ok()).collect()
    };
    let hint = did_you_mean(
        &name,
        known
            .iter()
            .map(String::as_str)
            .chain((!is_there).then_some(LAST)),
    );
    RunFolder::open(&name, &store).map_err(|error| {
        if hint.is_empty() {
            error
        } else {
            anyhow!("{error:#}{hint}")
        }
    })
}
