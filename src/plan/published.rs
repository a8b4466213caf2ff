//! The articles whose experiments can be repeated, and the cells that repeat them.

use super::{catalog, select, wish::Wish};
use crate::worker::{Language, Worker, carried};
use anyhow::{Context, Result, anyhow, bail};
use record::concern::DISK;
use record::published::{Figure, FigureCell, ProgramRun, Published, RunnableProgram};
use record::sizes::{BYTES, did_you_mean, parse_size};
use record::{cell::Selector, experiment::Experiment, plan::Plan, plan::PlannedCell};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// All articles that the binary carries.
pub fn all() -> Result<&'static [Published]> {
    static ALL: LazyLock<Result<Vec<Published>>> = LazyLock::new(|| {
        carried::PUBLISHED
            .iter()
            .map(|(path, text)| Published::parse(path, text))
            .collect()
    });
    ALL.as_deref().map_err(|error| anyhow!("{error:#}"))
}

/// One article by its id, in either case.
pub fn find(id: &str) -> Result<&'static Published> {
    let articles = all()?;
    articles
        .iter()
        .find(|p| p.id.eq_ignore_ascii_case(id))
        .with_context(|| {
            let names: Vec<_> = articles.iter().map(|p| p.id.as_str()).collect();
            format!(
                "there is no published article {id:?}{} (there are {}, and {ALL})",
                did_you_mean(id, names.iter().copied()),
                names.join(", ")
            )
        })
}

/// The word for all articles.
pub const ALL: &str = "all";

/// The articles that a word names: one, or all of them but for the long forms, which take minutes each.
pub fn named(word: &str) -> Result<Vec<&'static Published>> {
    if word.eq_ignore_ascii_case(ALL) {
        Ok(all()?.iter().filter(|p| !p.id.ends_with(LONG)).collect())
    } else {
        Ok(vec![find(word)?])
    }
}

/// The long form of an article, whose jobs take minutes each.
/// Errors: it has none.
pub fn long_form(id: &str) -> Result<&'static Published> {
    named(id)?;
    let is_long = |article: &&Published| {
        let short = article.id.strip_suffix(LONG);
        short.is_some_and(|short| short.eq_ignore_ascii_case(id))
    };
    let form = all()?.iter().find(is_long);
    form.with_context(|| format!("--long belongs to --published P1: {id} has no jobs of minutes"))
}

/// Size from which a row is a costly one.
const COSTLY_BYTES: u64 = 64 << 20;

/// The articles that a run was made for, as far as this binary knows them.
pub fn of_plan(plan: &Plan) -> Vec<&'static Published> {
    plan.articles
        .iter()
        .filter_map(|id| find(id).ok())
        .collect()
}

/// The program of ours that does what an article did, by the article's id, or by the program's file where an article has
/// several.
pub fn program(name: &str) -> Result<&'static str> {
    let by_name = programs().find(|program| program.file.eq_ignore_ascii_case(name));
    let mut by_id = programs().filter(|program| program.id().eq_ignore_ascii_case(name));
    let program = by_name.or_else(|| by_id.next());
    program.map(|program| program.text).with_context(|| {
        let files: Vec<&str> = programs().map(|program| program.file).collect();
        format!(
            "no article has the program {name:?}{} (there are {})",
            did_you_mean(name, programs().map(|program| program.id())),
            files.join(", ")
        )
    })
}

/// A program of ours that does what an article did.
struct ArticleProgram {
    file: &'static str,
    text: &'static str,
}

impl ArticleProgram {
    /// The id in its file's name: `P5` of `P5_test.go`.
    fn id(&self) -> &'static str {
        self.file.split(['.', '_']).next().unwrap_or(self.file)
    }
}

