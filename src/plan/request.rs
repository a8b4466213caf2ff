//! Request of a run: from the words of a command line to the time, the precision and the plan that it gets.

use super::{Choice, Laboratory, Start, Terms, Wish, build};
use crate::worker::{self, Language, Worker};
use anyhow::{Result, bail};
use record::cell::{Cell, Selector};
use record::experiment::{Experiment, ParameterList};
use record::machine_state::{PLAIN, STATE};
use record::plan::{LAUNCHES, LaunchGroup, MOST_LAUNCHES, Plan};
use record::{kind::Kind, published::Published};
use schedule::guess_s;
use stats::estimate::LEAST_POINTS;
use std::collections::{BTreeMap, BTreeSet};

/// Budget of the overview of everything, in seconds.
const OVERVIEW_BUDGET_S: f64 = 60.0;
/// Budget below which the overview measures each question in its usual condition only, in seconds.
pub const CONDITIONS_BUDGET_S: f64 = 45.0;
/// Fewest and most launches of an article's rows where neither time nor precision is given: a table, and no more.
const ARTICLE_LAUNCHES: (u32, u32) = (LAUNCHES.0, 12);
/// Budget of each launch of an article whose jobs take minutes each, in seconds.
const LONG_BUDGET_S: f64 = 5400.0;
/// Budget of a run in several states of the machine, in seconds.
const STATES_BUDGET_S: f64 = 240.0;
/// Budget of the overview in several states of the machine, in seconds.
const OVERVIEW_STATES_BUDGET_S: f64 = 900.0;
/// Budget and most launches of a run that goes on until it is stopped.
const WATCH: (f64, u32) = (86_400.0, 20_000);
/// Half-width at which an experiment is done where neither budget nor precision is given.
const PRECISION: f64 = 0.01;
/// Half-width at which a question of the overview is done, and of an experiment's usual choice: its time is left to wider ones.
const OVERVIEW_PRECISION: f64 = 0.025;
/// Guess at the start of a virtual machine for Java with its checks, in seconds.
const JAVA_START_S: f64 = 0.7;
/// Guess at the start of any other worker with its checks, in seconds.
const START_S: f64 = 0.05;

/// Subject of a run.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Experiments, methods and workers as selectors; none means the overview.
    Named(Vec<String>),
    /// Every experiment, at the values that it takes by itself.
    Everything,
    /// The cells of published articles.
    Published(Vec<&'static Published>),
}

impl Subject {
    /// Tells whether it is the overview of all experiments.
    pub fn is_overview(&self) -> bool {
        matches!(self, Subject::Named(names) if names.is_empty())
    }

    /// True if each job takes minutes and is done once a launch.
    fn is_once(&self) -> bool {
        matches!(self, Subject::Published(articles) if articles.iter().all(|article| article.once))
    }

    /// The published articles; none for other subjects.
    pub fn articles(&self) -> &[&'static Published] {
        match self {
            Subject::Published(articles) => articles,
            _ => &[],
        }
    }

    fn selectors(&self) -> Vec<String> {
        match self {
            Subject::Named(names) => names.clone(),
            Subject::Everything => Vec::new(),
            Subject::Published(articles) => {
                let selectors: BTreeSet<String> =
                    articles.iter().flat_map(|a| a.selectors()).collect();
                selectors.into_iter().collect()
            }
        }
    }
}

/// Request of a run.
#[derive(Clone, Debug)]
pub struct Request {
    pub kind: Kind,
    pub subject: Subject,
    /// `--set` texts.
    pub set: Vec<String>,
    /// Languages of the rows of an article; all where empty.
    pub languages: Vec<Language>,
    /// States of the machine besides the plain one: names, or `all` that matter.
    pub states: Option<String>,
    /// The method that others are compared with.
    pub baseline: Option<String>,
    pub budget_s: Option<f64>,
    /// True if the run goes on until it is stopped: the usual choice, under its usual conditions.
    pub watch: bool,
    /// Half-width at which a ratio is done.
    pub precision: Option<f64>,
    /// Differences below this share are called equivalent.
    pub margin: f64,
    pub launches: Option<u32>,
    pub time_limit_s: Option<f64>,
    pub seed: Option<u64>,
    pub allow_system_changes: bool,
    /// True if the user's variables are left to the workers.
    pub keep_environment: bool,
    /// SHA-256 of each file of the user's functions.
    pub files: BTreeMap<String, String>,
}

