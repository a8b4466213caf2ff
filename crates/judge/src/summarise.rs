//! Summary of a run from its evidence.

use crate::cells::{LastCache, summary_of_cell};
use crate::contrast::groups::{Group, groups};
use crate::contrast::outlook;
use crate::contrast::rank::{best_possible, claims, floors, recommend, shares};
use crate::contrast::verdicts::{CellComparison, Judged, adjust, compare};
use crate::evidence::{Evidence, PREFLIGHT, Reading, one_by_one};
use crate::{
    KnownMethods, contrast::calibration, contrast::conditions, contrast::frontier,
    contrast::states, contrast::tails, evidence::agreement::disagreements, sureness, warnings,
    warnings::notes,
};
use anyhow::Result;
use record::folder::{RunFolder, SUMMARY};
use record::json::{FromJson, ToJson};
use record::outcome::Status;
use record::summary::{
    AaCheck, CellSummary, ExperimentSummary, GroupSummary, Role, SUMMARY_SCHEMA, Settings, Summary,
};
use record::{
    experiment::Experiment, machine::environment::Environment, machine::preflight::Preflight,
    parameters::Parameters, state::State,
};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// Facts of a summary that the record does not hold.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    pub host: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
    pub cache: LastCache,
    /// The scores (`AaCheck::z`) of the A/A checks of kept runs of this machine, as they were known when the run began.
    pub kept_scores: Vec<f64>,
    /// Number of ranked methods of the usual worker by experiment, of those that users see.
    pub offered: BTreeMap<String, usize>,
}

impl Circumstances {
    pub fn from_environment(environment: &Environment) -> Circumstances {
        Circumstances {
            host: environment.identity.labels(),
            environment: environment.headline(),
            cache: LastCache::read(environment),
            kept_scores: Vec::new(),
            offered: BTreeMap::new(),
        }
    }
}

/// The scores that a run folder was begun with; none where no run was kept before it.
pub fn kept_scores(folder: &RunFolder) -> Result<Vec<f64>> {
    if !folder.has(PREFLIGHT) {
        return Ok(Vec::new());
    }
    Ok(folder.read_sealed::<Preflight>(PREFLIGHT)?.kept_scores)
}

/// A kept run, judged again from its plan, decisions and transcripts alone.
pub fn replay(folder: &RunFolder) -> Result<(State, Summary)> {
    replay_by(folder, &one_by_one, &KnownMethods::default())
}

/// The same by another reading of its launches, and without the cells in which a method has no part in this version.
pub fn replay_by(
    folder: &RunFolder,
    reading: &Reading,
    known: &KnownMethods,
) -> Result<(State, Summary)> {
    let (state, _, summary) = replay_with_evidence(folder, reading, known)?;
    Ok((state, summary))
}

/// The summary of a kept run: the one in its folder if that follows from its launches by this version, else judged again.
pub fn judged(folder: &RunFolder, reading: &Reading, known: &KnownMethods) -> Result<Summary> {
    match folder.read_result::<Summary>(SUMMARY) {
        Ok(summary) if !known.contradicts(&summary.cells) => Ok(summary),
        _ => Ok(replay_by(folder, reading, known)?.1),
    }
}

/// The same with what it was judged from.
pub(crate) fn replay_with_evidence(
    folder: &RunFolder,
    reading: &Reading,
    known: &KnownMethods,
) -> Result<(State, Evidence, Summary)> {
    let mut state = folder.state()?;
    let mut evidence = Evidence::read_by(&state, folder, reading)?;
    known.withdraw(&mut state, &mut evidence);
    let environment: Environment = folder.read_sealed("environment.json")?;
    let circumstances = Circumstances {
        kept_scores: kept_scores(folder)?,
        offered: known.offered().clone(),
        ..Circumstances::from_environment(&environment)
    };
    let summary = summarise(&state, &evidence, circumstances)?;
    Ok((state, evidence, summary))
}

