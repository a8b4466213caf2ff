//! Topics of advice, and the cells that answer a question here.

use super::{Laboratory, select, states, wish::Wish};
use crate::worker::{self, Language, Worker, carried};
use anyhow::{Context, Result, bail};
use judge::questions::advise::{AdviceRequest, UntakenValue};
use record::advice::{Topic, Way};
use record::cell::{Cell, Selector};
use record::experiment::Experiment;
use record::machine_state::{PLAIN, STATE};
use record::method::{Method, Role};
use record::sizes::{BYTES, did_you_mean, parse_size};
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
    let topics = topics()?;
    let names: Vec<&str> = topics.iter().map(|t| t.id.as_str()).collect();
    topics
        .iter()
        .find(|t| t.id == id)
        .cloned()
        .with_context(|| {
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
    laboratory: &Laboratory,
    wish: &Wish,
) -> Result<AdviceRequest> {
    let known = super::catalog::find(&laboratory.experiments, &topic.experiment)?;
    let experiment = states::among(known, &terms.states)?;
    let mut settings = settings(&topic, &experiment, terms)?;
    let asked_bytes = terms.bytes.map_or_else(|| parse_size(&topic.bytes), Ok)?;
    let (_, largest) = topic.range()?;
    let bytes = if topic.proportional {
        asked_bytes.min(largest)
    } else {
        asked_bytes
    };
    let measure = measure(&topic, &experiment, terms.again)?;
    settings.insert(BYTES.to_owned(), bytes.to_string());
    let case = AdviceCase {
        topic: &topic,
        settings: &settings,
        laboratory,
        wish,
    };
    if let Some(method) = case.method(&topic.baseline)
        && let Some((key, known)) = case.not_taken(method)
    {
        bail!(
            "advice on {} compares with {}, which takes {key}={} and not {}",
            topic.id,
            topic.baseline,
            known.join(", "),
            settings[key]
        );
    }
    let Some(baseline) = case.cell(&topic.baseline)? else {
        bail!(
            "{}/{} cannot be measured in this case",
            topic.experiment,
            topic.baseline
        )
    };
    let methods = case.methods(terms.saved_only)?;
    let cells: Vec<&Cell> = methods
        .iter()
        .map(|(_, cell)| cell)
        .chain([&baseline])
        .collect();
    select::check_effects(
        std::slice::from_ref(&experiment),
        &laboratory.workers,
        &cells,
        terms
            .settings
            .iter()
            .map(|(key, value)| (key, std::slice::from_ref(value))),
    )?;
    let untaken = case.untaken(&experiment);
    settings.remove(BYTES);
    // As the experiment writes them: what was given as 1MiB is 1048576 in every summary.
    for (key, value) in &mut settings {
        if let Some(normal) = baseline.parameters.get(key) {
            value.clone_from(normal);
        }
    }
    Ok(AdviceRequest {
        open: open(&experiment, &baseline, &terms.settings),
        topic,
        settings,
        experiment,
        measure,
        baseline,
        methods,
        untaken,
        bytes,
        asked_bytes,
    })
}

/// The phase or total that decides a question.
fn measure(topic: &Topic, experiment: &Experiment, again: bool) -> Result<String> {
    match &topic.uses {
        _ if !again => Ok(experiment.headline().to_owned()),
        Some(uses) => Ok(uses.again.clone()),
        None => bail!(
            "{} knows no further use, so --keep means nothing to it",
            topic.id
        ),
    }
}

/// Settings of a question: those of the topic, then those of its terms.
fn settings(
    topic: &Topic,
    experiment: &Experiment,
    terms: &AdviceTerms,
) -> Result<BTreeMap<String, String>> {
    for key in terms.settings.keys() {
        if !experiment.parameters.contains_key(key) {
            let hint = did_you_mean(key, experiment.parameters.keys().map(String::as_str));
            bail!("{} has no parameter \"{key}\"{hint}", topic.id);
        }
    }
    let mut settings = topic.set.clone();
    settings.extend(terms.settings.clone());
    if experiment.parameters.contains_key(STATE) {
        settings.insert(STATE.to_owned(), PLAIN.to_owned());
    }
    Ok(settings)
}

/// A topic in one case.
struct AdviceCase<'a> {
    topic: &'a Topic,
    settings: &'a BTreeMap<String, String>,
    laboratory: &'a Laboratory,
    wish: &'a Wish,
}

