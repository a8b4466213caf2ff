//! The file of advice: its places, made, found, merged.

use super::{super::print_document, AdviseArgs};
use crate::run::advising::AdviceSession;
use crate::worker::{self, Language, carried};
use crate::{machine, machine::fingerprint, plan, plan::advice, run::signals};
use anyhow::{Context, Result, bail};
use files::Folder;
use judge::questions::advise::AdviceRequest;
use record::advice::{ADVICE_SCHEMA, Advice, Fingerprint, Question, Snippet, Topic, is_sealed};
use std::path::{Path, PathBuf};

/// Seconds for each question of the file.
pub(super) const QUESTION_S: f64 = 30.0;
/// Around the part of a snippet that is shown; what lies outside makes it a program.
const MARKS: [&str; 3] = ["/* --- */\n", "// ---\n", "# ---\n"];
/// Seconds for a question that a user asks.
pub(super) const ANSWER_S: f64 = 40.0;

pub(super) fn here() -> Result<Fingerprint> {
    Ok(fingerprint(
        &machine::capture(Path::new("/")),
        worker::glibc()?,
    ))
}

fn read(path: &Path) -> Result<Advice> {
    let text = plan::text_of(path)?;
    Advice::parse(&text).with_context(|| path.display().to_string())
}

/// Advice that its user may have changed by hand: a merge of one file seals it.
fn read_changed(path: &Path) -> Result<Advice> {
    let text = plan::text_of(path)?;
    let advice = Advice::parse_changed(&text).with_context(|| path.display().to_string())?;
    if !is_sealed(&text) {
        remark!(
            "pagewise: {} is not as it was written; it is sealed as it is now",
            path.display()
        );
    }
    Ok(advice)
}

/// The saved advice with its path. What stands at a usual place is the user's own or the administrator's.
pub(super) fn saved(named: Option<&Path>) -> Result<(PathBuf, Advice)> {
    let Some(path) = named
        .map_or_else(all, |path| vec![path.to_owned()])
        .into_iter()
        .find(|path| path.is_file())
    else {
        let looked: Vec<String> = named
            .map_or_else(all, |p| vec![p.to_owned()])
            .iter()
            .map(|p| p.display().to_string())
            .collect();
        bail!(
            "no advice is saved (looked at {}); advise --save makes it",
            looked.join(", ")
        );
    };
    if named.is_none() {
        files::obeyed_file(&path)?;
    }
    let advice = read(&path)?;
    Ok((path, advice))
}