/// Judges a whole run.
pub fn summarise(
    state: &State,
    evidence: &Evidence,
    circumstances: Circumstances,
) -> Result<Summary> {
    let disagreeing = disagreements(state, evidence);
    let mut cells = Vec::with_capacity(state.cells.len());
    for index in 0..state.cells.len() {
        let doubt = disagreeing.get(&index);
        cells.push(summary_of_cell(
            state,
            evidence,
            index,
            doubt,
            circumstances.cache,
        )?);
    }
    let compared_cells = groups(state, None);
    let mut judged: Vec<Judged> = compared_cells
        .iter()
        .map(|group| Judged::new(state, evidence, group, &disagreeing))
        .collect();
    let (calibration, scores) = calibration::widen(&mut judged, &circumstances.kept_scores);
    calibration::confirm(&mut judged);
    let checks = calibration::checks(&judged, &scores, state.plan.margin);
    let mut compared = comparisons(state, evidence, &compared_cells, &judged, &checks);
    withhold(state, evidence, &cells, &judged, &mut compared);
    let mut groups = Vec::with_capacity(judged.len());
    for ((judged, compared), aa) in judged.iter().zip(compared).zip(checks) {
        groups.push(GroupSummary {
            aa,
            ..group_summary(state, evidence, &cells, judged, compared)?
        });
    }
    states::compare(state, evidence, &mut groups, calibration.widened);
    let has_no_part = |cell: usize, parameters: &Parameters| {
        let mut keys = state.cells[cell].method.keys.iter();
        keys.any(|(key, kind)| {
            parameters
                .word(key)
                .is_some_and(|v| kind.lacks(v).is_some())
        })
    };
    conditions::compare(&state.plan.experiments, &cells, &mut groups, &has_no_part);
    tails::compare(state, evidence, &mut cells, &groups);
    frontier::compare(state, evidence, &cells, &mut groups);
    floors(state, &mut cells, &mut groups);
    shares(state, evidence, &mut cells, &groups, &judged);
    outlook::forecast(state, evidence, &cells, &mut groups);
    let experiments: Vec<ExperimentSummary> = state
        .plan
        .experiments
        .iter()
        .map(|experiment| experiment_summary(state, evidence, experiment))
        .collect();
    let mut summary = Summary {
        schema: SUMMARY_SCHEMA,
        run: state.plan.run.clone(),
        created: state.plan.created.clone(),
        version: state.plan.version.clone(),
        host: circumstances.host,
        environment: circumstances.environment,
        settings: settings(state),
        elapsed_s: state
            .ended
            .as_ref()
            .and_then(|ended| ended.wall_s)
            .unwrap_or_else(|| experiments.iter().map(|e| e.launch_s).sum()),
        experiments,
        offered: circumstances.offered,
        trusted: is_trusted(evidence, &groups, &cells),
        groups,
        cells,
        calibration,
        warnings: Vec::new(),
        notes: notes(state),
    };
    summary.warnings = warnings::of_run(state, evidence, &summary);
    sureness::mark(&mut summary, &sureness::Spread::new(evidence));
    Ok(rounded(summary))
}

/// Comparisons of each group, with the verdicts that hold among all of them.
fn comparisons(
    state: &State,
    evidence: &Evidence,
    groups: &[Group],
    judged: &[Judged],
    checks: &[Option<AaCheck>],
) -> Vec<Vec<CellComparison>> {
    let mut compared: Vec<Vec<CellComparison>> = judged
        .iter()
        .zip(checks)
        .map(|(group, aa)| compare(state, evidence, group, aa.as_ref()))
        .collect();
    adjust(state, groups, &mut compared);
    compared
}

/// Takes the verdicts that a method is faster where noise is behind them.
fn withhold(
    state: &State,
    evidence: &Evidence,
    cells: &[CellSummary],
    judged: &[Judged],
    compared: &mut [Vec<CellComparison>],
) {
    let disturbed = warnings::disturbed_cells(state, evidence);
    for (judged, compared) in judged.iter().zip(compared) {
        let group = judged.group;
        let headline = group.experiment.headline();
        let headlines = compared.iter_mut().map(|c| &mut c.comparison);
        let headlines = headlines.filter(|c| c.phase == headline).collect();
        sureness::withhold(&disturbed, cells, group.baseline, headlines);
    }
}

fn settings(state: &State) -> Settings {
    Settings {
        seed: state.plan.seed,
        budget_s: state.plan.budget_s,
        precision: state.plan.precision,
        margin: state.plan.margin,
        is_overview: state.plan.is_overview(),
    }
}

/// True without damage, a differing A/A check and an untrusted cell.
fn is_trusted(evidence: &Evidence, groups: &[GroupSummary], cells: &[CellSummary]) -> bool {
    evidence.damage.is_empty()
        && groups
            .iter()
            .all(|group| group.aa.is_none_or(|aa| !aa.differs))
        && cells
            .iter()
            .all(|cell| cell.outcome.status != Status::Untrusted)
}

/// A group without its A/A check, and before it is compared with other groups.
fn group_summary(
    state: &State,
    evidence: &Evidence,
    cells: &[CellSummary],
    judged: &Judged,
    compared: Vec<CellComparison>,
) -> Result<GroupSummary> {
    let group = judged.group;
    let best = claims(state, evidence, judged)?;
    let (recommendation, alike) = recommend(state, evidence, judged, &compared);
    Ok(GroupSummary {
        experiment: group.experiment.name.clone(),
        parameters: group.parameters.clone(),
        cells: ranked(cells, group),
        baseline: group.baseline,
        best_possible: best_possible(state, evidence, judged)?,
        floor: group
            .cells
            .iter()
            .copied()
            .find(|&cell| cells[cell].role == Role::Null),
        aa: None,
        comparisons: compared.into_iter().map(|c| c.comparison).collect(),
        best,
        recommendation,
        conditions: Vec::new(),
        alike,
        faster: Vec::new(),
        maybe_faster: Vec::new(),
        elsewhere: Vec::new(),
        unmeasured: Vec::new(),
        unsettled: Vec::new(),
        absent: Vec::new(),
        sureness: None,
        further_s: None,
        state: None,
        frontier: Vec::new(),
    })
}

