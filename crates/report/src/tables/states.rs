//! The plain machine against its states: a table of methods by states, and a sentence on the answer of each state.

use super::columns::Columns;
use crate::render::document::{Block, Entry, TableCell, Tone};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use crate::sentences::numbers::with_limits;
use crate::sentences::wording;
use record::summary::{PhaseSummary, StateAnswer, StateEffect, StateRatio};
use record::{machine_state::STATE, outcome::Status};

/// A group on the plain machine with the answers of the same group in other states.
struct PlainGroup<'a> {
    plain: LabelledGroup<'a>,
    /// States with a ratio to the plain machine.
    measured: Vec<MeasuredState<'a>>,
    /// States without a ratio.
    unmeasured: Vec<MeasuredState<'a>>,
}

struct MeasuredState<'a> {
    group: LabelledGroup<'a>,
    answer: &'a StateAnswer,
}

/// A method on the plain machine, with its ratio in each state that has one.
struct StateRow<'a> {
    cell: usize,
    cost: &'a PhaseSummary,
    ratios: Vec<Option<&'a StateRatio>>,
}

pub(crate) fn blocks(experiment: LabelledExperiment) -> Vec<Block> {
    let groups = experiment.summary().groups.iter().enumerate();
    groups
        .filter(|(_, group)| group.experiment == experiment.name())
        .flat_map(|(at, group)| PlainGroup::new(at, LabelledGroup { experiment, group }).blocks())
        .collect()
}

impl MeasuredState<'_> {
    fn name(&self) -> String {
        let state = self.group.group.parameters.get(STATE);
        state.cloned().unwrap_or_default()
    }

    fn has_ratio(&self) -> bool {
        self.answer
            .ratios
            .iter()
            .any(|ratio| ratio.contrast.ratio.is_some())
    }

    fn is_ok(&self) -> bool {
        let mut cells = self.group.group.cells.iter();
        cells.any(|&cell| self.group.cell(cell).outcome.status == Status::Ok)
    }
}

impl<'a> PlainGroup<'a> {
    /// `index` is that of the group in the summary.
    fn new(index: usize, plain: LabelledGroup<'a>) -> PlainGroup<'a> {
        let mut states = PlainGroup {
            plain,
            measured: Vec::new(),
            unmeasured: Vec::new(),
        };
        for group in &plain.summary().groups {
            let Some(answer) = group.state.as_ref().filter(|a| a.plain == index) else {
                continue;
            };
            let group = LabelledGroup { group, ..plain };
            let state = MeasuredState { group, answer };
            if state.has_ratio() {
                states.measured.push(state);
            } else {
                states.unmeasured.push(state);
            }
        }
        states
    }

    fn blocks(&self) -> Vec<Block> {
        if self.measured.is_empty() && self.unmeasured.is_empty() {
            return Vec::new();
        }
        let mut blocks = vec![Block::Heading(self.heading())];
        if !self.measured.is_empty() {
            blocks.push(self.table());
        }
        for state in &self.measured {
            let effect = effect(self.plain, state.answer);
            blocks.push(Block::Answer(format!("{}: {effect}", state.name())));
        }
        let definition = self.plain.definition();
        let meanings = self.measured.iter().filter_map(|state| {
            let clause = definition.clause_on(STATE, &state.name())?;
            Some(format!("{}: {clause}", state.name()))
        });
        blocks.extend(Block::list("The states", meanings));
        let too_few: Vec<String> = self
            .unmeasured
            .iter()
            .filter(|state| state.is_ok())
            .map(MeasuredState::name)
            .collect();
        if !too_few.is_empty() {
            blocks.push(Block::Answer(format!(
                "too few launches for an interval: {}",
                too_few.join(", ")
            )));
        }
        blocks
    }

    fn heading(&self) -> String {
        let parameters = self.plain.group.parameters.iter();
        let setting: Vec<String> = parameters
            .filter(|(key, _)| *key != STATE && self.plain.experiment.varies(key))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        format!("States of the machine {}", setting.join(" "))
            .trim_end()
            .to_owned()
    }

    fn table(&self) -> Block {
        let work = self.plain.work();
        let mut columns = Columns::new("state : plain", |row: &StateRow| self.plain.name(row.cell))
            .number(format!("plain, {}", work.heading()), move |row| {
                TableCell::cost(work, row.cost)
            })
            .marked(|row, entry| Entry {
                cell: Some(row.cell),
                tone: row.tone(),
                ..entry
            });
        for (at, state) in self.measured.iter().enumerate() {
            columns = columns.number(state.name(), move |row| ratio_cell(row.ratios[at]));
        }
        let cells = self.plain.group.cells.iter();
        Block::Table(columns.table(
            "cost in a state over the cost on the plain machine",
            cells.filter_map(|&cell| self.row(cell)),
        ))
    }

    fn row(&self, cell: usize) -> Option<StateRow<'a>> {
        let states = self.measured.iter();
        Some(StateRow {
            cell,
            cost: self.plain.headline_phase(cell)?,
            ratios: states
                .map(|state| state.answer.ratios.iter().find(|r| r.plain == cell))
                .collect(),
        })
    }
}

impl StateRow<'_> {
    fn tone(&self) -> Tone {
        match self.ratios[..] {
            [Some(only)] => Tone::contrast(&only.contrast),
            _ => Tone::Plain,
        }
    }
}

fn ratio_cell(ratio: Option<&StateRatio>) -> TableCell {
    match ratio.and_then(|ratio| ratio.contrast.ratio) {
        Some(ratio) => TableCell::number(with_limits(&ratio), Some(ratio.ratio)),
        None => TableCell::text("–"),
    }
}

fn effect(group: LabelledGroup, answer: &StateAnswer) -> String {
    let best = match answer.best {
        StateEffect::Same { cell } => format!("the best method stays {}", group.name(cell)),
        StateEffect::Changes { from, to } => format!(
            "the best method changes from {} to {}",
            group.name(from),
            group.name(to)
        ),
        StateEffect::Inconclusive => "whether the best method changes is open".to_owned(),
    };
    let settled = answer
        .ratios
        .iter()
        .filter(|ratio| ratio.contrast.overall().differs());
    let Some(most) = settled.max_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return best;
    };
    format!(
        "{best}; {} is {}",
        group.name(most.cell),
        wording::finding(&most.contrast)
    )
}

/// Distance of a ratio from one, as a logarithm.
fn distance(ratio: &StateRatio) -> f64 {
    let ratio = ratio.contrast.ratio;
    ratio.map_or(0.0, |ratio| ratio.ratio.ln().abs())
}
