//! `pagewise advise`: which way to use here, and the file of advice that programs load.

mod saving;

use super::output::print_styled;
use super::{first_given, print, print_document, print_json, runs_folder};
use crate::plan::{Laboratory, Wish, advice};
use crate::run::advising::{AdviceOptions, AdviceSession, Spending};
use crate::{run::signals, worker};
use anyhow::{Context, Result, bail};
use clap::Args;
use judge::questions::advise::AdviceRequest;
use record::advice::{AdviceAnswer, Topic};
use record::json::ToJson;
use record::sizes::BYTES;
use record::{experiment::ParameterList, sizes};
use report::styled::StyledText;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, time::Instant};

#[derive(Debug, Args)]
pub(super) struct AdviseArgs {
    /// Task of the program: allocate, copy, fault, files, fork, interference, load, message, output, prefault, read, relay, reset,
    /// restore, share, transfer, unmap or write; without it the saved advice is shown.
    question: Option<String>,
    /// The size in question: 16MiB or 16M (binary, as in fio), 16MB (decimal).
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse_size)]
    bytes: Option<u64>,
    /// The very file to be read.
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Languages of the program: c, go, java, python, rust; c,java answers in both [default: c].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    languages: Vec<String>,
    /// The memory is kept: using what is there already counts, not getting it.
    #[arg(long)]
    keep: bool,
    /// Wait mode of message: block or spin.
    #[arg(long, value_name = "HOW", value_parser = ["block", "spin"])]
    wait: Option<String>,
    /// Threads that share the work of fault or prefault.
    #[arg(long, value_name = "N")]
    threads: Option<std::num::NonZeroU32>,
    /// The memory of prefault may not be taken back: as --set pinned=lock.
    #[arg(long)]
    pinned: bool,
    /// How the others read in interference: pread, mmap, mmap-random or mmap-sequential.
    #[arg(long, value_name = "HOW", value_parser = ["pread", "mmap", "mmap-random", "mmap-sequential"])]
    victim: Option<String>,
    /// Memory bound of interference; the others' hot set is half of it, the file twice as large.
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse_size)]
    bound: Option<u64>,
    /// Anything else that is the case, such as cache=cold. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Ask in these states of the machine, too: fragmented-movable, swap-zram … or all that matter to the question.
    #[arg(long, value_name = "STATE[,STATE]", value_delimiter = ',')]
    state: Vec<String>,
    /// Allow changes such as a state of the machine; everything is put back.
    #[arg(long)]
    allow_system_changes: bool,
    /// Time to spend [default: 40s for a question, 20s for prefault, 30s for each question of --save].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    budget: Option<f64>,
    /// A gain below this share is none.
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "2%",
          conflicts_with = "merge")]
    margin: f64,
    /// Seed of all orders and data [default: from the clock; it is kept].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Measure everything, also what kept runs of this machine answer, and save nothing of older advice.
    #[arg(long)]
    fresh: bool,
    /// Measure although another run is measuring on this machine, which marks both; and let --save and --merge replace a
    /// file that is no advice.
    #[arg(long)]
    force: bool,
    /// Print it as JSON (crates/record/schema/advice-answer.schema.json).
    #[arg(long)]
    json: bool,
    /// Measure every question, or the one named, and keep the advice where programs look for it.
    #[arg(long, conflicts_with_all = ["file", "languages", "keep", "wait", "threads", "pinned", "victim", "bound",
                                        "set", "json"])]
    save: bool,
    /// File to save or show [default: the place where programs look].
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Merge these files of equal machines into the saved one; what they disagree about becomes wider. One file alone, such
    /// as one that was changed by hand, is sealed anew.
    #[arg(long, value_name = "FILE", num_args = 1..,
          conflicts_with_all = ["question", "save", "json", "bytes", "file", "languages", "keep", "wait",
                              "threads", "pinned", "victim", "bound", "set"])]
    merge: Vec<PathBuf>,
}

impl AdviseArgs {
    /// True if a question may have to be measured.
    pub(super) fn measures(&self) -> bool {
        self.merge.is_empty() && (self.question.is_some() || self.save)
    }

    /// Refuses options that only a measurement uses.
    fn measures_nothing(&self) -> Result<()> {
        let given = [
            (self.budget.is_some(), "--budget"),
            (self.seed.is_some(), "--seed"),
            (self.fresh, "--fresh"),
            (!self.state.is_empty(), "--state"),
            (self.allow_system_changes, "--allow-system-changes"),
        ];
        match first_given(&given) {
            Some(option) => {
                bail!("{option} belongs to a question or to --save: nothing is measured here")
            }
            None => Ok(()),
        }
    }
}

