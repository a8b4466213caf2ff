//! Result of a run: the shape of `summary.json` and `run --json`, with a committed schema. A report needs nothing else.

pub mod cell;
mod contrast;
mod frontier;
mod group;
mod note;
#[cfg(test)]
pub(crate) mod schema {
    //! The JSON Schema of a summary is made from the types that are written, and committed: whoever reads a summary needs it, and
    //! a change of the shape shows in it.

    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::{SUMMARY_SCHEMA, Summary};
    use crate::outcome::{BrokenLaw, Cause, Disturbed, LaunchFault};

    /// Nothing may stand in an object that the schema does not name, and each word says what it is. An object that takes
    /// properties from its variants or from a definition is closed as a whole, and those are open.
    pub(crate) fn tighten(schema: &mut Value) {
        let mut parts = BTreeSet::new();
        close(schema, false, &mut parts);
        parts
            .iter()
            .for_each(|name| open(&mut schema["$defs"][name]));
    }

    /// Keywords under which the schemas stand that an object has to satisfy too.
    const BESIDE: [&str; 3] = ["oneOf", "anyOf", "allOf"];

    /// Closes the objects of a schema; `parts` are the definitions that others take properties from.
    fn close(value: &mut Value, part: bool, parts: &mut BTreeSet<String>) {
        let Value::Object(object) = value else {
            let all = value.as_array_mut();
            return all
                .into_iter()
                .flatten()
                .for_each(|value| close(value, false, parts));
        };
        let named = object.contains_key("properties");
        let whole = part
            || named
                && (object.contains_key("$ref")
                    || BESIDE.iter().any(|word| object.contains_key(*word)));
        if named && !part {
            object.insert(
                if whole {
                    "unevaluatedProperties"
                } else {
                    "additionalProperties"
                }
                .to_owned(),
                json!(false),
            );
        }
        if let Some(Value::Object(word)) =
            object.get_mut("properties").and_then(|p| p.get_mut("word"))
        {
            word.entry("description")
                .or_insert_with(|| json!("Which of these it is."));
        }
        if let Some(name) = object.get("$ref").and_then(Value::as_str).filter(|_| whole) {
            parts.insert(name.trim_start_matches("#/$defs/").to_owned());
        }
        for (key, value) in object {
            match value {
                Value::Array(all) if BESIDE.contains(&key.as_str()) => {
                    all.iter_mut().for_each(|v| close(v, whole, parts))
                }
                _ => close(value, false, parts),
            }
        }
    }

    /// Takes the closing of an object and of its variants away.
    fn open(value: &mut Value) {
        let Value::Object(object) = value else { return };
        object.remove("additionalProperties");
        object.remove("unevaluatedProperties");
        for (_, value) in object
            .iter_mut()
            .filter(|(key, _)| BESIDE.contains(&key.as_str()))
        {
            value.as_array_mut().into_iter().flatten().for_each(open);
        }
    }

    fn made() -> Value {
        let mut schema = serde_json::to_value(schemars::schema_for!(Summary)).unwrap();
        tighten(&mut schema);
        let about = "What came out of a run: the content of summary.json, of `pagewise run --json` and of `pagewise report --json`.";
        schema["title"] = json!("Pagewise summary");
        schema["description"] = json!(about);
        schema["properties"]["schema"] =
            json!({ "description": "Version of this shape.", "const": SUMMARY_SCHEMA });
        let mut ordered = Map::new();
        ordered.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        ordered.insert(
            "$id".to_owned(),
            json!(format!("urn:pagewise:summary:{SUMMARY_SCHEMA}")),
        );
        ordered.extend(schema.as_object().cloned().unwrap_or_default());
        Value::Object(ordered)
    }

    #[test]
    fn the_committed_schema_is_that_of_the_types() {
        assert_committed("schema/summary.schema.json", &made());
    }

    /// Fails unless a file holds the schema as it is made of the types; with `PAGEWISE_BLESS`, as `cargo xtask bless` sets it,
    /// the file is written.
    pub(crate) fn assert_committed(path: &str, made: &Value) {
        if std::env::var_os("PAGEWISE_BLESS").is_some() {
            std::fs::write(path, serde_json::to_string_pretty(made).unwrap() + "\n").unwrap();
        }
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let differs = difference("", &kept, made);
        assert!(
            differs.is_none(),
            "{path}: {} differs; cargo xtask bless writes it, and a new shape has a new number",
            differs.unwrap_or_default()
        );
        jsonschema::meta::validate(&kept).unwrap();
    }

