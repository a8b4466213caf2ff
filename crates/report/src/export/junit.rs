//! JUnit XML: a suite an experiment, a case a cell; what has no figure to be believed is skipped, a broken cell is an error.

use super::S_PER_NS;
use super::{CellView, ExportedCells};
use crate::render::escape::terminal;
use anyhow::Result;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use record::outcome::Status;
use std::io::Write;

/// The element that tells an outcome; none where the cell was measured.
fn element(status: Status) -> Option<&'static str> {
    match status {
        Status::Ok => None,
        // Noise on a machine is no failure of what is tested.
        Status::Skipped | Status::Refused | Status::Untrusted => Some("skipped"),
        Status::Failed | Status::Damaged => Some("error"),
    }
}

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut suites = BytesStart::new("testsuites");
    suites.push_attribute((
        "name",
        format!("pagewise {}", terminal(&taken.run)).as_str(),
    ));
    counted(&mut suites, taken.cells.iter());
    xml.write_event(Event::Start(suites))?;
    let mut names: Vec<&str> = taken.cells.iter().map(|c| c.experiment.as_str()).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let cells: Vec<&CellView> = taken
            .cells
            .iter()
            .filter(|cell| cell.experiment == name)
            .collect();
        let mut suite = BytesStart::new("testsuite");
        suite.push_attribute(("name", terminal(name).as_str()));
        suite.push_attribute(("timestamp", terminal(&taken.created).as_str()));
        counted(&mut suite, cells.iter().copied());
        xml.write_event(Event::Start(suite))?;
        for cell in cells {
            case(cell, &mut xml)?;
        }
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    Ok(xml.into_inner().write_all(b"\n")?)
}

fn counted<'a, 'b: 'a>(start: &mut BytesStart<'_>, cells: impl Iterator<Item = &'a CellView<'b>>) {
    let elements: Vec<Option<&str>> = cells.map(|c| element(c.status)).collect();
    start.push_attribute(("tests", elements.len().to_string().as_str()));
    start.push_attribute(("failures", "0"));
    for (name, element) in [("errors", "error"), ("skipped", "skipped")] {
        let count = elements.iter().filter(|f| **f == Some(element)).count();
        start.push_attribute((name, count.to_string().as_str()));
    }
}

fn case(cell: &CellView<'_>, xml: &mut Writer<&mut dyn Write>) -> Result<()> {
    let mut case = BytesStart::new("testcase");
    case.push_attribute((
        "classname",
        format!("pagewise.{}", terminal(&cell.experiment)).as_str(),
    ));
    case.push_attribute(("name", terminal(&cell.name).as_str()));
    let headline = cell.headline();
    if let Some(phase) = headline.filter(|p| p.figures.wall_ns.median.is_finite()) {
        case.push_attribute((
            "time",
            (phase.figures.wall_ns.median * S_PER_NS)
                .to_string()
                .as_str(),
        ));
    }
    xml.write_event(Event::Start(case))?;
    if let Some(element) = element(cell.status) {
        let mut outcome = BytesStart::new(element);
        outcome.push_attribute((
            "message",
            format!("{}: {}", cell.status.word(), terminal(&cell.reason)).as_str(),
        ));
        xml.write_event(Event::Empty(outcome))?;
    }
    let compared = headline
        .filter(|p| !p.verdict.is_empty())
        .zip(cell.against.as_ref());
    if let Some((phase, against)) = compared {
        xml.write_event(Event::Start(BytesStart::new("system-out")))?;
        let text = terminal(&format!(
            "{} against {against}: {}",
            phase.name, phase.verdict
        ));
        xml.write_event(Event::Text(BytesText::new(&text)))?;
        xml.write_event(Event::End(BytesEnd::new("system-out")))?;
    }
    Ok(xml.write_event(Event::End(BytesEnd::new("testcase")))?)
}
