//! Gallery: shared runs of many machines beside each other. The shape of `index.json` and of `gallery --check --json`.

use crate::experiment::{Experiment, ParameterKind};
use crate::parameters::Parameters;
use crate::shared::{AnswerWord, SharedMachine, SharedRatio, SharedVerdict};
use crate::sizes::parse_size;
use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

crate::written_to_json!(Gallery);

/// Version of [`Gallery`].
pub const GALLERY_SCHEMA: u32 = 1;

/// Shared runs and the questions that they answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gallery {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Accepted files, the newest first.
    pub machines: Vec<GalleryMachine>,
    /// Usual value of each parameter by experiment. Runs by a version that did not know a parameter had it.
    pub usual_values: BTreeMap<String, Parameters>,
    /// Questions, those of one experiment next to each other.
    pub questions: Vec<GalleryQuestion>,
    /// Files that were not accepted.
    pub refused: Vec<RefusedFile>,
}

impl Gallery {
    /// Tells whether questions of these experiments and parameters are one.
    pub fn is_same(&self, a: (&str, &Parameters), b: (&str, &Parameters)) -> bool {
        a.0 == b.0 && unusual(&self.usual_values, a.0, a.1) == unusual(&self.usual_values, b.0, b.1)
    }
}

/// Usual value of each parameter by experiment, sizes in plain bytes. One that each machine has for itself is not there.
pub fn usual_values(experiments: &[Experiment]) -> BTreeMap<String, Parameters> {
    let usual = |experiment: &Experiment| {
        let parameters = experiment.parameters.iter();
        let settled = parameters.filter_map(|(key, parameter)| {
            let value = parameter.default.first()?;
            let value = match parameter.kind {
                ParameterKind::Size => parse_size(value).ok()?.to_string(),
                ParameterKind::Count => value.parse::<u64>().ok()?.to_string(),
                ParameterKind::Choice | ParameterKind::Text => value.clone(),
            };
            Some((key.clone(), value))
        });
        (experiment.name.clone(), settled.collect())
    };
    experiments.iter().map(usual).collect()
}

/// Parameters of a question without those that have their usual value.
pub fn unusual<'a>(
    usual_values: &BTreeMap<String, Parameters>,
    experiment: &str,
    parameters: &'a Parameters,
) -> BTreeMap<&'a str, &'a str> {
    let usual = usual_values.get(experiment);
    parameters
        .iter()
        .filter(|(key, value)| usual.and_then(|usual| usual.get(*key)) != Some(value))
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}

/// The machine of one accepted file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GalleryMachine {
    /// Word by which links find it.
    pub id: String,
    /// Name of the file.
    pub file: String,
    /// Day of the run.
    pub day: String,
    /// True if the run is an overview of all experiments.
    #[serde(default)]
    pub overview: bool,
    /// Version of Pagewise that measured.
    pub version: String,
    /// Facts of the machine.
    pub machine: SharedMachine,
}

/// A question with the answers of all machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GalleryQuestion {
    /// Word by which links find it: the same in every gallery.
    pub id: String,
    /// Name of the experiment.
    pub experiment: String,
    /// The parameters that all its methods share, sizes in plain bytes.
    pub parameters: Parameters,
    /// Method that is compared with the usual choice: the one that most runs recommend, or else that is faster on most machines.
    pub method: String,
    /// The usual choice.
    pub usual: String,
    /// One for each machine in their order; absent where it has no such comparison.
    pub cells: Vec<Option<GalleryCell>>,
}

/// A question on one machine.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GalleryCell {
    /// Cost of the method relative to the usual choice.
    #[serde(flatten)]
    pub ratio: SharedRatio,
    /// Verdict on it.
    pub verdict: SharedVerdict,
    /// Answer of the run to the question.
    pub answer: AnswerWord,
    /// The method of the answer.
    pub choice: Option<String>,
}

/// The picture on the front page: one method against the usual choice, by one condition.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontPicture {
    /// Its title.
    pub title: String,
    /// Name of the experiment.
    pub experiment: String,
    /// The method whose cost is drawn relative to the usual choice.
    pub method: String,
    /// Parameter of the condition: a panel for each value.
    pub across: String,
    /// Values that a question must have to be drawn.
    pub fixed: BTreeMap<String, String>,
}

impl FrontPicture {
    /// Reads the file of a picture; errors name the path, the line and the column.
    pub fn parse(path: &str, text: &str) -> Result<FrontPicture> {
        toml::from_str(text).map_err(|error| anyhow!("{path}: {error}"))
    }
}

/// A file that was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RefusedFile {
    /// Name of the file.
    pub file: String,
    /// Reason in a sentence.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::{SHARED_SCHEMA, SharedRun};
    use crate::summary::schema::{assert_committed, tighten};
    use serde_json::{Value, json};

    fn made(schema: schemars::Schema, name: &str, number: u32, about: &str) -> Value {
        let mut schema = serde_json::to_value(schema).unwrap();
        tighten(&mut schema);
        schema["$id"] = json!(format!("urn:pagewise:{name}:{number}"));
        schema["description"] = json!(about);
        schema["properties"]["schema"] =
            json!({ "description": "Version of this shape.", "const": number });
        schema
    }

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        let gallery = made(
            schemars::schema_for!(Gallery),
            "gallery",
            GALLERY_SCHEMA,
            "Shared runs beside each other: index.json of a gallery, and `pagewise gallery --check --json`.",
        );
        assert_committed("schema/gallery.schema.json", &gallery);
        let mut shared = made(
            schemars::schema_for!(SharedRun),
            "shared",
            SHARED_SCHEMA,
            "A shared run: the JSON in a file of `pagewise share`.",
        );
        shared["properties"]["seal"] =
            json!({ "description": "SHA-256 of what follows.", "type": "string" });
        assert_committed("schema/shared.schema.json", &shared);
    }
}