/// Time, values and precision of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    pub budget_s: f64,
    /// List of each experiment's parameters.
    pub list: ParameterList,
    /// True if every question is measured under its other conditions, too.
    pub conditions: bool,
    /// Half-width at which an experiment is done.
    pub precision: f64,
    /// Fewest and most launches of a launch group.
    pub launches: (u32, u32),
    /// True for jobs that take minutes each and are done once a launch.
    pub once: bool,
}

impl Request {
    /// Time, values and precision that it gets.
    pub fn course(&self, laboratory: &Laboratory) -> Result<Course> {
        if self.watch {
            // A run visits its experiments in shares of its time, and this time has no end.
            if self.experiments()?.len() != 1 {
                bail!("--watch follows one experiment: pagewise run fault --watch");
            }
            return Ok(Course {
                budget_s: WATCH.0,
                list: ParameterList::Look,
                conditions: false,
                precision: 0.0,
                launches: (LAUNCHES.0, WATCH.1),
                once: false,
            });
        }
        let overview = self.subject.is_overview();
        let once = self.subject.is_once();
        let is_article = !self.subject.articles().is_empty();
        let (usual_s, list) = self.usual_budget(&laboratory.experiments)?;
        let launches = self.launches.unwrap_or(1);
        let budget_s = self.budget_s.unwrap_or(if once {
            LONG_BUDGET_S * f64::from(launches)
        } else {
            usual_s
        });
        // A budget that was given is used up for width; forty launches are no reason to leave some of it.
        let precision = self.precision.unwrap_or(match self.budget_s {
            _ if overview => OVERVIEW_PRECISION,
            Some(_) => 0.0,
            None if list == ParameterList::Look || is_article => OVERVIEW_PRECISION,
            None => PRECISION,
        });
        let launches = match self.launches {
            _ if once => (launches, launches),
            Some(launches) => (launches, launches),
            None if is_article && precision > 0.0 => ARTICLE_LAUNCHES,
            None if precision > 0.0 && list != ParameterList::Look => LAUNCHES,
            None => (LAUNCHES.0, MOST_LAUNCHES),
        };
        Ok(Course {
            budget_s,
            list,
            conditions: if overview {
                budget_s >= CONDITIONS_BUDGET_S && self.states.is_none()
            } else {
                list != ParameterList::Short || !self.names_methods_alone()?
            },
            precision,
            launches,
            once,
        })
    }

    /// Tells whether words are judged by evidence that holds at any moment: where experiments or methods are named and nothing
    /// else, whose launches end as soon as the words are known, and where the user ends them.
    fn asks_for_words(&self) -> bool {
        let is_named = matches!(&self.subject, Subject::Named(names) if !names.is_empty());
        let is_bounded =
            self.budget_s.is_some() || self.precision.is_some() || self.launches.is_some();
        let is_free = is_named && !is_bounded && self.states.is_none();
        self.kind == Kind::Run && (self.watch || is_free)
    }

    /// Tells whether methods are named, and neither states nor precision nor launches: they are measured under their usual
    /// condition, where no other is set.
    fn names_methods_alone(&self) -> Result<bool> {
        let is_chosen = self.precision.is_some() || self.launches.is_some();
        let mut is_named = false;
        for name in self.subject.selectors() {
            is_named |= Selector::parse(&name)?.method.is_some();
        }
        Ok(self.kind == Kind::Run && is_named && !is_chosen && self.states.is_none())
    }

    /// Names of the experiments that are selected by name.
    fn experiments(&self) -> Result<BTreeSet<String>> {
        let names = self.subject.selectors();
        let selectors = names.iter().map(|name| Selector::parse(name));
        selectors.map(|selector| Ok(selector?.experiment)).collect()
    }

