//! The steps to one verdict: launches, location, interval, what was adjusted, A/A check, margin.

use crate::render::document::{Block, Document, Place, Table, TableCell};
use crate::sentences::verdict;
use crate::tables::columns::Columns;
use judge::explained::{Explained, LaunchRatio};

/// Everything that made each verdict, one step a sentence.
pub fn document(verdicts: &[Explained]) -> Document {
    let mut document = Document::new("verdict", []).explained();
    for (at, explained) in verdicts.iter().enumerate() {
        let Explained {
            cell,
            base,
            parameters,
            phase,
            ..
        } = explained;
        let title = format!("{cell} : {base}, {phase} ({parameters})");
        document = document.section(
            &format!("verdict-{at}"),
            title,
            Place::Everywhere,
            blocks(explained),
        );
    }
    document
}

fn blocks(explained: &Explained) -> Vec<Block> {
    if explained.launches.is_empty() {
        return vec![Block::text("No launch holds both, so there is no ratio.")];
    }
    let what = "launches: the midmean of ln(method / baseline) over rounds, as a ratio; ± is the scatter of single rounds";
    let mut blocks = vec![
        Block::text(what),
        Block::Table(launch_table(&explained.launches)),
    ];
    blocks.extend(Block::list("", verdict::steps(explained)));
    blocks.push(Block::Answer(format!(
        "verdict: {}",
        verdict::verdict(explained)
    )));
    blocks
}

fn launch_table(launches: &[LaunchRatio]) -> Table {
    Columns::new("launch", |launch: &LaunchRatio| launch.launch.to_string())
        .number("ratio", |launch| {
            TableCell::number(format!("{:.4}", launch.ratio), Some(launch.ratio))
        })
        .figure("", |launch| format!("{} rounds", launch.rounds))
        .figure("scatter", |launch| {
            if launch.round_spread > 0.0 {
                format!("±{:.1} %", 100.0 * launch.round_spread.exp_m1())
            } else {
                String::new()
            }
        })
        .table("", launches)
}