/// A program of ours for an article, with its text, that a changed copy is compared with.
/// Errors: no program has the name, or none is in the language of the copy.
pub fn runnable(name: &str, copy: &Path) -> Result<(&'static RunnableProgram, &'static str)> {
    program(name)?;
    let end = |file: &Path| file.extension().unwrap_or_default().to_owned();
    let is_named = |program: &&RunnableProgram| {
        let file = program.file.as_str();
        let id = file.split(['.', '_']).next().unwrap_or(file);
        [file, id]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let named: Vec<&RunnableProgram> = all()?
        .iter()
        .flat_map(|article| &article.programs)
        .filter(is_named)
        .collect();
    let mut in_language = named
        .iter()
        .filter(|known| end(Path::new(&known.file)) == end(copy));
    let known = in_language.next().with_context(|| {
        let files: Vec<&str> = named.iter().map(|known| known.file.as_str()).collect();
        format!(
            "{} is no copy of {}: it has not the end of its name",
            copy.display(),
            files.join(" or ")
        )
    })?;
    Ok((*known, program(&known.file)?))
}

/// The way of this name to start a program; its usual one where none is named.
pub fn way<'a>(program: &'a RunnableProgram, name: Option<&str>) -> Result<&'a ProgramRun> {
    let is_chosen = |run: &&ProgramRun| name.is_none_or(|name| run.name.eq_ignore_ascii_case(name));
    program.runs.iter().find(is_chosen).with_context(|| {
        let names: Vec<&str> = program.runs.iter().map(|run| run.name.as_str()).collect();
        format!(
            "{} is started as {}, not as {}",
            program.file,
            names.join(", "),
            name.unwrap_or_default()
        )
    })
}

/// The file of every program with its text.
pub fn texts() -> &'static [(&'static str, &'static str)] {
    static TEXTS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
        programs()
            .map(|program| (program.file, program.text))
            .collect()
    });
    &TEXTS
}