    /// First difference of two values.
    fn difference(at: &str, value: &Value, other: &Value) -> Option<String> {
        match (value, other) {
            (Value::Object(a), Value::Object(b)) => {
                let keys = a.keys().chain(b.keys());
                keys.filter(|k| a.get(*k) != b.get(*k)).find_map(|k| {
                    let (a, b) = (
                        a.get(k).unwrap_or(&Value::Null),
                        b.get(k).unwrap_or(&Value::Null),
                    );
                    difference(&format!("{at}/{k}"), a, b)
                })
            }
            _ => (value != other).then(|| at.to_owned()),
        }
    }

    /// A summary of a real run, with every kind of outcome in it, as it is written now.
    fn recorded() -> Value {
        let path = "../report/tests/fixtures/whole.json";
        let read: Summary = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        serde_json::to_value(Summary {
            schema: SUMMARY_SCHEMA,
            ..read
        })
        .unwrap()
    }

    #[test]
    fn a_recorded_summary_conforms_and_a_wrong_one_does_not() {
        let validator = jsonschema::validator_for(&made()).unwrap();
        let whole = recorded();
        let errors: Vec<String> = validator
            .iter_errors(&whole)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .take(5)
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        // It is read and written again without loss, and so does what is written now conform.
        let read: Summary = serde_json::from_value(whole.clone()).unwrap();
        let written = serde_json::to_value(&read).unwrap();
        assert!(validator.is_valid(&written));
        assert!(
            serde_json::from_value::<Summary>(written).unwrap() == read,
            "something was lost"
        );
        for (pointer, wrong) in [
            ("/schema", json!(1)),
            ("/cells/0/status", json!("fine")),
            ("/cells/0/parameters/bytes", json!(4096)),
            ("/cells/0/launches", json!("1")),
            ("/groups/0/recommendation/word", json!("perhaps")),
            ("/trusted", Value::Null),
            ("/more", json!(1)),
        ] {
            let mut other = whole.clone();
            match pointer {
                "/more" => other["more"] = wrong,
                _ => {
                    *other
                        .pointer_mut(pointer)
                        .unwrap_or_else(|| panic!("{pointer}")) = wrong
                }
            }
            assert!(!validator.is_valid(&other), "{pointer}");
        }
    }

    /// Causes whose properties are partly those of another type.
    fn causes() -> Vec<Cause> {
        let law = BrokenLaw {
            first: "launch 1: pages <= 4 with 5".to_owned(),
            broken: 1,
            samples: 30,
        };
        let all = [
            ("transcript", json!({"error": "no ready"})),
            ("rounds", json!({"seen": 1, "planned": 2})),
            ("no-digest", json!({})),
        ];
        let mut causes: Vec<Cause> = Vec::new();
        for (word, mut figures) in all {
            figures["fault"] = json!(word);
            let fault: LaunchFault = serde_json::from_value(figures).unwrap();
            causes.push(Cause::Broken {
                launch: 1,
                fault: fault.clone(),
                law: None,
            });
            causes.push(Cause::Broken {
                launch: 1,
                fault,
                law: Some(law.clone()),
            });
        }
        let disturbed = Disturbed {
            launches: 3,
            all: 5,
            by: vec!["cpu-pressure".to_owned()],
        };
        causes.extend([
            Cause::OthersOnDisk(disturbed.clone()),
            Cause::Disturbed(disturbed),
            Cause::Law(law),
        ]);
        let of_twin: Vec<Cause> = causes
            .iter()
            .map(|cause| Cause::Duplicate {
                cause: Box::new(cause.clone()),
            })
            .collect();
        causes.extend(of_twin);
        causes
    }

    #[test]
    fn a_cause_with_the_figures_of_another_type_conforms_and_more_does_not() {
        let validator = jsonschema::validator_for(&made()).unwrap();
        let mut whole = recorded();
        for cause in causes() {
            let written = serde_json::to_value(&cause).unwrap();
            whole["cells"][0]["cause"] = written.clone();
            let errors: Vec<String> = validator
                .iter_errors(&whole)
                .map(|e| e.to_string())
                .collect();
            assert!(errors.is_empty(), "{written}: {errors:#?}");
            whole["cells"][0]["cause"]["more"] = json!(1);
            assert!(!validator.is_valid(&whole), "{written} with more");
        }
    }
}
mod tail;
mod warning;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use cell::{
    CacheFit, CellSummary, CountSummary, Distribution, FactProof, Footprint, IdleLatency,
    LatencySummary, LaunchValues, LawSummary, PhaseSummary, SteadySummary, TailRatio,
};
pub use contrast::{Contrast, Verdict};
pub use frontier::FrontierPoint;
pub use group::{
    AaCheck, AnswerCondition, BestClaim, Comparison, Doubt, GroupSummary, Levels, Recommendation,
    StateAnswer, StateEffect, StateRatio, Sureness, Unsettled,
};
pub use note::{EndedExperiment, LeastPrecise, Note, NoteKind};
pub use stats::estimate::Ratio;
pub use tail::TailQuantile;
pub use warning::{LaunchCount, Warning, WarningCode, WarningKind};

