//! Runs of many machines together: the shape of `compare --outliers … --json`, which the committed JSON Schema describes.

use crate::across::{CellHeadline, ComparedCell, FactDifference};
use crate::outcome::{Outcome, Status};
use crate::parameters::Parameters;
use crate::shared::SHARED_END;
use crate::summary::Contrast;
use anyhow::Result;
use files::Folder;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

crate::read_from_json!(OutlierSearch);
crate::written_to_json!(OutlierSearch);

/// Version of [`OutlierSearch`].
pub const OUTLIERS_SCHEMA: u32 = 6;

/// Runs of many machines, by kinds of machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OutlierSearch {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// A node is odd only where it differs by more than this share.
    pub margin: f64,
    /// Nodes with a run that could be read.
    pub nodes: usize,
    /// Number of runs that could be read.
    pub runs: usize,
    /// Kinds of node, that with the most nodes first.
    pub kinds: Vec<MachineGroup>,
    /// Nodes that are unlike their kind, the furthest first.
    pub odd: Vec<OddNode>,
    /// Nodes to measure again, because one run may be wrong: those that are odd and not confirmed.
    pub rerun: Vec<String>,
    /// The first kind against each other kind, as far as these have enough nodes.
    pub compared: Vec<KindsCompared>,
    /// Folders that could not be read.
    pub unread: Vec<Unread>,
}

/// By what a kind of node is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindFacts {
    /// Values by the fact's label.
    pub facts: BTreeMap<String, String>,
    /// All memory of its smallest node, in bytes; a node of the kind has up to 4 % more.
    pub memory_bytes: Option<u64>,
}

/// Nodes that should cost the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MachineGroup {
    /// Name of the group: A, B, ….
    pub name: String,
    /// Facts that all its nodes share, by label.
    pub facts: BTreeMap<String, String>,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// True if they are too few for one of them to be called odd.
    pub too_few: bool,
    /// In which facts it differs from the first kind.
    pub differences: Vec<FactDifference>,
    /// Costs of its cells.
    pub cells: Vec<KindCell>,
    /// Ratio of each method to its baseline over its nodes.
    pub methods: Vec<KindMethod>,
}

/// One cell over the nodes of a kind, by its experiment's headline.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KindCell {
    /// Cell and phase to which the costs belong.
    #[serde(flatten)]
    pub headline: CellHeadline,
    /// Nodes that have the cell.
    pub nodes: usize,
    /// Wall time of one unit on the median node, in nanoseconds.
    pub per_unit_ns: f64,
    /// The same on the node below which 5 % of the nodes are.
    pub low_ns: f64,
    /// The same on the node above which 5 % of the nodes are.
    pub high_ns: f64,
    /// Scatter of nodes within their group, as a share, robustly; absent with few nodes.
    pub between_nodes: Option<f64>,
    /// Scatter of launches on the median node, as a share.
    pub within_nodes: Option<f64>,
    /// Number of nodes by status.
    pub outcomes: BTreeMap<String, usize>,
}

/// A method against its baseline over the nodes of a kind: the ratio is taken on each node, and the node is the unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KindMethod {
    /// Name of the cell, `EXPERIMENT/METHOD@WORKER`.
    pub cell: String,
    /// Values of its parameters, by key.
    pub parameters: Parameters,
    /// Name of the baseline's cell.
    pub baseline: String,
    /// Its cost relative to that, with its interval over nodes.
    #[serde(flatten)]
    pub contrast: Contrast,
}

/// A node that is unlike its kind.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OddNode {
    /// Name of the node.
    pub node: String,
    /// Name of its machine group.
    pub kind: String,
    /// Folders of its runs.
    pub folders: Vec<String>,
    /// In what it is unlike, the largest first.
    pub findings: Vec<Finding>,
    /// Facts that differ from those of an ordinary node of its kind and may be the cause.
    pub facts: Vec<FactDifference>,
    /// True if each of its runs says so; absent with one run.
    pub confirmed: Option<bool>,
}

/// In what a node is unlike its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Finding {
    Cost {
        cell: String,
        parameters: Parameters,
        /// Its cost here relative to the median of the kind's other nodes.
        ratio: f64,
        /// Scatter of those, as a share.
        spread: f64,
        /// The probability of that by chance, adjusted for all nodes and cells (Benjamini–Hochberg).
        p: f64,
    },
    Outcome {
        cell: String,
        parameters: Parameters,
        #[serde(flatten)]
        outcome: Outcome,
        /// Outcome on most other nodes.
        others: Status,
        nodes: usize,
    },
    /// A CPU quota kept a cell waiting.
    Throttled {
        cell: String,
        parameters: Parameters,
        /// Share of the time of its launches in which it waited.
        share: f64,
        /// Other nodes of its kind on which none did.
        nodes: usize,
    },
}

