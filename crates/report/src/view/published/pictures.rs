//! The pictures of an article, with our figures in them: curves over a size, and bars.

use super::{ArticleRow, interval_of, with_unit};
use crate::render::document::{Block, Body, Chart, Column, Key, TableCell};
use crate::render::plot::{CurvePoint, Curves, Line, Plot, Scale};
use crate::sentences::numbers::spaced;
use crate::tables::columns::Columns;
use judge::questions::published::OwnFigure;
use record::published::Picture;
use record::sizes::{format_ns, format_size, three_digits};

/// Lines that one chart has room for.
const MOST_LINES: usize = 6;

/// The figures of one kind: the article's, or ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Series {
    Published,
    Here,
    Corrected,
}

const ALL: [Series; 3] = [Series::Published, Series::Here, Series::Corrected];

/// A figure in nanoseconds, with its interval where it has one.
struct PictureValue {
    ns: f64,
    interval: Option<(f64, f64)>,
    text: String,
}

impl Series {
    fn word(self) -> &'static str {
        match self {
            Series::Published => "published",
            Series::Here => "here",
            Series::Corrected => "corrected",
        }
    }

    /// A row's figure of this kind; none where it is no time.
    fn value(self, row: &ArticleRow) -> Option<PictureValue> {
        let unit = row.figure.unit_ns()?;
        let here = match self {
            Series::Published => row.figure.value.map(|value| OwnFigure {
                value,
                interval: None,
                is_count: false,
                ratio: None,
            }),
            Series::Here => row.as_published?.here,
            Series::Corrected => row.corrected?.here,
        }?;
        let mut text = with_unit(here.value, &three_digits(here.value), &row.figure.unit);
        let interval = interval_of(&here);
        if !interval.is_empty() {
            text += &format!(" ({interval})");
        }
        Some(PictureValue {
            ns: here.value * unit,
            interval: here.interval.map(|(low, high)| (low * unit, high * unit)),
            text,
        })
    }
}

/// The pictures of an article.
pub(super) fn blocks(pictures: &[Picture], rows: &[ArticleRow]) -> Vec<Block> {
    pictures
        .iter()
        .flat_map(|picture| {
            if picture.curves.is_empty() {
                bars(picture, rows).into_iter().collect()
            } else {
                curves(picture, rows)
            }
        })
        .collect()
}

/// Charts of a picture's curves: one where all kinds of figures have room in it, otherwise one of each kind.
fn curves(picture: &Picture, rows: &[ArticleRow]) -> Vec<Block> {
    let charts = if picture.curves.len() * ALL.len() <= MOST_LINES {
        vec![ALL.to_vec()]
    } else {
        ALL.map(|series| vec![series]).to_vec()
    };
    let charts: Vec<ChartOfSeries> = charts
        .iter()
        .map(|series| ChartOfSeries::new(picture, rows, series))
        .filter(|chart| !chart.lines.is_empty())
        .collect();
    let lines: Vec<&Line> = charts.iter().flat_map(|chart| &chart.lines).collect();
    let points = lines.iter().flat_map(|line| &line.points);
    let across = scale_of_sizes(points.map(|point| point.value).collect());
    let upward = Scale::times(lines.iter().flat_map(|line| line.costs()));
    let Some((upward, across)) = upward.zip(across) else {
        return Vec::new();
    };
    let mut known = Vec::new();
    charts
        .into_iter()
        .map(|chart| {
            let curves = Curves {
                across: across.clone(),
                upward: upward.clone(),
                lines: chart.lines,
                crossovers: Vec::new(),
            };
            Chart::of_curves(chart.caption, curves, &mut known)
        })
        .collect()
}

fn scale_of_sizes(mut values: Vec<u64>) -> Option<Scale> {
    values.sort_unstable();
    values.dedup();
    Scale::values(&values, true)
}

struct ChartOfSeries {
    caption: String,
    lines: Vec<Line>,
}

impl ChartOfSeries {
    fn new(picture: &Picture, rows: &[ArticleRow], series: &[Series]) -> ChartOfSeries {
        let mut lines = Vec::new();
        for &kind in series {
            for name in &picture.curves {
                let points = points(rows, name, kind);
                if points.len() > 1 {
                    // A curve has one color in the charts of all kinds, whose captions name the kind.
                    let label = match series {
                        [_] => name.clone(),
                        _ => format!("{name}, {}", kind.word()),
                    };
                    lines.push(Line {
                        label,
                        color: 0,
                        points,
                    });
                }
            }
        }
        let kind = match series {
            [only] => format!(", {}", only.word()),
            _ => String::new(),
        };
        ChartOfSeries {
            caption: format!("{}{kind}, log scales", picture.title),
            lines,
        }
    }
}

/// The points of one curve, smaller sizes first.
fn points(rows: &[ArticleRow], name: &str, series: Series) -> Vec<CurvePoint> {
    let mut points: Vec<CurvePoint> = rows
        .iter()
        .filter(|row| is_of_curve(row, name))
        .filter_map(|row| {
            let bytes = row.figure.bytes()?;
            let value = series.value(row)?;
            Some(CurvePoint {
                cell: 0,
                value: bytes,
                value_words: spaced(&format_size(bytes)),
                cost: (value.ns, value.interval),
                cost_words: value.text,
            })
        })
        .collect();
    points.sort_by_key(|point| point.value);
    points
}

/// Tells whether a row's label is the curve's name, a comma and a size.
fn is_of_curve(row: &ArticleRow, name: &str) -> bool {
    let rest = row.figure.label.strip_prefix(name);
    rest.and_then(|rest| rest.strip_prefix(", "))
        .is_some_and(|size| size.starts_with(|first: char| first.is_ascii_digit()))
}

/// A row of the bars: one figure.
struct Bar {
    series: Series,
    value: PictureValue,
}

/// A bar for each figure of the rows of a picture.
fn bars(picture: &Picture, rows: &[ArticleRow]) -> Option<Block> {
    let rows: Vec<(&ArticleRow, Vec<Bar>)> = rows
        .iter()
        .filter(|row| row.figure.label.starts_with(&picture.bars))
        .map(|row| (row, of_row(row)))
        .filter(|(_, bars)| !bars.is_empty())
        .collect();
    let lengths = rows.iter().flat_map(|(_, bars)| bars);
    let scale = Scale::lengths(lengths.map(|bar| bar.value.ns))?;
    let kinds: Vec<String> = ALL.iter().map(|kind| kind.word().to_owned()).collect();
    let head = Column::plot(Plot::Times(scale.clone()));
    let columns = Columns::new("figure", |bar: &Bar| bar.series.word().to_owned())
        .column(head, |bar| {
            Some(TableCell::plot(Some(Plot::Stack {
                scale: scale.clone(),
                phases: kinds.clone(),
                parts: ALL
                    .map(|kind| {
                        (kind == bar.series).then(|| (bar.value.ns, format_ns(bar.value.ns)))
                    })
                    .to_vec(),
            })))
        })
        .figure("time", |bar| bar.value.text.clone());
    let bodies: Vec<Body> = rows
        .iter()
        .map(|(row, bars)| columns.body(row.name(), bars))
        .collect();
    let mut table = columns.table_of(picture.title.clone(), bodies);
    table.legend = Key::of_texts(&kinds);
    Some(Block::Table(table))
}

fn of_row(row: &ArticleRow) -> Vec<Bar> {
    ALL.iter()
        .filter_map(|&series| {
            let value = series.value(row)?;
            Some(Bar { series, value })
        })
        .collect()
}
