//! Topics of advice, and the cells that answer a question here.

use super::{select, states, wish::Wish};
use crate::worker::{Worker, carried};
use anyhow::{Context, Result, bail};
use judge::questions::advise::AdviceRequest;
use record::advice::{Topic, Way};
use record::cell::{Cell, Selector};
use record::experiment::{Experiment, Parameter, ParameterList};
use record::machine_state::{PLAIN, STATE};
use record::method::{Method, Role};
use record::sizes::did_you_mean;
use std::collections::BTreeMap;

/// All topics that the binary carries.
pub fn topics() -> Result<Vec<Topic>> {
    carried::TOPICS
        .iter()
        .map(|(path, text)| Topic::parse(path, text))
        .collect()
}

/// The topic of a word.
pub fn topic(id: &str) -> Result<Topic> {
    let all = topics()?;
    let names: Vec<&str> = all.iter().map(|t| t.id.as_str()).collect();
    all.iter().find(|t| t.id == id).cloned().with_context(|| {
        let hint = did_you_mean(id, names.iter().copied());
        format!(
            "there is no advice on \"{id}\"{hint} (there is on {})",
            names.join(", ")
        )
    })
}

/// Terms of a question.
#[derive(Clone, Debug, Default)]
pub struct AdviceTerms {
    /// `--set` and what stands for it.
    pub settings: BTreeMap<String, String>,
    /// The size in bytes; the topic's where left out.
    pub bytes: Option<u64>,
    /// True if what is used is there already: a further use counts and not the first.
    pub again: bool,
    /// True if only what stands in the file of advice takes part.
    pub saved_only: bool,
    /// States of the machine that are asked about besides the plain one.
    pub states: Vec<String>,
}