    /// The budget where none is given, in seconds, and the list of values that the budget is enough for.
    fn usual_budget(&self, experiments: &[Experiment]) -> Result<(f64, ParameterList)> {
        let names = match &self.subject {
            Subject::Everything => {
                let visible = experiments.iter().filter(|e| !e.hidden);
                let needed_s = visible.map(Experiment::needed_s).sum();
                return Ok((needed_s, ParameterList::Default));
            }
            Subject::Published(articles) => {
                let budget_s = articles.iter().map(|article| article.budget_s).sum();
                return Ok((budget_s, ParameterList::Default));
            }
            Subject::Named(names) if names.is_empty() => {
                let budget_s = if self.states.is_some() {
                    OVERVIEW_STATES_BUDGET_S
                } else {
                    OVERVIEW_BUDGET_S
                };
                return Ok((budget_s, ParameterList::Look));
            }
            Subject::Named(names) => names,
        };
        let selectors: Vec<Selector> = names
            .iter()
            .map(|name| Selector::parse(name))
            .collect::<Result<_>>()?;
        if self.states.is_some() {
            // The states take the time: each experiment has its least values.
            return Ok((STATES_BUDGET_S, ParameterList::Short));
        }
        let named: Vec<&Experiment> = experiments
            .iter()
            .filter(|e| selectors.iter().any(|s| s.experiment == e.name))
            .collect();
        let needed_s: f64 = named.iter().map(|e| e.needed_s()).sum();
        let is_open = self.kind == Kind::Run && self.precision.is_none() && self.launches.is_none();
        let usual_s = if is_open {
            named.iter().map(|e| e.named_s()).sum()
        } else {
            needed_s
        };
        let is_short = self.budget_s.unwrap_or(usual_s) < needed_s;
        let has_short_list = named
            .iter()
            .any(|e| e.parameters.values().any(|p| !p.look.is_empty()));
        // Whoever names methods, precision or launches has chosen.
        let has_chosen = self.precision.is_some()
            || self.launches.is_some()
            || selectors.iter().any(|selector| selector.method.is_some());
        let list = match (is_short && has_short_list, has_chosen) {
            (false, _) => ParameterList::Default,
            (true, true) => ParameterList::Short,
            (true, false) => ParameterList::Look,
        };
        Ok((usual_s, list))
    }

    /// The plan of a run that starts now.
    pub fn plan(&self, laboratory: &Laboratory, course: &Course) -> Result<Plan> {
        let Laboratory {
            experiments,
            workers,
        } = laboratory;
        let mut set = self.set.clone();
        let states = self.states.iter();
        set.extend(states.map(|names| format!("{STATE}={PLAIN},{names}")));
        let wish = Wish {
            baseline: self.baseline.clone(),
            languages: self.languages.clone(),
            conditions: course.conditions,
            ..laboratory.wish(&self.subject.selectors(), &set, course.list)?
        };
        let choice = match &self.subject {
            Subject::Published(articles) => Choice::Published(articles, &wish),
            Subject::Named(_) | Subject::Everything => Choice::Wished(&wish),
        };
        let start = Start::now();
        let goal = (course.precision, self.margin);
        let seed = self.seed.unwrap_or_else(|| start.seed());
        let terms = Terms {
            kind: self.kind,
            created: start.created(),
            // No pilot shows how long a launch of such a job takes.
            time_limit_s: self.time_limit_s.or(course.once.then_some(course.budget_s)),
            launches: course.launches,
            keep_environment: self.keep_environment,
            files: self.files.clone(),
            usual_first: course.list == ParameterList::Look,
            short: course.list != ParameterList::Default && !self.subject.is_overview(),
            ends_on_words: self.asks_for_words(),
            allow_system_changes: self.allow_system_changes,
            ..Terms::usual(start.run_id(), seed, course.budget_s, goal)
        };
        build(experiments, workers, choice, terms)
    }
}

