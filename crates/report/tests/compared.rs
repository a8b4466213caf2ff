//! The page of a comparison: what differs stands first, figures are those of the JSON, and nothing that a record holds steers a
//! browser.

use judge::sets::across::{CompareOptions, Run, compare};
use pagewise_report::{html, view};
use record::across::Compared;
use record::claim::{AnswerChange, Word};
use record::machine::environment::Environment;
use record::summary::{Ratio, Summary};

fn run(factor: f64) -> Run {
    let text = include_str!("../../../tests/fixtures/exports/run.json");
    let mut summary: Summary = serde_json::from_str(text).unwrap();
    for launch in summary
        .cells
        .iter_mut()
        .flat_map(|cell| &mut cell.per_launch)
    {
        launch.wall_ns.values_mut().for_each(|ns| *ns *= factor);
    }
    Run::read(&summary, &Environment::default(), &[].into(), None).unwrap()
}

fn compared(by: f64, runs: usize) -> Compared {
    let side = |by: f64| -> Vec<Run> {
        [0.99, 1.0, 1.02][..runs]
            .iter()
            .map(|f| run(f * by))
            .collect()
    };
    let asked = CompareOptions {
        margin: 0.02,
        gate: Some(0.03),
        expected: vec!["kernel".to_owned()],
    };
    compare(&side(1.0), &side(by), &asked)
}

fn page(compared: &Compared, claims: bool, again: &str) -> String {
    html::page(
        &view::compared(compared, claims, again),
        html::rounded(compared),
    )
}

fn change(id: &str, unit: &str) -> AnswerChange {
    let ratio = |ratio: f64| Ratio {
        ratio,
        low: ratio * 0.9,
        high: ratio * 1.1,
        level: 0.95,
        launches: 8,
        error: 0.05,
        freedom: 9.0,
        drift: None,
    };
    AnswerChange {
        id: id.to_owned(),
        statement: "A statement.".into(),
        job: "corrected".into(),
        first: Some(Word::Holds),
        second: None,
        ratios: (Some(ratio(0.5)), Some(ratio(1.5))),
        unit: unit.to_owned(),
    }
}

#[test]
fn three_runs_a_side_have_intervals_and_every_run_a_dot() {
    let found = compared(1.5, 3);
    let page = self::page(&found, false, "pagewise compare A B");
    assert!(page.len() < 1_000_000 && page.contains("<svg class=\"plot"));
    for class in ["l0", "l1"] {
        let head = format!("<path class=\"{class}\" d=\"");
        let dots = page
            .split(&head)
            .skip(1)
            .map(|path| path.split('"').next().unwrap());
        let dots: Vec<usize> = dots.map(|path| path.matches("h0").count()).collect();
        assert_eq!(
            (dots.len(), dots.iter().all(|n| *n <= 3)),
            (found.cells.len(), true),
            "{class}: {dots:?}"
        );
    }
    assert!(page.contains("gate 3 %: closed: at least one cell is slower by more"));
    assert!(
        page.find("id=\"environment\"").unwrap() < page.find("id=\"experiment-fault\"").unwrap()
    );
    assert!(!page.contains("id=\"claims\""));
}

#[test]
fn too_few_runs_draw_no_interval_and_say_so() {
    let page = self::page(&compared(1.5, 2), false, "pagewise compare A B");
    assert!(page.contains("too few runs for a verdict") && !page.contains("<svg class=\"plot"));
    assert!(
        page.contains("gate 3 %: undecided"),
        "what is not shown opens no gate"
    );
}

#[test]
fn claims_that_turned_stand_with_both_verdicts_and_costs_are_not_drawn_as_ratios() {
    let mut found = compared(1.0, 3);
    let none = page(&found, true, "pagewise compare A B");
    assert!(none.contains("No verdict of A contradicts one of B."));
    found.claims = vec![change("one", ""), change("two", "ns")];
    let page = self::page(&found, true, "pagewise compare A B");
    for part in [
        "0 claims with contradicting verdicts; 2 decided in one run only.",
        ">holds<",
        ">not asked<",
        "0.500 (0.450–0.550) ns",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let section = page
        .split("id=\"claims\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert_eq!(
        section.matches("<svg class=\"plot").count(),
        2,
        "only the ratios of the first"
    );
    assert_eq!(
        html::page(
            &view::changes(&[], ["a", "b"], "x"),
            html::rounded(&serde_json::json!(0))
        )
        .matches("<h2")
        .count(),
        2
    );
}

#[test]
fn a_hostile_comparison_is_inert() {
    const EVIL: &str = "\u{1b}[2J\u{202e}</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}";
    let mut found = compared(1.5, 3);
    for cell in &mut found.cells {
        cell.headline.cell += EVIL;
        cell.headline.experiment += EVIL;
        cell.headline.phase += EVIL;
        cell.a.per_unit_ns = f64::NAN;
        cell.b.per_run_ns = vec![f64::INFINITY, -1.0, 1e308];
        cell.contrast.ratio.as_mut().unwrap().high = f64::INFINITY;
    }
    found.claims = vec![change(EVIL, ""), change("x", EVIL)];
    found.a.runs[0].run += EVIL;
    let plain = page(&compared(1.5, 3), true, "x");
    let page = self::page(&found, true, EVIL);
    assert_eq!(
        page.matches("<script").count(),
        plain.matches("<script").count()
    );
    for alive in ["<img", "\u{1b}", "\u{202e}", "NaN%", "inf%"] {
        assert!(!page.contains(alive), "{alive}");
    }
}