/// Writes it under another name first, so that no program ever loads a part of it.
fn write(path: &Path, advice: &Advice) -> Result<()> {
    Ok(Folder::make(folder_of(path))?.write_shared(
        path.file_name().unwrap_or_default(),
        advice.canonical()?.as_bytes(),
    )?)
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Advice that the file has already; `None` where there is no file, or another one that may be replaced.
/// Errors: it cannot be written, or it is no advice and may not be replaced. Asked before time is spent on its content.
fn replaced(path: &Path, force: bool) -> Result<Option<Advice>> {
    may_write(path)?;
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    match read(path) {
        Ok(advice) => Ok(Some(advice)),
        Err(error) if force => {
            remark!("pagewise: {error:#}; it is replaced");
            Ok(None)
        }
        Err(error) => Err(error.context(format!(
            "{} is there and is no advice; --force replaces it",
            path.display()
        ))),
    }
}

/// An error if the file cannot be written.
fn may_write(path: &Path) -> Result<()> {
    if folder_of(path).is_dir() {
        files::Output::at(path, true)?;
        return Ok(());
    }
    Ok(Folder::can_be_fresh(folder_of(path))?)
}

/// Measures what the questions lack, and saves the answers together with those that are there already.
pub(super) fn save(
    session: &mut AdviceSession,
    topics: Vec<Topic>,
    budget_s: f64,
    arguments: &AdviseArgs,
) -> Result<u8> {
    let mut advice = Advice {
        schema: ADVICE_SCHEMA,
        created: jiff::Timestamp::now().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: here()?,
        margin: session.options.margin,
        questions: std::collections::BTreeMap::new(),
    };
    let path = target(arguments.out.as_deref());
    let older = replaced(&path, arguments.force)?;
    let begun = std::time::Instant::now();
    let count = topics.len();
    for (done, topic) in topics.into_iter().enumerate() {
        let id = topic.id.clone();
        let states = arguments.state.clone();
        let terms = advice::AdviceTerms {
            saved_only: true,
            states,
            ..advice::AdviceTerms::default()
        };
        let request = session.request(topic, &terms)?;
        let share_s = (budget_s - begun.elapsed().as_secs_f64()) / (count - done) as f64;
        advice
            .questions
            .insert(id, question(session, &request, share_s)?);
        if session.stopped_by.is_some() {
            break;
        }
    }
    let merged = match older {
        // Advice of another machine is replaced by what was measured here.
        Some(older) if !arguments.fresh && older.machine == advice.machine => {
            judge::questions::advise::merge(&[advice, older])?
        }
        _ => advice,
    };
    write(&path, &merged)?;
    print_document(&report::advise::saved(
        &merged,
        &path.display().to_string(),
        &[],
    ))?;
    Ok(session.stopped_by.map_or(0, signals::exit_code))
}

/// The answers at all sizes: under the usual condition in half of the time, under the others in the rest.
fn question(
    session: &mut AdviceSession,
    request: &AdviceRequest,
    budget_s: f64,
) -> Result<Question> {
    let conditions: Vec<(&String, &String)> = request
        .open
        .iter()
        .flat_map(|(key, all)| all[1..].iter().map(move |value| (key, value)))
        .collect();
    let usual_s = if conditions.is_empty() {
        budget_s
    } else {
        budget_s / 2.0
    };
    session.axis(request, usual_s, u64::MAX)?;
    let mut question =
        judge::questions::advise::question(request, &session.summaries(), session.options.margin);
    for (key, all) in &request.open {
        question
            .conditions
            .insert(format!("{key}={}", all[0]), question.segments.clone());
    }
    for (key, value) in &conditions {
        if session.stopped_by.is_none() {
            let under = request.under(key, value);
            session.axis(&under, usual_s / conditions.len() as f64, u64::MAX)?;
            let answer = judge::questions::advise::question(
                &under,
                &session.summaries(),
                session.options.margin,
            );
            question
                .conditions
                .insert(format!("{key}={value}"), answer.segments);
        }
    }
    Ok(question)
}

/// Merges files into the saved one.
pub(super) fn merge(arguments: &AdviseArgs) -> Result<u8> {
    let parts: Vec<Advice> = match &arguments.merge[..] {
        [only] => vec![read_changed(only)?],
        several => several
            .iter()
            .map(|path| read(path))
            .collect::<Result<_>>()?,
    };
    let merged = judge::questions::advise::merge(&parts)?;
    let path = target(arguments.out.as_deref());
    replaced(&path, arguments.force)?;
    write(&path, &merged)?;
    let differences = merged.machine.differences(&here()?);
    print_document(&report::advise::saved(
        &merged,
        &path.display().to_string(),
        &differences,
    ))
}

/// The calls of a method in a language, as far as they are carried.
pub(super) fn snippets(experiment: &str, method: &str, language: Option<Language>) -> Vec<Snippet> {
    let start = format!("snippets/{experiment}/{method}.");
    let mut snippets = Vec::new();
    for (path, code) in carried::SNIPPETS {
        let Some(extension) = path.strip_prefix(&start) else {
            continue;
        };
        if language.is_none() || Language::of_extension(extension) != language {
            continue;
        }
        let marked = MARKS.iter().find_map(|mark| code.split(mark).nth(1));
        snippets.push(Snippet {
            language: extension.to_owned(),
            path: (*path).to_owned(),
            code: marked.unwrap_or(code).trim_end().to_owned(),
        });
    }
    snippets
}

const VARIABLE: &str = "PAGEWISE_ADVICE";
/// Place for all users, written by an administrator.
const SYSTEM: &str = "/etc/pagewise/advice.json";

/// All places in their order: `$PAGEWISE_ADVICE` alone where set, else the user's own and the machine's.
pub(super) fn all() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let configured = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".config"));
    configured
        .or_else(home)
        .map(|p| p.join("pagewise/advice.json"))
        .into_iter()
        .chain([PathBuf::from(SYSTEM)])
        .collect()
}

pub(super) fn target(named: Option<&Path>) -> PathBuf {
    named
        .map(Path::to_owned)
        .or_else(|| all().into_iter().next())
        .unwrap_or_else(|| PathBuf::from(SYSTEM))
}
