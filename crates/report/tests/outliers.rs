//! The page of many machines: the outlier stands first, with the command that measures it again; figures are those of the
//! JSON; and nothing that a record holds steers a browser.

#[path = "../../../tests/it/support/nodes.rs"]
mod nodes;

use pagewise_report::{html, outliers};
use record::outliers::{Fault, Finding, OutlierSearch};

fn page(found: &OutlierSearch, again: &str, anew: &str) -> String {
    html::page(
        &outliers::document(found, again, anew),
        html::rounded(found),
    )
}

#[test]
fn odd_nodes_come_first_and_each_kind_has_its_costs() {
    let found = nodes::searched();
    assert_eq!(
        (
            found.nodes,
            found.odd.len(),
            found.kinds.len(),
            found.unread.len()
        ),
        (13, 1, 2, 1),
        "{found:#?}"
    );
    let page = self::page(
        &found,
        "clush -w a7 \"pagewise run …\"",
        "pagewise compare --outliers /shared --html PAGE.html",
    );
    assert!(page.len() < 1_000_000);
    let place = |id: &str| {
        page.find(&format!("id=\"{id}\""))
            .unwrap_or_else(|| panic!("no {id}"))
    };
    assert!(place("answers") < place("kind-a") && place("kind-a") < place("kind-b"));
    assert!(place("kind-b") < place("compared-a-b") && place("compared-a-b") < place("unread"));
    for part in [
        "outliers: 1 of 13",
        ">a7<",
        "clush -w a7",
        "times the cost on its kind",
        "duplicate",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let costs = page
        .split("id=\"kind-a\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    for cell in &found.kinds[0].cells {
        let shown = costs
            .split("data-value=")
            .skip(1)
            .filter_map(|v| v.split('>').next()?.parse::<f64>().ok());
        assert!(
            shown
                .clone()
                .any(|v| (v - cell.per_unit_ns).abs() < 1e-5 * v),
            "{}: {:?}",
            cell.headline.cell,
            shown.count()
        );
    }
    let drawn = found.kinds[0].methods.len();
    assert!(drawn > 0);
    assert_eq!(costs.matches("<svg class=\"plot\"").count(), drawn);
}

#[test]
fn hostile_machines_are_inert() {
    const EVIL: &str = "\u{1b}[2J\u{202e}</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}";
    let mut found = nodes::searched();
    let plain = page(&found, "x", "y");
    found.odd[0].node += EVIL;
    found.unread[0].fault = Fault::Foreign {
        error: EVIL.to_owned(),
    };
    found.unread[0].folder += EVIL;
    for finding in &mut found.odd[0].findings {
        let Finding::Cost {
            cell,
            ratio,
            spread,
            p,
            ..
        } = finding
        else {
            continue;
        };
        *cell += EVIL;
        (*ratio, *spread, *p) = (f64::NAN, f64::INFINITY, -1.0);
    }
    for kind in &mut found.kinds {
        kind.nodes[0] += EVIL;
        kind.facts.insert(EVIL.to_owned(), EVIL.to_owned());
        kind.cells[0].headline.cell += EVIL;
        kind.cells[0].per_unit_ns = f64::NAN;
        kind.methods[0].baseline += EVIL;
        let ratio = kind.methods[0].contrast.ratio.as_mut().unwrap();
        (ratio.low, ratio.high) = (-1.0, f64::INFINITY);
    }
    let page = self::page(&found, EVIL, EVIL);
    assert_eq!(
        page.matches("<script").count(),
        plain.matches("<script").count()
    );
    for alive in ["<img", "\u{1b}", "\u{202e}", "NaN%", "inf%"] {
        assert!(!page.contains(alive), "{alive}");
    }
}