/// The named experiments and methods in these languages; all experiments of a language where none is named.
pub fn in_languages(
    laboratory: &Laboratory,
    names: &[String],
    languages: &[Language],
) -> Result<Vec<String>> {
    let mut selected = Vec::new();
    for &language in languages {
        let names = if names.is_empty() {
            measured_in(laboratory, language)
        } else {
            names.to_vec()
        };
        let has_worker = laboratory
            .workers
            .iter()
            .any(|w| w.language() == Some(language));
        if !has_worker || names.is_empty() {
            bail!(
                "nothing here is measured in {}; pagewise doctor says what is missing",
                language.word()
            );
        }
        if let Some(name) = names.iter().find(|name| name.contains('@')) {
            bail!("{name} names its worker already; --language chooses one");
        }
        let workers = language.usual_workers();
        selected.extend(names.iter().map(|name| format!("{name}@{workers}")));
    }
    Ok(selected)
}

/// Names of the experiments that have methods in a language.
fn measured_in(laboratory: &Laboratory, language: Language) -> Vec<String> {
    let experiments: BTreeSet<&str> = laboratory
        .workers
        .iter()
        .filter(|w| w.language() == Some(language))
        .flat_map(|w| w.methods().iter().map(|m| m.experiment.as_str()))
        .collect();
    laboratory
        .experiments
        .iter()
        .filter(|e| !e.hidden && experiments.contains(e.name.as_str()))
        .map(|e| e.name.clone())
        .collect()
}

/// A guess at the seconds in which a plan compares everything that it must: the least launches of all groups, or of those under
/// usual conditions where others have what is left of the time.
pub fn least_s(plan: &Plan, workers: &[Worker]) -> f64 {
    let launches_s: f64 = plan
        .launch_groups
        .iter()
        .filter(|group| !plan.usual_first || is_usual(plan, group))
        .map(|group| launch_s(plan, group, workers))
        .sum();
    launches_s * LEAST_POINTS as f64
}

fn is_usual(plan: &Plan, group: &LaunchGroup) -> bool {
    let first = group.cells.first().map(|&cell| &plan.cells[cell].cell);
    let unusual = first.and_then(|cell| {
        let experiment = plan.experiment(&cell.experiment)?;
        experiment.unusual(&cell.parameters).next()
    });
    unusual.is_none()
}

/// A guess at the seconds of one launch, by its start and its bytes.
fn launch_s(plan: &Plan, group: &LaunchGroup, workers: &[Worker]) -> f64 {
    let cells: Vec<&Cell> = group.cells.iter().map(|&i| &plan.cells[i].cell).collect();
    let runs_java = cells
        .iter()
        .flat_map(|cell| cell.sides())
        .any(|side| worker::language_of(workers, side) == Some(Language::Java));
    let start_s = if runs_java { JAVA_START_S } else { START_S };
    let bytes: f64 = cells
        .iter()
        .filter_map(|cell| cell.parameters.bytes())
        .sum::<u64>() as f64;
    let fixed_s: f64 = cells
        .iter()
        .filter_map(|cell| plan.experiment(&cell.experiment)?.cell_s)
        .sum();
    guess_s(start_s, bytes) + fixed_s
}

#[cfg(test)]
mod tests {
    use super::super::{catalog, published};
    use super::*;
    use record::experiment::NAMED_BUDGET_S;

    fn laboratory() -> Laboratory {
        Laboratory {
            experiments: catalog::experiments(None).unwrap(),
            workers: Vec::new(),
        }
    }

    fn request(subject: Subject, budget_s: Option<f64>) -> Request {
        Request {
            kind: Kind::Run,
            subject,
            set: Vec::new(),
            languages: Vec::new(),
            states: None,
            baseline: None,
            budget_s,
            watch: false,
            precision: None,
            margin: 0.02,
            launches: None,
            time_limit_s: None,
            seed: None,
            allow_system_changes: false,
            keep_environment: false,
            files: BTreeMap::new(),
        }
    }

    fn course(subject: Subject, budget_s: Option<f64>) -> Course {
        request(subject, budget_s).course(&laboratory()).unwrap()
    }

    #[test]
    fn the_overview_has_its_list_and_below_a_budget_no_conditions() {
        let usual = course(Subject::Named(Vec::new()), None);
        assert_eq!(usual.list, ParameterList::Look);
        assert_eq!(
            (usual.budget_s, usual.precision),
            (OVERVIEW_BUDGET_S, OVERVIEW_PRECISION)
        );
        assert_eq!(usual.launches, (LAUNCHES.0, MOST_LAUNCHES));
        assert!(usual.conditions);
        assert!(!request(Subject::Named(Vec::new()), None).asks_for_words());
        assert!(!course(Subject::Named(Vec::new()), Some(30.0)).conditions);
    }