/// The laboratory is opened only to measure.
pub(super) fn advise(
    laboratory: impl FnOnce() -> Result<Laboratory>,
    arguments: &AdviseArgs,
) -> Result<u8> {
    if !arguments.measures() {
        arguments.measures_nothing()?;
    }
    if !arguments.state.is_empty() && !arguments.allow_system_changes {
        bail!(super::run::UNPERMITTED);
    }
    match &arguments.question {
        _ if !arguments.merge.is_empty() => saving::merge(arguments),
        _ if arguments.save => save(&laboratory()?, arguments),
        Some(question) => answer(&laboratory()?, arguments, question),
        None => shown(arguments),
    }
}

/// The saved advice, as a person reads it.
fn shown(arguments: &AdviseArgs) -> Result<u8> {
    let asks = arguments.bytes.is_some()
        || arguments.file.is_some()
        || arguments.keep
        || arguments.threads.is_some()
        || arguments.pinned
        || arguments.wait.is_some()
        || arguments.victim.is_some()
        || arguments.bound.is_some();
    if asks || !arguments.set.is_empty() || !arguments.languages.is_empty() {
        let names: Vec<String> = advice::topics()?.into_iter().map(|t| t.id).collect();
        bail!(
            "say what the program does: advise {} --bytes 16MiB",
            names.join("|")
        );
    }
    let (path, advice) = saving::saved(arguments.out.as_deref())?;
    if arguments.json {
        return print(&advice.canonical()?);
    }
    let differences = advice.machine.differences(&saving::here()?);
    print_document(&report::advise::saved(
        &advice,
        &path.display().to_string(),
        &differences,
    ))
}

fn save(laboratory: &Laboratory, arguments: &AdviseArgs) -> Result<u8> {
    let topics = match &arguments.question {
        Some(id) => vec![advice::topic(id)?],
        None => advice::topics()?.into_iter().filter(|t| t.saved).collect(),
    };
    if let Some(topic) = topics.iter().find(|t| !t.saved) {
        bail!(
            "the answer of {} does not depend on a size, so it has no place in the file of advice",
            topic.id
        );
    }
    let mut session = session(laboratory, arguments, &topics)?;
    let budget_s = arguments
        .budget
        .unwrap_or(saving::QUESTION_S * topics.len() as f64);
    saving::save(&mut session, topics, budget_s, arguments)
}

fn session<'a>(
    laboratory: &'a Laboratory,
    arguments: &AdviseArgs,
    topics: &[Topic],
) -> Result<AdviceSession<'a>> {
    let experiments: Vec<&str> = topics
        .iter()
        .map(|topic| topic.experiment.as_str())
        .collect();
    let wish = Wish::new(Vec::new(), ParameterList::Default);
    let kept = if arguments.fresh {
        Vec::new()
    } else {
        super::kept::summaries(laboratory, &experiments)
    };
    let options = AdviceOptions {
        store: runs_folder(),
        seed: arguments.seed,
        forced: arguments.force,
        allow_system_changes: arguments.allow_system_changes,
        margin: arguments.margin,
    };
    Ok(AdviceSession::new(laboratory, wish, kept, options))
}

fn terms(
    laboratory: &Laboratory,
    arguments: &AdviseArgs,
    topic: &Topic,
) -> Result<advice::AdviceTerms> {
    let states = arguments.state.clone();
    let mut terms = advice::AdviceTerms {
        again: arguments.keep,
        states,
        ..advice::AdviceTerms::default()
    };
    for word in &arguments.set {
        set(&mut terms, laboratory.setting(word)?)?;
    }
    if let Some(wait) = &arguments.wait {
        terms.settings.insert("wait".to_owned(), wait.clone());
    }
    if let Some(threads) = arguments.threads {
        terms
            .settings
            .insert("threads".to_owned(), threads.to_string());
    }
    if arguments.pinned && topic.experiment != "prefault" {
        bail!("--pinned says that memory stays resident, so ask advise prefault --pinned");
    }
    if arguments.pinned
        && terms
            .settings
            .insert("pinned".to_owned(), "lock".to_owned())
            .is_some()
    {
        bail!("--pinned and --set pinned=… are two answers to one question");
    }
    if let Some(victim) = &arguments.victim {
        terms.settings.insert("victim".to_owned(), victim.clone());
    }
    terms.bytes = arguments.bytes;
    if let Some(bound) = arguments.bound {
        for (key, bytes) in [("bound", bound), ("hot", bound / 2)] {
            let setting = terms.settings.entry(key.to_owned());
            setting.or_insert_with(|| bytes.to_string());
        }
        terms.bytes.get_or_insert(bound.saturating_mul(2));
    }
    if let Some(path) = &arguments.file {
        read_file(&mut terms, laboratory, topic, path)?;
    }
    Ok(terms)
}