impl AdviceCase<'_> {
    /// The methods that are compared with the baseline, with their cells.
    fn methods(&self, saved_only: bool) -> Result<Vec<(String, Cell)>> {
        let mut methods = Vec::new();
        for way in &self.topic.ways {
            if saved_only && way.only_asked {
                continue;
            }
            let takes_all = self
                .method(&way.method)
                .is_some_and(|method| self.not_taken(method).is_none());
            if takes_all {
                let cell = self.cell(&way.method)?;
                methods.extend(cell.map(|cell| (way.method.clone(), cell)));
            }
        }
        if methods.is_empty() {
            bail!(
                "there is nothing to compare with {} in this case",
                self.topic.baseline
            );
        }
        Ok(methods)
    }

    /// A method of the topic's worker.
    fn method(&self, name: &str) -> Option<&Method> {
        let workers = &self.laboratory.workers;
        let worker = workers.iter().find(|w| w.name == self.topic.worker)?;
        worker.method(&self.topic.experiment, name)
    }

    /// The parameter of the question whose value a method does not take although another one does, and the values it takes.
    fn not_taken(&self, method: &Method) -> Option<(&str, Vec<String>)> {
        let experiments = &self.laboratory.experiments;
        let experiment = super::catalog::find(experiments, &self.topic.experiment).ok()?;
        self.settings.iter().find_map(|(key, value)| {
            let parameter = experiment.parameters.get(key)?;
            let known = method.key(key)?.lacks(value)?;
            let has_value = parameter.values.contains(value);
            has_value.then(|| (key.as_str(), known.to_vec()))
        })
    }

    /// Values of the experiment that a method of the topic does not take.
    fn untaken(&self, experiment: &Experiment) -> Vec<UntakenValue> {
        let mut untaken = Vec::new();
        for way in &self.topic.ways {
            let Some(method) = self.method(&way.method) else {
                continue;
            };
            for (key, kind) in &method.keys {
                let parameter = experiment.parameters.get(key);
                let values = parameter.into_iter().flat_map(|known| &known.values);
                untaken.extend(values.filter_map(|value| {
                    Some(UntakenValue {
                        method: way.method.clone(),
                        key: key.clone(),
                        value: value.clone(),
                        known: kind.lacks(value)?.to_vec(),
                    })
                }));
            }
        }
        untaken
    }

    /// The cell of a method; `None` where the worker does not have it.
    fn cell(&self, method: &str) -> Result<Option<Cell>> {
        let Topic {
            experiment, worker, ..
        } = self.topic;
        let workers = &self.laboratory.workers;
        let Some(known) = self.method(method) else {
            return Ok(None);
        };
        let name = format!("{experiment}/{method}@{worker}");
        let selector = if known.two_sided {
            Selector::parse(&format!("{name}+{worker}"))?
        } else {
            Selector::parse(&name)?
        };
        let settings = self
            .settings
            .iter()
            .filter(|(key, _)| *key == STATE || known.key(key).is_some())
            .map(|(key, value)| (key.clone(), vec![value.clone()]))
            .collect();
        let experiments = &self.laboratory.experiments;
        let planned = select::first_cell(experiments, workers, self.wish, selector, settings)?;
        Ok(Some(planned.cell))
    }
}

