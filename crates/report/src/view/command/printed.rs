//! Times that compared programs print themselves, side by side.

use crate::render::document::{Block, Document, Place, TableCell};
use crate::tables::columns::Columns;
use judge::program::printed::{PrintedRatio, PrintedTime};
use record::sizes::{format_ns, three_digits};

/// The times that programs print: of the first arm, of the second, and of the first once more. `what` says how they were
/// compiled and started.
pub fn printed(times: &[PrintedTime], names: [&str; 2], what: &str) -> Document {
    let [first, second] = names;
    let seconds = |time: &PrintedTime, arm: usize| {
        let seconds = time.seconds.get(arm).copied();
        seconds.map_or_else(TableCell::default, |s| {
            TableCell::number(format_ns(s * 1e9), Some(s))
        })
    };
    let table = Columns::new("printed", |time: &PrintedTime| time.name.clone())
        .number(first, move |time| seconds(time, 0))
        .number(second, move |time| seconds(time, 1))
        .figure("copy : original (95 %)", |time| ratio(time, 0))
        .figure("control (A/A)", |time| ratio(time, 1))
        .table(
            "Times that the programs print: medians, and ratios of launches in turn",
            times,
        );
    let blocks = vec![Block::text(what), Block::Table(table)];
    Document::default().section(
        "printed",
        "What the programs print",
        Place::Everywhere,
        blocks,
    )
}

fn ratio(time: &PrintedTime, arm: usize) -> String {
    let ratio = time.ratios.get(arm);
    ratio.map_or_else(String::new, |PrintedRatio { value, interval }| {
        let limits = interval.map_or_else(
            || " (too few launches)".to_owned(),
            |(low, high)| format!(" ({}–{})", three_digits(low), three_digits(high)),
        );
        three_digits(*value) + &limits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::markdown;

    #[test]
    fn each_time_has_both_programs_and_its_ratio() {
        let ratio = |value: f64, width: f64| PrintedRatio {
            value,
            interval: (width > 0.0).then_some((value - width, value + width)),
        };
        let times = [PrintedTime {
            name: "A sends".to_owned(),
            seconds: vec![0.108, 0.216, 0.108],
            ratios: vec![ratio(2.0, 0.1), ratio(1.0, 0.0)],
        }];
        let text = markdown::render(&printed(&times, ["original P2.c", "mine.c"], "cc -O0"));
        assert!(
            text.contains("| A sends | 108 ms | 216 ms | 2.00 (1.90–2.10) |"),
            "{text}"
        );
        assert!(text.contains("1.00 (too few launches)"), "{text}");
    }
}
