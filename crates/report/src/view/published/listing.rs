//! The loops of an article: our program that does what the article's does, with the lines that decide its figure marked, and what
//! was counted in them here.

use super::ArticleRow;
use crate::render::document::{Block, Place};
use record::published::{MarkedLine, MeasuredLoop, Published};
use record::sizes::three_digits;

/// A tab of a listing.
const TAB: &str = "    ";

/// A part of a program with its marked lines.
struct Listing<'a> {
    /// Each line, with the number of its mark.
    lines: Vec<(&'a str, Option<usize>)>,
    marks: &'a [MarkedLine],
}

impl<'a> Listing<'a> {
    /// Cuts a loop out of its program; none where the program has no such lines.
    fn new(text: &'a str, measured: &'a MeasuredLoop) -> Option<Listing<'a>> {
        let all: Vec<&str> = text.lines().collect();
        let first = all.iter().position(|line| line.contains(&measured.from))?;
        let length = all[first..]
            .iter()
            .position(|line| line.contains(&measured.to))?;
        let shown = &all[first..=first + length];
        let mut lines: Vec<(&str, Option<usize>)> =
            shown.iter().map(|line| (*line, None)).collect();
        for (number, mark) in measured.marks.iter().enumerate() {
            let (_, marked) = lines
                .iter_mut()
                .find(|(line, marked)| marked.is_none() && line.contains(&mark.line))?;
            *marked = Some(number + 1);
        }
        let marks = &measured.marks;
        Some(Listing { lines, marks })
    }

    /// The lines, those that are marked behind their number.
    fn code(&self) -> String {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let filled = self
            .lines
            .iter()
            .filter(|(line, _)| !line.trim().is_empty());
        let least = filled.map(|(line, _)| indent(line)).min().unwrap_or(0);
        let mut code = String::new();
        for (line, mark) in &self.lines {
            // A renderer shows a tab as what it is.
            let line = line.get(least..).unwrap_or_default().replace('\t', TAB);
            let mark = mark.map_or_else(|| "   ".to_owned(), |number| format!("{number}> "));
            code += format!("{mark}{line}").trim_end();
            code.push('\n');
        }
        code
    }

    fn sentences(&self, rows: &[ArticleRow]) -> impl Iterator<Item = String> {
        self.marks.iter().enumerate().map(|(at, mark)| {
            let counted = counted(mark, rows).unwrap_or_default();
            format!("{}: {}{counted}", at + 1, mark.measures)
        })
    }
}

/// Counts of the phase in which a marked line was repeated here: of one sample.
fn counted(mark: &MarkedLine, rows: &[ArticleRow]) -> Option<String> {
    let label = mark.figure.as_ref()?;
    let row = rows.iter().find(|row| row.figure.label == *label)?;
    let repeated = row.as_published?;
    let phase = repeated.cell?.phases.get(&repeated.figure.phase)?;
    let cpu_ns = phase.user_ns + phase.system_ns;
    let kernel = (cpu_ns > 0.0).then(|| {
        format!(
            ", {:.0} % of its CPU time in the kernel",
            100.0 * phase.system_ns / cpu_ns
        )
    });
    Some(format!(
        " Counted here: {} page faults a sample{}.",
        three_digits(phase.minor_faults),
        kernel.unwrap_or_default()
    ))
}

/// The loops of an article, for its page and its Markdown; `programs` are the files of all articles with their texts.
pub(super) fn blocks(
    article: &Published,
    programs: &[(&str, &str)],
    rows: &[ArticleRow],
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for measured in &article.loops {
        let program = programs.iter().find(|(file, _)| *file == measured.program);
        let Some(listing) = program.and_then(|(_, text)| Listing::new(text, measured)) else {
            continue;
        };
        let whole = format!("pagewise show --published {}", measured.program);
        blocks.push(Block::text(format!(
            "{} All of it: {whole}",
            measured.title
        )));
        blocks.push(Block::Code(listing.code()));
        blocks.extend(Block::list("The marked lines", listing.sentences(rows)));
    }
    if !blocks.is_empty() {
        blocks.insert(
            0,
            Block::Heading("What its loop really measured".to_owned()),
        );
    }
    Vec::from_iter(Block::part("", Place::Full, blocks))
}

/// Tells whether a program has the lines of a loop.
pub fn has_lines(text: &str, measured: &MeasuredLoop) -> bool {
    Listing::new(text, measured).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str =
        "int main()\n{\n    start();\n    for (;;) {\n        p[i] = 1;\n    }\n\n    stop();\n}\n";

    fn measured(line: &str) -> MeasuredLoop {
        MeasuredLoop {
            program: "P.c".to_owned(),
            title: "The loop".to_owned(),
            from: "start()".to_owned(),
            to: "stop()".to_owned(),
            marks: vec![MarkedLine {
                line: line.to_owned(),
                measures: "A page fault a page.".to_owned(),
                figure: None,
            }],
        }
    }

    #[test]
    fn a_loop_is_cut_out_of_its_program_with_its_lines_marked() {
        let measured = measured("p[i] = 1;");
        let listing = Listing::new(PROGRAM, &measured).unwrap();
        assert_eq!(
            listing.code(),
            "   start();\n   for (;;) {\n1>     p[i] = 1;\n   }\n\n   stop();\n"
        );
        let sentences: Vec<String> = listing.sentences(&[]).collect();
        assert_eq!(sentences, ["1: A page fault a page."]);
    }

    #[test]
    fn a_tab_of_a_program_is_spaces() {
        let program = PROGRAM.replace("    ", "\t");
        let measured = measured("p[i] = 1;");
        let listing = Listing::new(&program, &measured).unwrap();
        let code = listing.code();
        assert!(
            code.contains("1>     p[i] = 1;") && !code.contains('\t'),
            "{code}"
        );
    }

    #[test]
    fn a_line_that_is_not_there_makes_no_listing() {
        assert!(!has_lines(PROGRAM, &measured("q[i]")));
        assert!(
            !has_lines(PROGRAM, &measured("int main()")),
            "before the loop"
        );
    }
}
