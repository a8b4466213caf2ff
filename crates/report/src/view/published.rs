//! Published figures beside ours as a section: a table for each article.

use crate::render::document::{Block, Column, Entry, Place, Section, Shown, Table, TableCell};
use judge::questions::published::{OwnFigure, repeated};
use record::published::{Figure, Published};
use record::sizes::three_digits;
use record::summary::{CellSummary, Summary};

/// The articles' tables beside our figures. Of several articles, rows without a statement or figure are only counted.
pub fn sections(articles: &[&Published], summary: &Summary) -> Vec<Section> {
    articles
        .iter()
        .map(|article| section(article, articles.len() == 1, summary))
        .collect()
}

fn section(article: &Published, alone: bool, summary: &Summary) -> Section {
    let all = repeated(article, summary);
    let (rows, left_out): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|row| row.cell.is_some() || row.figure.headline || alone);
    let entries = rows.iter().map(|row| {
        let figure = row.figure;
        let mut cells = vec![
            TableCell::text(
                row.cell
                    .map_or_else(|| figure.job.clone(), |cell| job(figure, cell)),
            ),
            TableCell::number(
                format!("{} {}", figure.value, figure.unit),
                Some(figure.value),
            ),
        ];
        cells.extend(match (&row.here, row.cell) {
            (Some(here), _) => ours(here),
            (None, Some(cell)) => [
                TableCell::text(cell.outcome.status.word()),
                TableCell::default(),
                TableCell::default(),
            ],
            (None, None) => [
                TableCell::text("not in this run"),
                TableCell::default(),
                TableCell::default(),
            ],
        });
        let against = figure
            .against
            .as_ref()
            .map_or_else(String::new, |other| format!(" / {other}"));
        cells.push(TableCell::text(row.cell.map_or_else(
            || figure.cell.clone(),
            |cell| format!("{}{against}", cell.cell),
        )));
        Entry::new(&figure.label, cells)
    });
    let mut columns = vec![Column::text("figure"), Column::text("job")];
    columns.extend(["published", "here", "95 %", "ratio"].map(Column::number));
    columns.push(Column::text("cell").shown(Shown::Room(0)));
    let caption = "Published figures beside ours: the ratio is ours over theirs";
    let mut blocks = vec![Block::text(format!(
        "{}; {}",
        article.source, article.machine
    ))];
    blocks.push(Block::Table(Table::new(caption, columns, entries)));
    blocks.extend(article.note.iter().map(Block::text));
    if !left_out.is_empty() {
        let more = format!(
            "{} more rows, of other sizes: pagewise run --published {}",
            left_out.len(),
            article.id
        );
        blocks.push(Block::Text(more));
    }
    let title = format!("{}: {}", article.id, article.title);
    let id = format!("published-{}", article.id);
    Section {
        id,
        title,
        short: article.id.clone(),
        place: Place::Everywhere,
        blocks,
    }
}

fn ours(here: &OwnFigure) -> [TableCell; 3] {
    let interval = match here.interval {
        Some((low, high)) => format!("{}–{}", three_digits(low), three_digits(high)),
        None if here.is_count => "counted".to_owned(),
        None => String::new(),
    };
    let number = |value: f64| TableCell::number(three_digits(value), Some(value));
    [
        number(here.value),
        TableCell::text(interval),
        here.ratio.map_or_else(TableCell::default, number),
    ]
}

/// The figure's job, and which of the values that it leaves open the cell had.
fn job(figure: &Figure, cell: &CellSummary) -> String {
    let open = figure.parameters.iter().filter(|(_, v)| v.contains('|'));
    let settled = open.filter_map(|(k, _)| Some(format!(", {k}={}", cell.parameters.get(k)?)));
    settled.fold(figure.job.clone(), |job, one| job + &one)
}