/// A group's cells, fastest first by the headline; lower bounds and floors last.
fn ranked(cells: &[CellSummary], group: &Group) -> Vec<usize> {
    let headline = group.experiment.headline();
    let mut order = group.cells.clone();
    order.sort_by(|&a, &b| {
        let [a, b] = [a, b].map(|cell| place(&cells[cell], headline));
        a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
    });
    order
}

/// Key of a cell in the order of its group: the role of a lower bound or floor, and the headline's median.
fn place(cell: &CellSummary, headline: &str) -> (Option<Role>, f64) {
    let last = matches!(cell.role, Role::Limit | Role::Null).then_some(cell.role);
    let phase = cell.phases.get(headline);
    (last, phase.map_or(f64::MAX, |p| p.wall_ns.median))
}

/// Use of the time of an experiment's launches.
fn experiment_summary(
    state: &State,
    evidence: &Evidence,
    experiment: &Experiment,
) -> ExperimentSummary {
    let headline = experiment.headline();
    let measure = experiment.measures().position(|m| m == headline);
    let mut launches: BTreeMap<usize, f64> = BTreeMap::new();
    let mut headline_ns = 0.0;
    for (index, cell) in &evidence.cells {
        if state.cells[*index].cell.experiment != experiment.name {
            continue;
        }
        let counts = state.cells[*index].method.role != Role::Null;
        for launch in &cell.launches {
            launches.insert(launch.launch, launch.wall_s);
            let spent = measure.map_or(0.0, |m| launch.measures[m].wall_ns.iter().sum::<f64>());
            headline_ns += if counts { spent } else { 0.0 };
        }
    }
    ExperimentSummary {
        headline: headline.to_owned(),
        definition: experiment.clone(),
        launch_s: launches.values().sum(),
        headline_s: headline_ns / 1e9,
    }
}

// Figures as they leave the judging: with ten significant digits. Compilers add up in another order at another level of
// optimisation, and C libraries differ in the last digit of a logarithm. No statement is as fine as that, and without those
// digits a run that is judged again anywhere gives the same summary, byte for byte. So do answers, studies and sets of runs.

/// Digits after the first.
const FURTHER_DIGITS: usize = 9;

/// A value with every fraction in it at ten significant digits; whole numbers stay as they are. What JSON cannot hold, such as
/// an infinite figure that must be there, leaves all as it was.
pub(crate) fn rounded<T: FromJson + ToJson>(value: T) -> T {
    let Ok(mut json) = value.to_json() else {
        return value;
    };
    round(&mut json);
    T::from_json(json.to_string().as_bytes()).unwrap_or(value)
}

fn round(value: &mut Value) {
    match value {
        // Most figures are whole nanoseconds, or halves of them.
        Value::Number(number)
            if number
                .as_f64()
                .is_some_and(|v| v.abs() < 1e9 && (2.0 * v).fract() == 0.0) => {}
        Value::Number(number) if number.is_f64() => {
            let short = number
                .as_f64()
                .and_then(|v| format!("{v:.FURTHER_DIGITS$e}").parse().ok());
            *number = short
                .and_then(Number::from_f64)
                .unwrap_or_else(|| number.clone());
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Serialize, de::DeserializeOwned};
    use std::collections::BTreeMap;

    fn rounded<T: Serialize + DeserializeOwned>(value: T) -> T {
        let mut json = serde_json::to_value(&value).unwrap();
        round(&mut json);
        serde_json::from_str(&json.to_string()).unwrap_or(value)
    }

    #[test]
    fn fractions_have_ten_digits_and_whole_numbers_all_of_theirs() {
        let rounded: (f64, Vec<f64>, u64, Option<f64>) = rounded((
            2.0 / 3.0,
            vec![1e300 / 7.0, -1.0 / 3e-20, 60.0],
            u64::MAX,
            None,
        ));
        let expected = (
            0.6666666667,
            vec![1.428571429e299, -3.333333333e19, 60.0],
            u64::MAX,
            None,
        );
        assert_eq!(rounded, expected);
    }

    #[test]
    fn what_differs_in_the_last_digit_is_the_same_afterwards() {
        let sum = 0.1 + 0.2;
        assert_ne!(sum, 0.3);
        let figures = BTreeMap::from([("a".to_owned(), sum)]);
        assert_eq!(rounded(figures)["a"], 0.3);
        assert_eq!(rounded(rounded(1.0 / 3.0)), rounded(1.0 / 3.0));
    }

    #[test]
    fn figures_of_ten_digits_are_as_they_were() {
        for v in [
            0.0_f64,
            -0.0,
            0.5,
            -1.5,
            123_456_789.5,
            999_999_999.5,
            -999_999_999.5,
            5e-324,
        ] {
            let by_digits: f64 = format!("{v:.FURTHER_DIGITS$e}").parse().unwrap();
            assert_eq!(rounded(v).to_bits(), by_digits.to_bits(), "{v}");
        }
    }

    #[test]
    fn an_infinite_figure_is_not_lost() {
        assert_eq!(
            rounded((f64::INFINITY, 0.1 + 0.2)),
            (f64::INFINITY, 0.1 + 0.2)
        );
    }
}
