//! Cells without figures, and figures that are not to be believed: by outcome and reason.

use super::labels::Labels;
use record::{outcome::Status, summary::Summary};
use std::collections::BTreeMap;

/// Cells of one outcome and reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    pub status: Status,
    pub reason: String,
    /// Their names within the experiment, each once.
    pub names: Vec<String>,
    pub methods: Vec<String>,
    pub cells: usize,
}

/// Those of one experiment.
pub(super) fn absent(summary: &Summary, experiment: &str, labels: &Labels) -> Vec<Absent> {
    let definition = summary.experiment(experiment);
    let mut by_reason: BTreeMap<(Status, &str), Absent> = BTreeMap::new();
    let cells = summary.cells.iter().filter(|c| c.experiment == experiment && !c.hidden && c.status != Status::Ok);
    for cell in cells {
        let name = definition.map_or_else(|| cell.method.clone(), |e| labels.cell(&e.definition, cell));
        let absent = by_reason.entry((cell.status, &cell.reason)).or_insert_with(|| Absent {
            status: cell.status,
            reason: cell.reason.clone(),
            names: Vec::new(),
            methods: Vec::new(),
            cells: 0,
        });
        absent.cells += 1;
        if !absent.methods.contains(&cell.method) {
            absent.methods.push(cell.method.clone());
        }
        if !absent.names.contains(&name) {
            absent.names.push(name);
        }
    }
    by_reason.into_values().collect()
}

/// Remedy for a cell: the words behind the reason's last colon, where they are a command; else the reason.
fn remedy(reason: &str) -> &str {
    command(reason).unwrap_or(reason)
}

fn command(reason: &str) -> Option<&str> {
    const COMMANDS: [&str; 7] = ["sudo ", "apt", "sysctl", "install", "pagewise", "raise ", "mount"];
    let tail = [": ", "; "].iter().filter_map(|mark| Some(reason.rsplit_once(mark)?.1)).min_by_key(|t| t.len());
    let is_command = |tail: &&str| COMMANDS.iter().any(|c| tail.starts_with(c));
    tail.filter(is_command).map(|tail| tail.strip_prefix("sudo ").unwrap_or(tail))
}

/// The package that a reason names: `the package libjemalloc2 has it`.
fn package(reason: &str) -> Option<&str> {
    reason.rsplit_once("the package ")?.1.strip_suffix(" has it")
}

/// Cells that one remedy would bring.
struct Remedy {
    /// Equal for remedies that are one command.
    kind: String,
    advice: String,
    names: Vec<String>,
    cells: usize,
}

/// Tells whether cells of this outcome are missing. A way that has figures with other parameters is none that the
/// machine lacks: it does not go with these, and nothing would bring it.
fn is_missing(summary: &Summary, experiment: &str, absent: &Absent) -> bool {
    let has_figures = |method: &str| {
        let mut all = summary.cells.iter().filter(|c| c.experiment == experiment && c.method == method);
        all.any(|c| c.status == Status::Ok)
    };
    match absent.status {
        Status::Ok | Status::Untrusted | Status::Damaged => false,
        Status::Refused | Status::Failed => true,
        Status::Skipped => {
            let helped = command(&absent.reason).is_some() || package(&absent.reason).is_some();
            helped || !absent.methods.iter().all(|method| has_figures(method))
        }
    }
}

/// Missing cells on the first screen, by remedy, over all experiments.
pub(super) fn missing(summary: &Summary, labels: &Labels) -> Vec<String> {
    let mut remedies: Vec<Remedy> = Vec::new();
    for name in summary.experiments.iter().map(|e| &e.definition.name) {
        for absent in absent(summary, name, labels).into_iter().filter(|absent| is_missing(summary, name, absent)) {
            let package = package(&absent.reason);
            let kind = package.map_or_else(|| kind_of(remedy(&absent.reason)), |_| INSTALL.to_owned());
            let known = remedies.iter().position(|r| r.kind == kind).unwrap_or(remedies.len());
            if known == remedies.len() {
                let advice = package.map_or("", |_| INSTALL).to_owned();
                remedies.push(Remedy { kind, advice, names: Vec::new(), cells: 0 });
            }
            let known = &mut remedies[known];
            known.names.extend(absent.names.iter().map(|n| format!("{name}/{n}")));
            known.cells += absent.cells;
            match package {
                Some(p) if known.advice.split(' ').any(|known| known == p) => {}
                Some(p) => known.advice += &format!(" {p}"),
                // Of the same command with other numbers the last one asks for most.
                None => known.advice = remedy(&absent.reason).to_owned(),
            }
        }
    }
    remedies.sort_by_key(|r| std::cmp::Reverse(r.cells));
    remedies.into_iter().map(sentence).collect()
}

const INSTALL: &str = "install";

fn sentence(mut remedy: Remedy) -> String {
    remedy.names.sort();
    remedy.names.dedup();
    match remedy.names.as_slice() {
        [one] => format!("{one}: {}", remedy.advice),
        [one, other] => format!("{one}, {other}: {}", remedy.advice),
        _ => format!("{} cells: {}", remedy.cells, remedy.advice),
    }
}

fn kind_of(remedy: &str) -> String {
    remedy.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/view/missing.rs"]
mod tests;