impl Finding {
    /// Cell that the finding is about, with its parameters.
    pub fn cell(&self) -> (&str, &Parameters) {
        match self {
            Finding::Cost {
                cell, parameters, ..
            }
            | Finding::Outcome {
                cell, parameters, ..
            }
            | Finding::Throttled {
                cell, parameters, ..
            } => (cell, parameters),
        }
    }
}

/// Two kinds compared with each other: unpaired, the node as the unit of inference. `runs` are nodes here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KindsCompared {
    /// Name of the first group.
    pub a: String,
    /// Name of the second group.
    pub b: String,
    /// Cells that both measured; outliers are left out.
    pub cells: Vec<ComparedCell>,
}

/// A folder that takes no part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unread {
    /// Folder that was to be read.
    pub folder: String,
    /// Reason why it was not.
    pub fault: Fault,
}

/// The reason why a folder takes no part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "word")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum Fault {
    /// A part cannot be read, or is not as it was written.
    Damaged { error: String },
    /// It has a summary and no launch.
    Empty,
    /// Another version made it.
    Foreign { error: String },
    /// It is a try or a profile, which have no cells.
    OtherKind { kind: String },
    /// The same run was read from another folder.
    Duplicate { known: String },
    /// Its plan is not written yet.
    Begun,
    /// No launch has ended yet.
    NoLaunch,
}

/// Run folders lie at most this deep below the folder that is named: site/rack/node/run.
const DEPTH: usize = 4;
/// Files by which a folder is known to be a run's, even where its plan is lost.
const MARKS: [&str; 3] = ["plan.json", "launches.jsonl", "transcripts.zst"];

/// The run folders and shared files at and below a folder, in the order of their names. Links to folders are not followed,
/// hidden folders are not looked into, and what cannot be read below is passed over: nodes may be writing meanwhile.
pub fn paths(place: &Path) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    walk(&Folder::open(place)?, place, DEPTH, &mut runs);
    runs.sort();
    Ok(runs)
}

fn walk(folder: &Folder, place: &Path, depth: usize, runs: &mut Vec<PathBuf>) {
    let names = folder.names().unwrap_or_default();
    if names
        .iter()
        .any(|name| MARKS.iter().any(|mark| name == *mark))
    {
        runs.push(place.to_owned());
    } else if depth > 0 {
        for name in names
            .iter()
            .filter(|name| !name.to_string_lossy().starts_with('.'))
        {
            if name.to_string_lossy().ends_with(SHARED_END) {
                runs.push(place.join(name));
            } else if let Ok(below) = folder.folder(name) {
                walk(&below, &place.join(name), depth - 1, runs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::summary::schema::{assert_committed, tighten};

    const OUTLIERS: &str = "schema/outliers.schema.json";

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        let mut schema = serde_json::to_value(schemars::schema_for!(OutlierSearch)).unwrap();
        tighten(&mut schema);
        schema["$id"] = json!(format!("urn:pagewise:outliers:{OUTLIERS_SCHEMA}"));
        schema["title"] = json!("Pagewise outliers");
        schema["description"] = json!(
            "Runs of many machines: what `pagewise compare --outliers FOLDER --json` prints."
        );
        schema["properties"]["schema"] =
            json!({ "description": "Version of this shape.", "const": OUTLIERS_SCHEMA });
        assert_committed(OUTLIERS, &schema);
    }

    mod places {
        use std::fs;

        use super::*;

        #[test]
        fn runs_are_found_at_any_depth_and_links_are_not_followed() {
            let place = tempfile::tempdir().unwrap();
            let make = |path: &str, file: &str| {
                fs::create_dir_all(place.path().join(path)).unwrap();
                fs::write(place.path().join(path).join(file), "").unwrap();
            };
            make("n2/run", "plan.json");
            make("n1", "transcripts.zst");
            make("n3", "notes.txt");
            make("n3", "shared.json.gz");
            make(".hidden", "plan.json");
            std::os::unix::fs::symlink(place.path(), place.path().join("n4")).unwrap();
            let names = |found: Vec<PathBuf>| -> Vec<String> {
                found
                    .iter()
                    .map(|p| p.strip_prefix(place.path()).unwrap().display().to_string())
                    .collect()
            };
            assert_eq!(
                names(paths(place.path()).unwrap()),
                ["n1", "n2/run", "n3/shared.json.gz"]
            );
            assert_eq!(names(paths(&place.path().join("n1")).unwrap()), ["n1"]);
            assert!(
                paths(&place.path().join("n9"))
                    .unwrap_err()
                    .to_string()
                    .contains("cannot read")
            );
        }
    }
}
