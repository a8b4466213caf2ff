//! The comparison groups of an experiment: a picture of all, and of each its table, its answer, and what stands behind the
//! figures.

use crate::render::document::{Block, Part, Place};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup};
use crate::sentences::{answer, group as sentences};
use crate::tables::comparison::{RankedRows, picture};
use crate::tables::{frontier, further, neighbors, percentiles, stack};
use record::summary::Role;

/// The groups of an experiment as blocks.
pub(super) struct GroupBlocks {
    /// All groups on one scale, for the page; where there is one the groups are folded below it.
    pub picture: Option<Block>,
    pub groups: Vec<Block>,
    /// True if a finding has the footnote [`crate::sentences::wording::AMONG_ALL`].
    pub has_footnote: bool,
}

/// A group that answers anything, and its cells that have figures.
struct MeasuredGroup<'a> {
    group: LabelledGroup<'a>,
    cells: Vec<usize>,
}

impl<'a> MeasuredGroup<'a> {
    /// `None` where a group has nothing but floors and lower bounds, which answer nothing.
    fn new(group: LabelledGroup<'a>) -> Option<MeasuredGroup<'a>> {
        let cells = group.group.cells.iter().copied();
        let cells: Vec<usize> = cells
            .filter(|&cell| !group.cell(cell).phases.is_empty())
            .collect();
        let mut roles = cells.iter().map(|&cell| group.cell(cell).role);
        let is_answer = !roles.all(|role| matches!(role, Role::Null | Role::Limit));
        is_answer.then_some(MeasuredGroup { group, cells })
    }
}

pub(super) fn blocks(experiment: LabelledExperiment) -> GroupBlocks {
    let groups = experiment.groups_in_order().into_iter();
    let measured: Vec<MeasuredGroup> = groups.filter_map(MeasuredGroup::new).collect();
    let ranked = measured.iter();
    let ranked: Vec<RankedRows> = ranked
        .map(|measured| RankedRows::new(measured.group, &measured.cells))
        .collect();
    let picture = picture(&ranked);
    let groups = measured.iter().zip(&ranked).enumerate();
    GroupBlocks {
        groups: groups
            .flat_map(|(at, (measured, rows))| match &picture {
                None => of_group(measured, rows, false),
                Some(_) => vec![folded(at, measured, rows)],
            })
            .collect(),
        picture: for_page(picture.map(Block::Table)),
        has_footnote: ranked.iter().any(RankedRows::has_footnote),
    }
}

/// A group that the page folds, with its finding beside its title.
fn folded(at: usize, measured: &MeasuredGroup, rows: &RankedRows) -> Block {
    let group = measured.group;
    let setting = group.setting();
    Block::Part(Part {
        id: format!("{}-{}-{setting}", group.experiment.name(), at + 1),
        title: setting,
        note: answer::in_short(group),
        place: Place::Everywhere,
        blocks: of_group(measured, rows, true),
    })
}

fn of_group(measured: &MeasuredGroup, rows: &RankedRows, is_pictured: bool) -> Vec<Block> {
    let MeasuredGroup { group, cells } = measured;
    let setting = group.setting();
    let table = rows.table(titled("The comparison", &setting), is_pictured);
    let mut blocks = vec![Block::Heading(heading(*group, rows)), Block::Table(table)];
    let answers = answer::sentences(*group).into_iter();
    blocks.extend(answers.map(Block::Answer));
    blocks.extend(sentences::neighbors(*group, &rows.ordinary()).map(Block::Text));
    let levels = cells.iter();
    let levels = levels.filter_map(|&cell| sentences::two_levels(*group, cell));
    let doubts = sentences::drifts(*group).into_iter().chain(levels);
    blocks.extend(doubts.map(Block::Text));
    blocks.extend(frontier::table(*group).map(Block::Table));
    blocks.extend(for_page(frontier::chart(*group)));
    let caption = format!(
        "Where {} goes per {}: medians of its phases, end to end",
        group.experiment.headline(),
        group.work().noun()
    );
    let stack = stack::table(*group, &rows.ordinary(), titled(&caption, &setting));
    blocks.extend(for_page(stack.map(Block::Table)));
    blocks.extend(for_page(neighbors::chart(*group, cells)));
    blocks.extend(for_page(percentiles::chart(*group, cells)));
    let mut behind = further::blocks(*group, cells);
    behind.extend(sentences::steadiness(*group, cells).map(Block::Text));
    let title = if setting.is_empty() {
        group.experiment.name()
    } else {
        &setting
    };
    blocks.extend(Block::part(
        format!("Further tables, {title}"),
        Place::Full,
        behind,
    ));
    blocks
}

fn heading(group: LabelledGroup, rows: &RankedRows) -> String {
    let footprint = sentences::footprint(group, &rows.ordinary());
    let file_systems = sentences::file_systems(group, &rows.ordinary());
    let parts: Vec<String> = [group.setting(), footprint, file_systems]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" · ")
}

fn titled(caption: &str, setting: &str) -> String {
    if setting.is_empty() {
        caption.to_owned()
    } else {
        format!("{caption}, {setting}")
    }
}

fn for_page(block: Option<Block>) -> Option<Block> {
    Block::part("", Place::Page, block.into_iter().collect())
}
