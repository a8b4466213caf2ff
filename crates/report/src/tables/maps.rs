//! Heat maps: ratios to the baseline over two parameters that are numbers, a map for each method.

use super::columns::Columns;
use super::curves::{NumberParameter, families, fixed, value};
use crate::render::document::{Block, Column, Table, TableCell, Tone};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use record::experiment::ParameterKind;
use record::outcome::Status;
use record::sizes::three_digits;
use record::summary::Comparison;
use std::collections::{BTreeMap, BTreeSet};

/// Methods of one map at most: those that come out ahead somewhere.
const MOST: usize = 6;

/// The two parameters of a map.
#[derive(Clone, Copy)]
pub(crate) struct MapKeys<'a> {
    pub across: &'a str,
    pub down: &'a str,
}

/// A method's comparisons by the values of the parameters across and downward.
type Fields<'a> = BTreeMap<(u64, u64), &'a Comparison>;

/// One value of the parameter downward, of one method.
struct MapRow<'a> {
    down: u64,
    fields: &'a Fields<'a>,
}

/// The first two parameters of several numbers, sizes before counts.
pub(crate) fn keys(experiment: LabelledExperiment<'_>) -> Option<MapKeys<'_>> {
    let sizes = of_kind(experiment, ParameterKind::Size);
    let numbers = sizes.chain(of_kind(experiment, ParameterKind::Count));
    let mut varying = numbers.filter(|key| experiment.varies(key));
    Some(MapKeys {
        across: varying.next()?,
        down: varying.next()?,
    })
}

fn of_kind(experiment: LabelledExperiment<'_>, kind: ParameterKind) -> impl Iterator<Item = &str> {
    let parameters = experiment.definition().parameters.iter();
    parameters
        .filter(move |(_, parameter)| parameter.kind == kind)
        .map(|(key, _)| key.as_str())
}

/// A table of colored ratios for each family of groups that differ in these parameters only.
pub(crate) fn heat_maps(experiment: LabelledExperiment, keys: MapKeys) -> Vec<Block> {
    let groups: Vec<LabelledGroup> = experiment.groups().collect();
    families(&groups, &[keys.across, keys.down])
        .iter()
        .filter_map(|family| heat_map(experiment, keys, family))
        .map(Block::Table)
        .collect()
}

fn heat_map(
    experiment: LabelledExperiment,
    keys: MapKeys,
    groups: &[LabelledGroup],
) -> Option<Table> {
    let [across, down] = [keys.across, keys.down].map(|key| {
        let values = groups.iter().map(|group| value(*group, key));
        values.collect::<BTreeSet<u64>>()
    });
    let methods = methods(keys, groups);
    let baseline = groups.iter().find_map(|group| group.baseline_name())?;
    if methods.is_empty() || across.len() < 2 || down.len() < 2 {
        return None;
    }
    let [text_across, text_down] =
        [keys.across, keys.down].map(|key| NumberParameter::new(experiment, key));
    let mut columns = Columns::new(keys.down, |row: &MapRow| text_down.text(row.down));
    for &across in &across {
        let head = Column::text(text_across.text(across));
        columns = columns.column(head, move |row| {
            Some(field(row.fields.get(&(across, row.down)).copied()))
        });
    }
    let mut bodies = Vec::new();
    for (method, fields) in &methods {
        let rows = down.iter().map(|&down| MapRow { down, fields });
        bodies.push(columns.body(method, rows));
    }
    let caption = format!(
        "{} of each method over that of {baseline}{}: {} across, {} downward. Below 1 a method takes less; in brackets where \
         that is open",
        experiment.headline(),
        fixed(groups, &[keys.across, keys.down]),
        keys.across,
        keys.down
    );
    Some(columns.table_of(caption, bodies))
}

/// The methods with several ratios, those that come out ahead first.
fn methods<'a>(keys: MapKeys, groups: &[LabelledGroup<'a>]) -> Vec<(String, Fields<'a>)> {
    let mut methods: BTreeMap<String, Fields> = BTreeMap::new();
    for group in groups {
        let place = (value(*group, keys.across), value(*group, keys.down));
        for comparison in group.comparisons().filter(|c| c.contrast.ratio.is_some()) {
            let cell = group.cell(comparison.cell);
            let is_compared = cell.is_ranked() && cell.outcome.status == Status::Ok;
            if is_compared && Some(comparison.cell) != group.group.baseline {
                let fields = methods.entry(group.name(comparison.cell)).or_default();
                fields.insert(place, comparison);
            }
        }
    }
    let mut methods: Vec<(String, Fields)> = methods
        .into_iter()
        .filter(|(_, fields)| fields.len() > 1)
        .collect();
    methods.sort_by(|a, b| least_ratio(&a.1).total_cmp(&least_ratio(&b.1)));
    methods.truncate(MOST);
    methods
}

fn least_ratio(fields: &Fields) -> f64 {
    let ratios = fields
        .values()
        .filter_map(|c| Some(c.contrast.ratio?.ratio));
    ratios.fold(f64::INFINITY, f64::min)
}

/// A ratio, the stronger colored the further it is from 1: each step is a factor.
fn field(comparison: Option<&Comparison>) -> TableCell {
    let Some((comparison, ratio)) = comparison.and_then(|c| Some((c, c.contrast.ratio?))) else {
        return TableCell {
            heat: Some(0),
            ..TableCell::text("–")
        };
    };
    let step = 1 + [1.25, 2.0, 4.0]
        .iter()
        .filter(|factor| ratio.ratio.ln().abs() > f64::ln(**factor))
        .count() as i8;
    let text = three_digits(ratio.ratio);
    let (text, heat) = match Tone::contrast(&comparison.contrast) {
        Tone::Faster => (text, -step),
        Tone::Slower => (text, step),
        Tone::Open => (format!("({text})"), 0),
        Tone::Plain | Tone::Baseline => (text, 0),
    };
    TableCell {
        heat: Some(heat),
        ..TableCell::text(text)
    }
}