use crate::experiment::Experiment;
pub use crate::method::Role;

crate::read_from_json!(Summary);
crate::written_to_json!(Summary);

/// Version of this shape. Older ones are read too: 4 has warnings and notes as sentences, 5 and 6 reasons.
pub const SUMMARY_SCHEMA: u32 = 9;

/// A whole run, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Name of the run, which is its folder's.
    #[serde(deserialize_with = "crate::plan::deserialize_name")]
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The words by which the machine is known: a hash of its id, its kernel, processor and so on.
    pub host: BTreeMap<String, String>,
    /// Main facts of the environment; all of it is in `environment.json`.
    pub environment: BTreeMap<String, String>,
    /// Settings of the run that the figures depend on.
    pub settings: Settings,
    /// Seconds from the start of the program to its last launch's end; where that was not kept, time spent in launches.
    pub elapsed_s: f64,
    /// The experiments that took part, in order.
    pub experiments: Vec<ExperimentSummary>,
    /// Number of ranked methods of the usual worker by experiment, also of experiments that the run left out, in the version that
    /// judged; empty where that was not known.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub offered: BTreeMap<String, usize>,
    /// Comparison groups, in the order in which they are shown.
    pub groups: Vec<GroupSummary>,
    /// Cells; groups refer to them by index.
    pub cells: Vec<CellSummary>,
    /// Pooled A/A checks of the run.
    pub calibration: Calibration,
    /// True if no A/A check differs and no cell is untrusted.
    pub trusted: bool,
    /// Warnings about the run and its cells.
    pub warnings: Vec<Warning>,
    /// Remarks on the whole.
    pub notes: Vec<Note>,
}

impl Summary {
    /// A sentence for each part of the record that is not as it was written.
    pub fn damage(&self) -> impl Iterator<Item = &str> {
        self.warnings
            .iter()
            .filter_map(|warning| match &warning.kind {
                WarningKind::Damaged { seen } => Some(seen.as_str()),
                _ => None,
            })
    }

    /// True if a signal or a kill ended the run.
    pub fn is_interrupted(&self) -> bool {
        self.notes
            .iter()
            .any(|note| matches!(note.kind, NoteKind::Interrupted { .. }))
    }
}

/// Settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Settings {
    /// Seed of every order and of all data.
    pub seed: u64,
    /// Time that the run may take, in seconds.
    pub budget_s: f64,
    /// Half-width of a ratio's interval at which an experiment is done, as a share.
    pub precision: f64,
    /// Differences below this share are called within the margin.
    pub margin: f64,
    /// True if it is the overview.
    #[serde(rename = "first_look")]
    pub is_overview: bool,
}

/// Facts of an experiment that a report needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExperimentSummary {
    /// Its definition as it was when the run was made.
    #[serde(flatten)]
    pub definition: Experiment,
    /// The total or phase that is compared first.
    pub headline: String,
    /// Time of all launches, in seconds.
    pub launch_s: f64,
    /// The part of that which went into headline phases of methods, in seconds.
    pub headline_s: f64,
}

/// Calibration of the run's intervals by the baselines' hidden duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibration {
    /// A/A checks of this run and of kept runs of this machine that were pooled.
    pub checks: usize,
    /// Spread of their z-scores; 1 where intervals are as wide as they should be.
    pub spread: Option<f64>,
    /// Probability of such a spread where the intervals are right.
    pub p: Option<f64>,
    /// The factor by which all intervals of the run were widened; 1 where they were left as they are.
    pub widened: f64,
}

impl Summary {
    /// Experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&ExperimentSummary> {
        self.experiments.iter().find(|e| e.definition.name == name)
    }

    /// Groups of an experiment, in order.
    pub fn groups_of<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a GroupSummary> {
        self.groups
            .iter()
            .filter(move |g| g.experiment == experiment)
    }

    /// Comparisons of all groups, each with its group.
    pub fn comparisons(&self) -> impl Iterator<Item = (&GroupSummary, &Comparison)> {
        self.groups
            .iter()
            .flat_map(|g| g.comparisons.iter().map(move |c| (g, c)))
    }
}

impl GroupSummary {
    /// All comparisons of a phase or total, by their cells: for whoever asks for many of them.
    pub fn by_cell(&self, phase: &str) -> BTreeMap<usize, &Comparison> {
        self.comparisons
            .iter()
            .rev()
            .filter(|c| c.phase == phase)
            .map(|c| (c.cell, c))
            .collect()
    }

    /// Comparison of a cell in a phase.
    pub fn comparison(&self, cell: usize, phase: &str) -> Option<&Comparison> {
        self.comparisons
            .iter()
            .find(|c| c.cell == cell && c.phase == phase)
    }
}