    #[test]
    fn a_budget_below_the_need_shortens_the_list_and_is_used_up() {
        let fault = || Subject::Named(vec!["fault/touch".to_owned()]);
        let usual = course(fault(), None);
        assert_eq!(
            (usual.budget_s, usual.list),
            (NAMED_BUDGET_S, ParameterList::Short)
        );
        assert_eq!((usual.precision, usual.launches), (PRECISION, LAUNCHES));
        let given = course(fault(), Some(NAMED_BUDGET_S / 2.0));
        assert_eq!(given.list, ParameterList::Short);
        assert_eq!(given.precision, 0.0);
        assert_eq!(given.launches, (LAUNCHES.0, MOST_LAUNCHES));
        assert!(!usual.conditions && !given.conditions);
        let ample = course(fault(), Some(500.0));
        assert_eq!(ample.list, ParameterList::Default);
        assert!(ample.conditions);
    }

    #[test]
    fn an_experiment_has_its_usual_choice_unless_there_is_time_or_precision_for_all() {
        let fault = || Subject::Named(vec!["fault".to_owned()]);
        let usual = course(fault(), None);
        assert_eq!(
            (usual.budget_s, usual.list, usual.precision),
            (NAMED_BUDGET_S, ParameterList::Look, OVERVIEW_PRECISION)
        );
        assert!(usual.conditions);
        assert_eq!(course(fault(), Some(5.0)).list, ParameterList::Look);
        assert_eq!(course(fault(), Some(500.0)).list, ParameterList::Default);
        let precise = Request {
            precision: Some(0.01),
            ..request(fault(), None)
        };
        let precise = precise.course(&laboratory()).unwrap();
        assert_eq!(precise.list, ParameterList::Default);
        assert!(precise.budget_s > NAMED_BUDGET_S);
    }

    #[test]
    fn a_run_that_is_watched_has_the_usual_choice_and_no_end() {
        let watched = Request {
            watch: true,
            ..request(Subject::Named(vec!["fault".to_owned()]), None)
        };
        let course = watched.course(&laboratory()).unwrap();
        assert_eq!((course.list, course.precision), (ParameterList::Look, 0.0));
        assert!(!course.conditions && watched.asks_for_words());
        assert!(course.budget_s > 3600.0);
        for names in [&[][..], &["fault", "fork"]] {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let several = Request {
                watch: true,
                ..request(Subject::Named(names), None)
            };
            assert!(several.course(&laboratory()).is_err());
        }
    }

    #[test]
    fn states_take_the_time_of_values() {
        let with_states = |names: &[&str]| Request {
            states: Some("all".to_owned()),
            ..request(
                Subject::Named(names.iter().map(|name| (*name).to_owned()).collect()),
                None,
            )
        };
        let overview = with_states(&[]).course(&laboratory()).unwrap();
        assert_eq!(overview.budget_s, OVERVIEW_STATES_BUDGET_S);
        assert!(!overview.conditions);
        let fault = with_states(&["fault"]).course(&laboratory()).unwrap();
        assert_eq!(
            (fault.budget_s, fault.list),
            (STATES_BUDGET_S, ParameterList::Short)
        );
    }

    #[test]
    fn jobs_of_minutes_get_a_budget_for_each_launch() {
        let id = format!("P1{}", published::LONG);
        let subject = Subject::Published(published::named(&id).unwrap());
        let request = Request {
            launches: Some(3),
            ..request(subject, None)
        };
        let course = request.course(&laboratory()).unwrap();
        assert!(course.once);
        assert_eq!(course.launches, (3, 3));
        assert_eq!(course.budget_s, 3.0 * LONG_BUDGET_S);
    }

    #[test]
    fn a_language_without_workers_measures_nothing() {
        let error = in_languages(&laboratory(), &[], &[Language::Go]).unwrap_err();
        assert!(
            error.to_string().contains("nothing here is measured in go"),
            "{error}"
        );
    }
}