/// A topic in a language: its usual choice and the other methods there, by the newest worker.
pub fn in_language(topic: &Topic, word: &str, workers: &[Worker]) -> Result<Topic> {
    let language = Language::named(word);
    let newest = workers
        .iter()
        .filter(|w| language.is_some() && w.language() == language)
        .max_by_key(|w| w.version());
    let Some(worker) = newest else {
        let languages = workers.iter().filter_map(Worker::language);
        bail!(
            "no worker here is in {word:?}{}",
            did_you_mean(word, languages.map(Language::word))
        );
    };
    if worker::language_of(workers, &topic.worker) == language {
        return Ok(topic.clone());
    }
    let Some(baseline) = topic.languages.get(word) else {
        let mut languages = vec!["C"];
        languages.extend(topic.languages.keys().map(String::as_str));
        let languages = if topic.languages.is_empty() {
            "C only".to_owned()
        } else {
            languages.join(", ")
        };
        bail!(
            "{} is not measured in {word}: it is in {languages}",
            topic.id
        );
    };
    let methods = worker.methods().iter().filter(|m| {
        m.experiment == topic.experiment
            && m.role == Role::Method
            && m.group.is_empty()
            && m.name != *baseline
    });
    Ok(Topic {
        does: format!("{}, in {}", topic.does, worker.name),
        baseline: baseline.clone(),
        worker: worker.name.clone(),
        ways: methods
            .map(|m| Way {
                method: m.name.clone(),
                ..topic.way(&m.name).cloned().unwrap_or_default()
            })
            .collect(),
        ..topic.clone()
    })
}

/// The conditions of an experiment that nobody set, with the values of its overview.
fn open(
    experiment: &Experiment,
    baseline: &Cell,
    set: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<String>> {
    let mut open = BTreeMap::new();
    for (key, parameter) in &experiment.parameters {
        if !parameter.condition || set.contains_key(key) {
            continue;
        }
        let Some(usual) = baseline.parameters.get(key) else {
            continue;
        };
        let listed = if parameter.look.is_empty() {
            &parameter.default
        } else {
            &parameter.look
        };
        let mut values = vec![usual.clone()];
        values.extend(
            listed
                .iter()
                .map(|word| parse_size(word).map_or(word.clone(), |n| n.to_string()))
                .filter(|value| value != usual),
        );
        open.insert(key.clone(), values);
    }
    open
}

/// The wish that measures a question at these sizes, in these cases.
pub fn wish(
    request: &AdviceRequest,
    sizes: &[u64],
    settings: &BTreeMap<String, String>,
    here: &Wish,
) -> Result<Wish> {
    let is_untaken = |name: &String| request.untaken(settings).any(|u| u.method == *name);
    let methods = request.methods.iter().filter(|(name, _)| !is_untaken(name));
    let mut cells: Vec<&Cell> = methods.map(|(_, cell)| cell).collect();
    cells.push(&request.baseline);
    let selectors = cells
        .iter()
        .map(|cell| Selector::parse(&cell.name()))
        .collect::<Result<_>>()?;
    let mut set: Vec<(String, Vec<String>)> = settings
        .iter()
        .filter(|(key, _)| cells.iter().any(|c| c.parameters.contains_key(*key)))
        .map(|(key, value)| (key.clone(), vec![value.clone()]))
        .collect();
    let sizes = sizes.iter().map(u64::to_string).collect();
    set.push((BYTES.to_owned(), sizes));
    Ok(Wish {
        baseline: Some(request.topic.baseline.clone()),
        ..here.for_cells(selectors, set)
    })
}

/// The other cases of a topic, each with one thing that differs.
pub fn cases(request: &AdviceRequest) -> Vec<BTreeMap<String, String>> {
    let mut cases = Vec::new();
    for (key, values) in request.topic.also.iter().chain(&request.open) {
        let usual = request.open.get(key).and_then(|values| values.first());
        for value in values {
            let differs = usual != Some(value) && request.settings.get(key) != Some(value);
            if differs && takes(request, key) {
                let mut settings = request.settings.clone();
                settings.insert(key.clone(), value.clone());
                cases.push(settings);
            }
        }
    }
    cases.sort();
    cases.dedup();
    cases
}

/// True if a method of the question has the parameter.
fn takes(request: &AdviceRequest, key: &str) -> bool {
    let methods = request.methods.iter().map(|(_, cell)| cell);
    methods
        .chain([&request.baseline])
        .any(|cell| cell.parameters.contains_key(key))
}
