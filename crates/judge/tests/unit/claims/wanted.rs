use super::*;
use record::claim::Claim;
use record::summary::Estimate;

/// The launches that are asked for, and whether they should bring a word.
fn launches(n: usize, distance: f64, moved: Option<(f64, f64)>) -> Option<(usize, bool)> {
    let text = "id = \"x\"\nstatement = \"A.\"\nkind = \"ratio\"\nabout = [\"copy\"]\n[source]\ntitle = \"T\"\n\
                author = \"N\"\naddress = \"https://example.org/a\"\nfigure = \"half\"\nread = \"2026-11-21\"\n\
                [holds]\nhigh = 0.9\n[corrected]\nexperiment = \"copy\"\nway = \"a\"\nother = \"b\"\n";
    let asked = ResolvedClaim {
        claim: Claim::parse("x.toml", text).unwrap(),
        jobs: Vec::new(),
    };
    let estimate = Estimate {
        ratio: 0.9,
        low: 0.88,
        high: 0.92,
        level: 0.95,
        launches: n,
        moved,
    };
    let (freedom, unit) = (n as f64 - 1.0, String::new());
    let figure = ClaimFigure {
        estimate,
        error: Some(0.01),
        freedom,
        paired: true,
        unit,
    };
    let test = FigureTest {
        point: 0,
        figure,
        distance,
        to_coarse: distance,
    };
    lacking(
        &asked,
        &ResolvedJob::default(),
        (&test, distance),
        true,
        FAMILY / 100.0,
    )
    .map(|wanted| (wanted.launches, wanted.likely))
}

#[test]
fn the_nearer_the_edge_the_more_launches_and_on_it_the_next_look() {
    assert_eq!(
        [launches(40, 0.1, None), launches(40, 0.04, None)],
        [Some((48, true)), Some((72, true))]
    );
    assert_eq!(launches(40, 0.001, None), Some((48, false)));
    assert_eq!(launches(110, 0.001, None), None, "it has had its launches");
    assert!(
        launches(6, 0.04, None).is_some_and(|(_, likely)| likely),
        "six launches may have been disturbed"
    );
}

#[test]
fn what_moves_gets_no_more_once_that_is_plain() {
    assert_eq!(launches(40, 0.1, Some((0.8, 1.0))), None);
    assert!(launches(9, 0.1, Some((0.8, 1.0))).is_some());
}
