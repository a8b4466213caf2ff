//! Made-up nodes, as `judge` reads one from run folders.

use judge::sets::outliers::{BY, Gathered, NodeRun, explain, judge};
use judge::sets::{RunCell, SetQuestion};
use record::across::CellHeadline;
use record::outcome::Outcome;
use record::outliers::{KindFacts, OutlierSearch};

/// What the cells cost, in nanoseconds; the first is the others' baseline.
const COSTS: [f64; 3] = [180.0, 95.0, 400.0];

/// One cell of the nodes.
pub fn question(number: usize) -> SetQuestion {
    let headline = CellHeadline {
        cell: format!("fault/m{number}@c-O3"),
        experiment: "fault".to_owned(),
        parameters: [("bytes".to_owned(), "16777216".to_owned())].into(),
        phase: "time to usable".to_owned(),
        unit: "page".to_owned(),
    };
    SetQuestion {
        headline,
        advised: true,
        baseline: (number > 0).then_some(0),
    }
}

/// A node whose cells cost `factor` times what they cost on others; no two runs are the same.
pub fn node(name: &str, kernel: &str, factor: f64) -> NodeRun {
    let wobble = |number: usize| {
        1.0 + 0.01 * ((name.len() + number * 7 + usize::from(name.as_bytes()[1]) * 3) % 5) as f64
    };
    let cells = COSTS.iter().enumerate().map(|(question, cost)| {
        let logs = (0..6)
            .map(|launch| (cost * factor * wobble(question)).ln() + 0.002 * launch as f64)
            .collect();
        RunCell {
            question,
            outcome: Outcome::OK,
            logs,
            throttled: None,
            is_disturbed: false,
        }
    });
    let facts =
        [("kernel", kernel), ("cpu", "x")].map(|(fact, value)| (fact.to_owned(), value.to_owned()));
    NodeRun {
        folder: format!("/shared/{name}"),
        run: format!("run-{name}"),
        name: name.to_owned(),
        machine: name.to_owned(),
        known_by: KindFacts {
            facts: facts.into(),
            memory_bytes: Some(64 << 30),
        },
        cells: cells.collect(),
    }
}

/// Eight nodes of one kind, of which the last costs four times as much, and five of another kind with a quarter less cost.
pub fn searched() -> OutlierSearch {
    let mut gathered = Gathered::default();
    (0..COSTS.len()).for_each(|number| {
        gathered.questions.index(question(number));
    });
    (0..8).for_each(|n| {
        gathered.add(node(
            &format!("a{n}"),
            "6.1",
            if n == 7 { 4.0 } else { 1.0 },
        ))
    });
    (0..5).for_each(|n| gathered.add(node(&format!("b{n}"), "6.12", 0.75)));
    gathered.add(node("a0", "6.1", 1.0));
    let mut found = judge(&gathered, &BY.map(str::to_owned), 0.05);
    explain(&mut found, &gathered);
    found
}