/// The question with its cells. `wish` says what `N` and a page are here.
pub fn request(
    topic: Topic,
    terms: &AdviceTerms,
    all: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<AdviceRequest> {
    let experiment = &states::among(super::catalog::find(all, &topic.experiment)?, &terms.states)?;
    for key in terms.settings.keys() {
        if !experiment.parameters.contains_key(key) {
            let hint = did_you_mean(key, experiment.parameters.keys().map(String::as_str));
            bail!("{} has no parameter \"{key}\"{hint}", topic.id);
        }
    }
    let mut settings = topic.set.clone();
    settings.extend(terms.settings.clone());
    let bytes = terms
        .bytes
        .map_or_else(|| record::sizes::parse_size(&topic.bytes), Ok)?;
    let measure = match (&topic.uses, terms.again) {
        (_, false) => experiment.headline().to_owned(),
        (Some(uses), true) => uses.again.clone(),
        (None, true) => bail!(
            "{} knows no further use, so --keep means nothing to it",
            topic.id
        ),
    };
    settings.insert("bytes".to_owned(), bytes.to_string());
    if experiment.parameters.contains_key(STATE) {
        settings.insert(STATE.to_owned(), PLAIN.to_owned());
    }
    let cell = |method: &str, worker: &str| {
        one_cell(&topic, method, worker, &settings, (all, workers, wish))
    };
    let Some(obvious) = cell(&topic.obvious, &topic.worker)? else {
        bail!(
            "{}/{} cannot be measured in this case",
            topic.experiment,
            topic.obvious
        )
    };
    let mut ways = Vec::new();
    for way in topic
        .ways
        .iter()
        .filter(|w| !(terms.saved_only && w.only_asked))
    {
        ways.extend(cell(&way.method, &topic.worker)?.map(|cell| (way.method.clone(), cell)));
    }
    if ways.is_empty() {
        bail!(
            "there is nothing to compare with {} in this case",
            topic.obvious
        );
    }
    settings.remove("bytes");
    // As the experiment writes them: what was given as 1MiB is 1048576 in every summary.
    for (key, value) in &mut settings {
        if let Some(own) = obvious.parameters.get(key) {
            value.clone_from(own);
        }
    }
    let (experiment, open) = (
        experiment.clone(),
        open(experiment, &obvious, &terms.settings),
    );
    Ok(AdviceRequest {
        topic,
        settings,
        experiment,
        open,
        measure,
        obvious,
        ways,
        bytes,
    })
}

/// A topic in a language: its usual choice and the other methods there, by the newest worker.
pub fn in_language(topic: &Topic, language: &str, workers: &[Worker]) -> Result<Topic> {
    let mine = workers.iter().filter(|w| w.family() == language);
    let Some(worker) = mine.max_by_key(|w| version(&w.name)) else {
        bail!(
            "no worker here is in {language:?}{}",
            did_you_mean(language, workers.iter().map(Worker::family))
        );
    };
    if topic.worker.starts_with(&format!("{language}-")) {
        return Ok(topic.clone());
    }
    let Some(obvious) = topic.languages.get(language) else {
        let others = topic
            .languages
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let others = if others.is_empty() {
            "C only".to_owned()
        } else {
            format!("C, {others}")
        };
        bail!(
            "{} is not measured in {language}: it is in {others}",
            topic.id
        );
    };
    let ordinary = |m: &&Method| {
        m.experiment == topic.experiment && m.role == Role::Method && m.group.is_empty()
    };
    let others = worker
        .methods()
        .iter()
        .filter(ordinary)
        .filter(|m| m.name != *obvious);
    let way = |m: &Method| Way {
        method: m.name.clone(),
        ..topic.way(&m.name).cloned().unwrap_or_default()
    };
    Ok(Topic {
        does: format!("{}, in {}", topic.does, worker.name),
        obvious: obvious.clone(),
        worker: worker.name.clone(),
        ways: others.map(way).collect(),
        ..topic.clone()
    })
}

fn version(worker: &str) -> Vec<u32> {
    worker
        .split(['-', '.'])
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The conditions of an experiment that nobody set, with the values of its overview.
fn open(
    experiment: &Experiment,
    obvious: &Cell,
    set: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<String>> {
    let is_open = |(key, p): &(&String, &Parameter)| p.condition && !set.contains_key(*key);
    let values = |(key, p): (&String, &Parameter)| {
        let usual = obvious.parameters.get(key)?.clone();
        let listed = if p.look.is_empty() {
            &p.default
        } else {
            &p.look
        };
        let listed = listed
            .iter()
            .map(|word| record::sizes::parse_size(word).map_or(word.clone(), |n| n.to_string()));
        let others: Vec<String> = listed.filter(|value| *value != usual).collect();
        Some((key.clone(), std::iter::once(usual).chain(others).collect()))
    };
    experiment
        .parameters
        .iter()
        .filter(is_open)
        .filter_map(values)
        .collect()
}

/// The cell of a method; `None` where it has none in this case, such as one that knows no such value.
fn one_cell(
    topic: &Topic,
    method: &str,
    worker: &str,
    settings: &BTreeMap<String, String>,
    (all, workers, wish): (&[Experiment], &[Worker], &Wish),
) -> Result<Option<Cell>> {
    let known = workers
        .iter()
        .find(|w| w.name == worker)
        .and_then(|w| w.method(&topic.experiment, method));
    let Some(known) = known else { return Ok(None) };
    let name = format!("{}/{method}@{worker}", topic.experiment);
    let paired = if known.two_sided {
        format!("{name}+{worker}")
    } else {
        name
    };
    let has = |key: &String| key == STATE || known.keys.iter().any(|(k, _)| k == key);
    let relevant = settings
        .iter()
        .filter(|(k, _)| has(k))
        .map(|(k, v)| (k.clone(), vec![v.clone()]));
    let one_cell = Wish::new(vec![Selector::parse(&paired)?], ParameterList::Default);
    let wish = Wish {
        settings: relevant.collect(),
        cpus: wish.cpus,
        page_bytes: wish.page_bytes,
        ..one_cell
    };
    let (found, _) = select::cells(all, workers, &wish)?;
    Ok(found.into_iter().next().map(|planned| planned.cell))
}

/// The wish that measures a question at these sizes, in these cases.
pub fn wish(
    request: &AdviceRequest,
    sizes: &[u64],
    settings: &BTreeMap<String, String>,
    here: &Wish,
) -> Result<Wish> {
    let cells = || {
        request
            .ways
            .iter()
            .map(|(_, cell)| cell)
            .chain([&request.obvious])
    };
    let selectors = cells()
        .map(|c| Selector::parse(&c.name()))
        .collect::<Result<_>>()?;
    let known = |key: &String| cells().any(|c| c.parameters.contains_key(key));
    let mut all: Vec<(String, Vec<String>)> = settings
        .iter()
        .filter(|(key, _)| known(key))
        .map(|(k, v)| (k.clone(), vec![v.clone()]))
        .collect();
    all.push((
        "bytes".to_owned(),
        sizes.iter().map(u64::to_string).collect(),
    ));
    let (baseline, all_cells) = (
        Some(request.topic.obvious.clone()),
        Wish::new(selectors, ParameterList::Default),
    );
    Ok(Wish {
        settings: all,
        baseline,
        cpus: here.cpus,
        page_bytes: here.page_bytes,
        ..all_cells
    })
}

/// The other cases of a topic, each with one thing that differs.
pub fn cases(request: &AdviceRequest) -> Vec<BTreeMap<String, String>> {
    let known = |key: &str| {
        request.obvious.parameters.contains_key(key)
            || request
                .ways
                .iter()
                .any(|(_, c)| c.parameters.contains_key(key))
    };
    let other = |(key, value): (&String, &String)| {
        let differs = request.settings.get(key) != Some(value) && known(key);
        let mut settings = request.settings.clone();
        settings.insert(key.clone(), value.clone());
        differs.then_some(settings)
    };
    let pairs = request.topic.also.iter().chain(&request.open);
    let all = pairs.flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
    let is_usual = |(key, value): &(&String, &String)| {
        request
            .open
            .get(*key)
            .is_some_and(|all| all.first() == Some(value))
    };
    let mut cases: Vec<_> = all
        .filter(|pair| !is_usual(pair))
        .filter_map(other)
        .collect();
    cases.sort();
    cases.dedup();
    cases
}