fn programs() -> impl Iterator<Item = ArticleProgram> {
    carried::PROGRAMS.iter().map(|(path, text)| ArticleProgram {
        file: file_name(path),
        text,
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Suffix of the id of a long form.
pub const LONG: &str = "-long";

/// Value of a figure's parameter here: of `dropped|cold` the first where the user allowed changes of the system,
/// otherwise the last.
fn permitted(value: &str, allow_system_changes: bool) -> &str {
    let first = value.split('|').next();
    if allow_system_changes {
        first.unwrap_or(value)
    } else {
        value.rsplit('|').next().unwrap_or(value)
    }
}

/// Exactly the cells that repeat the figures of an article, or of several those on which their statements rest, each once.
pub fn cells(
    articles: &[&Published],
    experiments: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
    allow_system_changes: bool,
) -> Result<(Vec<PlannedCell>, Vec<Experiment>)> {
    let mut cells: Vec<PlannedCell> = Vec::new();
    let mut involved: Vec<Experiment> = Vec::new();
    let mut figures: Vec<(&str, &Figure)> = Vec::new();
    let mut open = BTreeSet::new();
    let sizes = sizes(wish)?;
    let extended: Vec<Published> = articles.iter().map(|a| a.at_sizes(&sizes)).collect();
    for article in &extended {
        let figures_of_article = article.figures.iter();
        figures.extend(
            figures_of_article
                .filter(|f| f.headline || articles.len() == 1)
                .filter(|f| is_in(&wish.languages, f))
                .map(|f| (article.id.as_str(), f)),
        );
    }
    if figures.is_empty() {
        bail!("{}", no_row(&extended, &wish.languages));
    }
    // Costly rows come last, of rows that cost as much the corrected ones, and of these what waits for a disk.
    figures.sort_by_key(|(_, figure)| {
        let bytes = bytes(figure);
        let on_disk = figure
            .parameters
            .get("place")
            .is_some_and(|place| place == DISK);
        (
            bytes >= COSTLY_BYTES,
            !figure.is_as_published(),
            bytes,
            on_disk,
        )
    });
    for (id, figure, repeating) in figures
        .into_iter()
        .flat_map(|(id, f)| f.cells().map(move |cell| (id, f, cell)))
    {
        let FigureCell { name, parameters } = repeating;
        let selector = Selector::parse(name).with_context(|| format!("{id}: {}", figure.label))?;
        let known = catalog::find(experiments, &selector.experiment)?;
        let set = wish.settings.iter().filter(|(k, _)| {
            !parameters.contains_key(k.as_str()) && known.parameters.contains_key(k)
        });
        let settings = parameters.iter().map(|(key, value)| {
            let value = permitted(value, allow_system_changes);
            ((*key).to_owned(), vec![value.to_owned()])
        });
        let settings = settings.chain(set.cloned()).collect();
        // The row of an absent family then says that it is not in this run.
        if select::is_absent(&selector, workers) {
            continue;
        }
        let of_figure = wish.for_cells(vec![selector], settings);
        let (planned_cells, named_experiments) = select::cells(experiments, workers, &of_figure)?;
        for planned in planned_cells {
            let keys = planned.cell.parameters.keys();
            open.extend(
                keys.filter(|key| !parameters.contains_key(key.as_str()))
                    .cloned(),
            );
            if !cells.iter().any(|c| c.cell == planned.cell) {
                cells.push(planned);
            }
        }
        for experiment in named_experiments {
            if !involved.iter().any(|e| e.name == experiment.name) {
                involved.push(experiment);
            }
        }
    }
    if extended
        .iter()
        .any(|a| a.figures.iter().any(|f| f.value.is_none()))
    {
        open.insert(BYTES.to_owned());
    }
    check_settings(wish, &open, &extended)?;
    Ok((cells, involved))
}

/// An error if a setting changes no row, because the rows have a value of their own for it or their methods do not take it.
/// `open` are the parameters that rows leave to the user.
fn check_settings(wish: &Wish, open: &BTreeSet<String>, articles: &[Published]) -> Result<()> {
    let mut given = wish.settings.iter().take(wish.given);
    let Some((key, _)) = given.find(|(key, _)| !open.contains(key)) else {
        return Ok(());
    };
    let ids: Vec<&str> = articles.iter().map(|article| article.id.as_str()).collect();
    let open = open.iter().map(String::as_str).filter(|key| *key != BYTES);
    let open: Vec<&str> = std::iter::once(BYTES).chain(open).collect();
    bail!(
        "--set {key} changes no row of {}{}; the rows leave open {}",
        ids.join(", "),
        did_you_mean(key, open.iter().copied()),
        open.join(", ")
    )
}

/// Tells whether all programs of a figure are in these languages; in any where none is named.
fn is_in(languages: &[Language], figure: &Figure) -> bool {
    languages.is_empty() || languages_of(figure).all(|language| languages.contains(&language))
}

/// The languages of the programs of a figure.
fn languages_of(figure: &Figure) -> impl Iterator<Item = Language> {
    let workers = figure.cells().filter_map(|cell| cell.name.split_once('@'));
    workers
        .flat_map(|(_, workers)| workers.split('+'))
        .filter_map(|worker| Language::of_worker(worker.trim_end_matches('*')))
}

/// The sentence that articles have no row in these languages, with the ones in which they have some.
fn no_row(articles: &[Published], languages: &[Language]) -> String {
    let joined = |languages: &[Language]| {
        let names: Vec<&str> = languages.iter().map(|language| language.word()).collect();
        names.join(", ")
    };
    let figures = articles.iter().flat_map(|article| &article.figures);
    let mut known: Vec<Language> = Vec::new();
    let mut experiment = "fault";
    for figure in figures {
        experiment = figure.cell.split('/').next().unwrap_or(experiment);
        let new: Vec<Language> = languages_of(figure)
            .filter(|l| !known.contains(l))
            .take(1)
            .collect();
        known.extend(new);
    }
    let ids: Vec<&str> = articles.iter().map(|article| article.id.as_str()).collect();
    format!(
        "{} has no row in {}: its rows are in {}; pagewise run {experiment} --language {} measures other methods",
        ids.join(", "),
        joined(languages),
        joined(&known),
        languages.first().map_or("c", |language| language.word()),
    )
}

/// The size of a figure in bytes; zero where it has none.
fn bytes(figure: &Figure) -> u64 {
    figure.bytes().unwrap_or(0)
}

/// Sizes that the user sets: an article's series go on at these.
fn sizes(wish: &Wish) -> Result<BTreeSet<u64>> {
    let set = wish.settings.iter().filter(|(key, _)| key == BYTES);
    set.flat_map(|(_, values)| values)
        .map(|value| parse_size(value).with_context(|| format!("--set {BYTES}={value}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::claim::Of;
    use record::published::FigureColumn;

    #[test]
    fn what_a_figure_leaves_open_is_settled_by_what_the_user_allows() {
        assert_eq!(permitted("dropped|cold", true), "dropped");
        assert_eq!(permitted("dropped|cold", false), "cold");
        assert_eq!(
            (permitted("1GiB", true), permitted("1GiB", false)),
            ("1GiB", "1GiB")
        );
    }

    #[test]
    fn p3_is_asked_both_ways_and_without_permission_nobodys_cache_is_dropped() {
        let table = find("p3").unwrap();
        for job in ["as published", "corrected"] {
            for claim in ["claim a", "claim b", "claim c", "claim d"] {
                let found = table
                    .figures
                    .iter()
                    .filter(|f| f.job == job && f.label.starts_with(claim));
                assert!(found.count() == 1, "{claim}, {job}");
            }
        }
        let caches: Vec<_> = table
            .figures
            .iter()
            .map(|f| permitted(&f.parameters["cache"], false))
            .collect();
        assert!(caches.contains(&"cold") && !caches.contains(&"dropped"));
        assert!(
            table
                .figures
                .iter()
                .all(|f| f.parameters["consume"] == "payload")
        );
    }

    #[test]
    fn only_the_long_forms_take_minutes_and_the_short_one_says_what_it_cannot_show() {
        let all = all().unwrap();
        for table in all {
            assert_eq!(table.once, table.id.ends_with(LONG), "{}", table.id);
        }
        let note = |id: &str| find(id).unwrap().note.clone().unwrap_or_default();
        assert!(note("P1").contains("claim (e)") && note("P1").contains("--long"));
        assert!(note("P1-long").contains("redirtied"));
    }

    #[test]
    fn every_article_has_its_program_its_question_and_its_time() {
        for article in named(ALL).unwrap() {
            let text = program(&article.id).unwrap();
            assert!(text.contains("Build"), "{}", article.id);
            assert!(article.question.ends_with('?'), "{}", article.id);
            assert!((1.0..=90.0).contains(&article.budget_s), "{}", article.id);
            assert!(article.figures.iter().all(|figure| figure.value.is_some()));
        }
        assert!(program("p1.java").unwrap().contains("class P1"));
        let error = format!("{:#}", program("P9").unwrap_err());
        assert!(error.contains("P2b.c"), "{error}");
    }

    #[test]
    fn every_article_lists_a_loop_of_its_program_with_what_its_lines_measure() {
        for article in all().unwrap() {
            assert!(!article.loops.is_empty() || article.once, "{}", article.id);
            for measured in &article.loops {
                let (_, text) = texts()
                    .iter()
                    .find(|(file, _)| *file == measured.program)
                    .unwrap();
                assert!(
                    report::published::has_lines(text, measured),
                    "{}",
                    measured.title
                );
                for label in measured
                    .marks
                    .iter()
                    .filter_map(|mark| mark.figure.as_ref())
                {
                    let mut figures = article.figures.iter().filter(|f| f.is_as_published());
                    assert!(
                        figures.any(|figure| figure.label == *label),
                        "{}: {label}",
                        article.id
                    );
                }
            }
        }
    }

    #[test]
    fn the_claims_of_an_article_have_rows_that_decide_them() {
        let claims = crate::plan::claims::all().unwrap();
        for article in all().unwrap() {
            for figure in &article.figures {
                let Some(id) = &figure.claim else { continue };
                let claim = claims.iter().find(|claim| claim.id == *id).unwrap();
                let table = claim.table.as_deref().unwrap();
                assert!(article.id.starts_with(table), "{id} in {}", article.id);
                let value = figure.value.unwrap();
                if value == 0.0 {
                    // Said and not measured.
                    continue;
                }
                let factor = value / claim.source.ratio.unwrap_or(value);
                assert!((0.9..1.12).contains(&factor), "{id}: {factor}");
            }
        }
    }

    /// Whoever asks for a claim measures the same, so that a kept run of the one answers the other.
    #[test]
    fn a_claim_is_one_job_by_itself_and_in_its_article() {
        let workers = crate::worker::all(&[], &[]).unwrap();
        let experiments = catalog::experiments(None).unwrap();
        let wish = Wish::new(Vec::new(), record::experiment::ParameterList::Default);
        let claims = crate::plan::claims::all().unwrap();
        let mut compared = 0;
        for article in all().unwrap() {
            for figure in &article.figures {
                let Some(id) = &figure.claim else { continue };
                let claim = claims.iter().find(|claim| claim.id == *id).unwrap();
                let Some((_, job)) = claim.jobs().find(|(name, _)| *name == figure.job) else {
                    assert!(article.once, "{id} has no job {}", figure.job);
                    continue;
                };
                let name = format!("{id}, {}", figure.job);
                let of_figure = match &figure.column {
                    FigureColumn::Fact(fact) => (Some(fact.as_str()), Of::Wall),
                    FigureColumn::CpuNs => (None, Of::Cpu),
                    FigureColumn::MinorFaults => (None, Of::Faults),
                    FigureColumn::Spread => (None, Of::Spread),
                    _ => (None, Of::Wall),
                };
                assert_eq!(of_figure, (job.fact.as_deref(), job.cost), "{name}");
                let experiment = catalog::find(&experiments, &job.experiment).unwrap();
                let total = job.total.as_deref().unwrap_or(experiment.headline());
                assert!(
                    job.fact.is_some() || total == figure.phase,
                    "{name}: {total}"
                );
                assert_eq!(job.other_total, figure.against_phase, "{name}");
                let resolved =
                    crate::plan::claims::resolve(&[claim], &experiments, &workers, &wish);
                let resolved = resolved.unwrap();
                let by_name = resolved.claims[0]
                    .jobs
                    .iter()
                    .find(|job| job.job == figure.job);
                let by_name = by_name.unwrap();
                let alone = Published {
                    figures: vec![figure.clone()],
                    ..article.clone()
                };
                let (planned, _) = cells(&[&alone], &experiments, &workers, &wish, false).unwrap();
                for cell in by_name.cells() {
                    let is_planned = planned.iter().any(|planned| planned.cell == *cell);
                    assert!(is_planned, "{name}: {cell:?} is none of {planned:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 60, "{compared}");
    }

    #[test]
    fn a_size_that_is_set_goes_on_with_every_curve() {
        let workers = crate::worker::all(&[], &[]).unwrap();
        let experiments = catalog::experiments(None).unwrap();
        let mut wish = Wish::new(Vec::new(), record::experiment::ParameterList::Default);
        let article = find("p5").unwrap();
        let count = |wish: &Wish| {
            let planned = cells(&[article], &experiments, &workers, wish, false);
            let (planned, _) = planned.unwrap();
            let is_new = |p: &&PlannedCell| p.cell.parameters["bytes"] == (24 << 20).to_string();
            planned.iter().filter(is_new).count()
        };
        assert_eq!(count(&wish), 0);
        wish.settings = vec![("bytes".to_owned(), vec!["24MiB".to_owned()])];
        // Two methods by two ways of giving back, as published and corrected.
        assert_eq!(count(&wish), 8);
        wish.settings = vec![("bytes".to_owned(), vec!["some".to_owned()])];
        assert!(cells(&[article], &experiments, &workers, &wish, false).is_err());
    }

    #[test]
    fn a_setting_that_changes_no_row_is_refused() {
        let workers = crate::worker::all(&[], &[]).unwrap();
        let experiments = catalog::experiments(None).unwrap();
        let mut wish = Wish::new(Vec::new(), record::experiment::ParameterList::Default);
        wish.given = 1;
        let mut error = |key: &str, value: &str| {
            wish.settings = vec![(key.to_owned(), vec![value.to_owned()])];
            let planned = cells(&[find("p4").unwrap()], &experiments, &workers, &wish, false);
            planned.err().map(|error| error.to_string())
        };
        // Of another experiment, of none, and one that every row which takes it has already.
        for (key, value) in [("release", "free"), ("nonesuch", "1"), ("align", "huge")] {
            let error = error(key, value).unwrap();
            let start = format!("--set {key} changes no row of P4");
            assert!(error.starts_with(&start), "{error}");
            assert!(error.contains("leave open bytes, "), "{error}");
        }
        assert_eq!(error("bytes", "50MiB"), None);
        assert_eq!(error("threads", "2"), None);
    }

    #[test]
    fn one_article_has_a_long_form() {
        assert_eq!(long_form("p1").unwrap().id, "P1-long");
        for id in ["P3", ALL] {
            let error = long_form(id).unwrap_err().to_string();
            assert!(error.contains("belongs to --published P1"), "{error}");
        }
        assert!(long_form("P9").is_err());
    }

    #[test]
    fn a_language_limits_the_rows_and_one_without_a_row_is_refused_with_those_that_have() {
        let workers = crate::worker::all(&[], &[]).unwrap();
        let experiments = catalog::experiments(None).unwrap();
        let mut wish = Wish::new(Vec::new(), record::experiment::ParameterList::Default);
        let mut planned = |id: &str, language: Language| {
            wish.languages = vec![language];
            cells(&[find(id).unwrap()], &experiments, &workers, &wish, false)
        };
        let (of_c, _) = planned("p1", Language::C).unwrap();
        assert!(
            of_c.iter()
                .all(|planned| planned.cell.worker.starts_with("c-"))
        );
        let error = planned("p5", Language::C).unwrap_err().to_string();
        assert!(
            error.starts_with("P5 has no row in c: its rows are in go;"),
            "{error}"
        );
    }

    #[test]
    fn costly_rows_come_last_and_those_of_the_article_before_the_corrected() {
        let workers = crate::worker::all(&[], &[]).unwrap();
        let experiments = catalog::experiments(None).unwrap();
        let wish = Wish::new(Vec::new(), record::experiment::ParameterList::Default);
        let article = find("p5").unwrap();
        let (cells, _) = cells(&[article], &experiments, &workers, &wish, false).unwrap();
        let place = |method: &str, bytes: u64| {
            let is_wanted = |planned: &&PlannedCell| {
                let parameters = &planned.cell.parameters;
                planned.cell.method == method && parameters["bytes"] == bytes.to_string()
            };
            cells
                .iter()
                .position(|planned| is_wanted(&planned))
                .unwrap()
        };
        assert!(place("thp-published", 1 << 20) < place("thp", 1 << 20));
        assert!(place("thp", 32 << 20) < place("thp-published", 1 << 30));
        assert!(place("thp-published", 1 << 30) < place("thp", 64 << 20));
        let article = find("p3").unwrap();
        let (cells, _) = super::cells(&[article], &experiments, &workers, &wish, false).unwrap();
        let first = |place: &str| {
            cells.iter().position(|planned| {
                let parameters = &planned.cell.parameters;
                parameters["bytes"] == (256 << 20).to_string() && parameters["place"] == place
            })
        };
        assert!(first("tmpfs") < first("disk") && first("tmpfs").is_some());
    }
}
