//! One comparison group: its table, its answer, and what stands behind the figures.

use crate::render::document::{Block, Place};
use crate::sentences::labels::LabelledGroup;
use crate::sentences::{answer, group as sentences};
use crate::tables::comparison::RankedRows;
use crate::tables::{further, percentiles, stack};
use record::summary::Role;

/// A group as blocks.
pub(super) struct GroupBlocks {
    pub blocks: Vec<Block>,
    /// True if a finding has the footnote [`crate::sentences::wording::AMONG_ALL`].
    pub has_footnote: bool,
}

/// `None` where a group has nothing but floors and lower bounds, which answer nothing.
pub(super) fn blocks(group: LabelledGroup) -> Option<GroupBlocks> {
    let cells: Vec<usize> = group
        .group
        .cells
        .iter()
        .copied()
        .filter(|&cell| !group.cell(cell).phases.is_empty())
        .collect();
    let mut roles = cells.iter().map(|&cell| group.cell(cell).role);
    if roles.all(|role| matches!(role, Role::Null | Role::Limit)) {
        return None;
    }
    let rows = RankedRows::new(group, &cells);
    let setting = group.setting();
    let mut blocks = vec![
        Block::Heading(heading(group, &rows)),
        Block::Table(rows.table(titled("The comparison", &setting))),
    ];
    let answers = answer::sentences(group).into_iter();
    blocks.extend(answers.map(Block::Answer));
    let doubts = sentences::drifts(group).into_iter().chain(
        cells
            .iter()
            .filter_map(|&cell| sentences::two_levels(group, cell)),
    );
    blocks.extend(doubts.map(Block::Text));
    let caption = format!(
        "Where {} goes per {}: medians of its phases, end to end",
        group.experiment.headline(),
        group.work().noun()
    );
    let stack = stack::table(group, &rows.ordinary(), titled(&caption, &setting));
    blocks.extend(for_page(stack.map(Block::Table)));
    blocks.extend(for_page(percentiles::chart(group, &cells)));
    let mut behind = further::blocks(group, &cells);
    behind.extend(sentences::steadiness(group, &cells).map(Block::Text));
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
    Some(GroupBlocks {
        blocks,
        has_footnote: rows.has_footnote(),
    })
}

fn heading(group: LabelledGroup, rows: &RankedRows) -> String {
    let footprint = sentences::footprint(group, &rows.ordinary());
    let parts: Vec<String> = [group.setting(), footprint]
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