/// Takes a value of `--set`. Errors: there are several, the key has an option of its own, or it was given already.
fn set(terms: &mut advice::AdviceTerms, (key, values): (String, Vec<String>)) -> Result<()> {
    let [value] = &values[..] else {
        bail!("--set {key} takes one value here")
    };
    if key == BYTES {
        bail!("the size is given by --bytes");
    }
    if terms.settings.insert(key.clone(), value.clone()).is_some() {
        bail!("--set {key} is given twice");
    }
    Ok(())
}

/// Takes the file that is to be read, and its size. Errors: the topic reads none, or the file has less than `--bytes`.
fn read_file(
    terms: &mut advice::AdviceTerms,
    laboratory: &Laboratory,
    topic: &Topic,
    path: &Path,
) -> Result<()> {
    if topic.experiment != "read" {
        bail!(
            "--file says what to read, so ask advise read --file {}",
            path.display()
        );
    }
    let setting = format!(
        "file={}",
        path.to_str().context("--file: the path is not UTF-8")?
    );
    let what = std::slice::from_ref(&topic.experiment);
    let wish = laboratory.wish(what, &[setting], ParameterList::Default)?;
    for (key, values) in wish.settings {
        let value = values.first().cloned().unwrap_or_default();
        if key == BYTES {
            let file_bytes = sizes::parse_size(&value)?;
            if terms.bytes.is_some_and(|wanted| wanted > file_bytes) {
                bail!(
                    "--bytes is more than {} has ({file_bytes} bytes)",
                    path.display()
                );
            }
            terms.bytes.get_or_insert(file_bytes);
        } else if key != "consume" {
            terms.settings.insert(key, value);
        }
    }
    Ok(())
}

fn answer(laboratory: &Laboratory, arguments: &AdviseArgs, question: &str) -> Result<u8> {
    if arguments.out.is_some() {
        bail!("--out says where advice is saved or read, and a question does neither; add --save");
    }
    let topic = advice::topic(question)?;
    let terms = terms(laboratory, arguments, &topic)?;
    let topics: Vec<Topic> = match arguments.languages.as_slice() {
        [] => vec![topic.clone()],
        languages => languages
            .iter()
            .map(|l| advice::in_language(&topic, l, &laboratory.workers))
            .collect::<Result<_>>()?,
    };
    let mut session = session(laboratory, arguments, std::slice::from_ref(&topic))?;
    let usual_s = topic.budget_s.unwrap_or(saving::ANSWER_S);
    let budget_s = arguments.budget.unwrap_or(usual_s) / topics.len() as f64;
    let mut answers = Vec::new();
    for topic in topics {
        if session.stopped_by.is_none() {
            answers.push(answer_of(
                &mut session,
                topic,
                &terms,
                budget_s,
                arguments.file.is_some(),
            )?);
        }
    }
    match answers.as_slice() {
        [one] if arguments.json => print_json(&one.to_json()?)?,
        several if arguments.json => {
            let several: Vec<_> = several
                .iter()
                .map(ToJson::to_json)
                .collect::<Result<_, _>>()?;
            print_json(&several)?
        }
        _ => {
            let text = |answer| super::output::text(&report::advise::answer(answer), false, false);
            print_styled(&StyledText::joined(answers.iter().map(text)))?
        }
    };
    Ok(match session.stopped_by {
        Some(signal) => signals::exit_code(signal),
        None => {
            4 * u8::from(
                answers
                    .iter()
                    .all(|answer| answer.case.way.is_none() && answer.segments.is_empty()),
            )
        }
    })
}

fn answer_of(
    session: &mut AdviceSession,
    topic: Topic,
    terms: &advice::AdviceTerms,
    budget_s: f64,
    own_file: bool,
) -> Result<AdviceAnswer> {
    let request = session.request(topic, terms)?;
    let spending = Spending::new(&request, budget_s);
    let earlier = session.runs().len();
    let begun = Instant::now();
    session.measure_point(&request, &spending)?;
    let further_s = spending.axis_s + spending.cases_s;
    if further_s > 0.0 && session.stopped_by.is_none() {
        let first = judged(session, &request, &[], earlier);
        let took_s = begun.elapsed().as_secs_f64();
        remark!("{}", report::advise::so_far(&first, took_s, further_s));
    }
    let cases = session.measure_changes(&request, &spending, own_file)?;
    Ok(judged(session, &request, &cases, earlier))
}

/// The answer to a question, by what is known of it; `earlier` runs were made for others.
fn judged(
    session: &AdviceSession,
    request: &AdviceRequest,
    cases: &[BTreeMap<String, String>],
    earlier: usize,
) -> AdviceAnswer {
    let Topic {
        experiment, worker, ..
    } = &request.topic;
    let language = worker::language_of(&session.laboratory.workers, worker);
    judge::questions::advise::answer(
        request,
        cases,
        &session.summaries(),
        &session.runs()[earlier..],
        session.options.margin,
        |method| saving::snippets(experiment, method, language),
    )
}
