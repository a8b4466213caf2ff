//! Tables as data: a column is its heading, its shape, and a function from a row to the row's cell.

use crate::render::document::{Body, Column, Entry, Shown, Table, TableCell};
use crate::render::plot::{Axis, Plot};
use std::borrow::Borrow;

/// The columns of a table whose rows are of one type; the first has the rows' names.
pub(crate) struct Columns<'a, Row> {
    heads: Vec<Column>,
    name: Box<dyn Fn(&Row) -> String + 'a>,
    cells: Vec<RowCell<'a, Row>>,
    mark: RowMark<'a, Row>,
}

/// A row's cell; the row ends before the first column that has none for it, and its last cell spans the rest.
type RowCell<'a, Row> = Box<dyn Fn(&Row) -> Option<TableCell> + 'a>;

/// Gives a row what it has besides its cells.
type RowMark<'a, Row> = Box<dyn Fn(&Row, Entry) -> Entry + 'a>;

impl<'a, Row> Columns<'a, Row> {
    /// The column of names.
    pub fn new(title: impl Into<String>, name: impl Fn(&Row) -> String + 'a) -> Columns<'a, Row> {
        Columns {
            heads: vec![Column::text(title)],
            name: Box::new(name),
            cells: Vec::new(),
            mark: Box::new(|_, entry| entry),
        }
    }

    /// Any column; a row for which it has no cell ends before it.
    pub fn column(
        mut self,
        head: Column,
        cell: impl Fn(&Row) -> Option<TableCell> + 'a,
    ) -> Columns<'a, Row> {
        self.heads.push(head);
        self.cells.push(Box::new(cell));
        self
    }

    pub fn text<T: Into<String>>(
        self,
        title: impl Into<String>,
        text: impl Fn(&Row) -> T + 'a,
    ) -> Columns<'a, Row> {
        self.column(Column::text(title), move |row| {
            Some(TableCell::text(text(row)))
        })
    }

    pub fn sentences<T: Into<String>>(
        self,
        title: impl Into<String>,
        text: impl Fn(&Row) -> T + 'a,
    ) -> Columns<'a, Row> {
        self.column(Column::sentences(title), move |row| {
            Some(TableCell::text(text(row)))
        })
    }

    pub fn number(
        self,
        title: impl Into<String>,
        cell: impl Fn(&Row) -> TableCell + 'a,
    ) -> Columns<'a, Row> {
        self.column(Column::number(title), move |row| Some(cell(row)))
    }

    /// Figures as texts, by which rows cannot be sorted.
    pub fn figure(
        self,
        title: impl Into<String>,
        text: impl Fn(&Row) -> String + 'a,
    ) -> Columns<'a, Row> {
        self.number(title, move |row| TableCell::text(text(row)))
    }

    /// Drawings along an axis of ratios; no column where there is no axis.
    pub fn ratios(
        self,
        axis: Option<&'a Axis>,
        shown: Shown,
        plot: impl Fn(&Row, &'a Axis) -> Option<Plot> + 'a,
    ) -> Columns<'a, Row> {
        let Some(axis) = axis else { return self };
        let head = Column::plot(Plot::Ratios(axis.clone())).shown(shown);
        self.column(head, move |row| Some(TableCell::plot(plot(row, axis))))
    }

    /// Outputs that show the column that was added last.
    pub fn shown(mut self, shown: Shown) -> Columns<'a, Row> {
        if let Some(head) = self.heads.last_mut() {
            head.shown = shown;
        }
        self
    }

    /// Gives a row what it has besides its cells: a tone, a link, the cell of the summary.
    pub fn marked(mut self, mark: impl Fn(&Row, Entry) -> Entry + 'a) -> Columns<'a, Row> {
        self.mark = Box::new(mark);
        self
    }

    fn entry(&self, row: &Row) -> Entry {
        let cells = self.cells.iter().map_while(|cell| cell(row)).collect();
        (self.mark)(row, Entry::new((self.name)(row), cells))
    }

    pub fn body(
        &self,
        heading: impl Into<String>,
        rows: impl IntoIterator<Item = impl Borrow<Row>>,
    ) -> Body {
        Body {
            heading: heading.into(),
            aside: false,
            rows: rows
                .into_iter()
                .map(|row| self.entry(row.borrow()))
                .collect(),
        }
    }

    pub fn table(
        self,
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = impl Borrow<Row>>,
    ) -> Table {
        let body = self.body("", rows);
        self.table_of(caption, vec![body])
    }

    /// A table of rows that are sorted by themselves; `bodies` are made by [`Columns::body`].
    pub fn table_of(self, caption: impl Into<String>, bodies: Vec<Body>) -> Table {
        Table {
            caption: caption.into(),
            columns: self.heads,
            bodies,
            ..Table::default()
        }
    }
}

/// A table of names, each with a text.
pub(crate) fn facts<N: Into<String>, T: Into<String>>(
    caption: &str,
    heads: [Column; 2],
    facts: impl IntoIterator<Item = (N, T)>,
) -> Table {
    let rows = facts
        .into_iter()
        .map(|(name, text)| Entry::new(name, vec![TableCell::text(text)]));
    Table::new(caption, heads.into(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_before_the_first_column_that_has_no_cell_for_it() {
        let table = Columns::new("number", |row: &usize| row.to_string())
            .text("odd", |row| if row % 2 == 1 { "odd" } else { "even" })
            .column(Column::number("half"), |row| {
                (row % 2 == 0).then(|| TableCell::count(row / 2))
            })
            .shown(Shown::Page)
            .number("next", |row| TableCell::count(row + 1))
            .table("numbers", [3, 4]);
        let cells = |at: usize| {
            let row = &table.bodies[0].rows[at];
            row.cells.iter().map(|cell| cell.text.as_str()).collect()
        };
        let (odd, even): (Vec<&str>, Vec<&str>) = (cells(0), cells(1));
        assert_eq!((odd, even), (vec!["odd"], vec!["even", "2", "5"]));
        let shown: Vec<Shown> = table.columns.iter().map(|column| column.shown).collect();
        assert_eq!(
            shown,
            [Shown::Always, Shown::Always, Shown::Page, Shown::Always]
        );
    }
}
