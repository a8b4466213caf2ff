//! The page of a real run, in a real browser: nothing on its console, figures as in summary.json without scripts, sorting,
//! toggles and tooltips by pointer and by keyboard, no overflow on a telephone or a screen; and where it is written to.

use std::path::{Path, PathBuf};

use judge::sets::across::{CompareOptions, Run, compare};
use record::machine::environment::Environment;
use record::summary::Summary;
use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::nodes;
use crate::support::place::{Place, said};
use crate::support::skips::thorough;

const FIGURES: &str = include_str!("page_looks/figures.js");
const FITS: &str = include_str!("page_looks/fits.js");

/// A run of two methods and two sizes, with its page.
fn run(place: &Place) -> PathBuf {
    let out = place.file("run");
    let cells = [
        "run",
        "fault/touch",
        "fault/populate",
        "fault/limit",
        "--set",
        "bytes=64KiB,256KiB",
    ];
    let limits = ["--budget", "15s", "--launches", "3", "--seed", "5", "--out"];
    let result = said(place.command(&cells).args(limits).arg(&out));
    assert_eq!(result.code, 0, "{}", result.err);
    out
}

/// A recorded run in which every launch takes `factor` times as long, as one side of a comparison has it.
fn recorded(factor: f64) -> Run {
    let mut summary: Summary =
        serde_json::from_str(include_str!("../fixtures/exports/run.json")).unwrap();
    for launch in summary
        .cells
        .iter_mut()
        .flat_map(|cell| &mut cell.per_launch)
    {
        launch.wall_ns.values_mut().for_each(|ns| *ns *= factor);
    }
    summary.run = format!("run-{factor}");
    Run::read(&summary, &Environment::default(), &[].into(), None).unwrap()
}

/// The page of a comparison in which B takes a quarter more time, with runs that scatter; and what was compared.
fn comparison(place: &Place) -> (PathBuf, Value) {
    let side = |by: f64| [0.99, 1.0, 1.02, 0.995].map(|factor| recorded(factor * by));
    let asked = CompareOptions {
        margin: 0.02,
        gate: Some(0.03),
        expected: Vec::new(),
    };
    let found = compare(&side(1.0), &side(1.25), &asked);
    let path = place.file("compared.html");
    std::fs::write(
        &path,
        report::html::page(
            &report::view::compared(&found, false, "pagewise compare tag:a tag:b"),
            report::html::rounded(&found),
        ),
    )
    .unwrap();
    (path, serde_json::to_value(found).unwrap())
}

/// Six digits of a number are the same.
fn alike(shown: &Value, expected: f64) -> bool {
    let shown: f64 = shown.as_str().unwrap().parse().unwrap();
    (shown - expected).abs() <= expected.abs() * 1e-5
}

#[test]
fn figures_without_scripts_are_those_of_the_summary() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let folder = run(&place);
    browser.scripts(false);
    browser.go(&folder.join("report.html"));
    let found = browser.ask(FIGURES);
    assert_eq!(found["ready"], false, "no script ran");
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("summary.json")).unwrap())
            .unwrap();
    let headline = summary["experiments"][0]["headline"].as_str().unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let phase = &summary["cells"][row[0].as_str().unwrap().parse::<usize>().unwrap()]["phases"]
            [headline];
        assert!(
            alike(&row[1], phase["per_unit_ns"]["median"].as_f64().unwrap()),
            "{row} {phase}"
        );
    }
}

#[test]
fn figures_of_a_comparison_without_scripts_are_those_of_its_json() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let (page, compared) = comparison(&place);
    browser.scripts(false);
    browser.go(&page);
    let found = browser.ask(FIGURES);
    let cells = compared["cells"].as_array().unwrap();
    let rows = found["named"].as_array().unwrap();
    assert!(rows.len() == cells.len() && cells.len() > 3, "{rows:?}");
    for (row, cell) in rows.iter().zip(cells) {
        let name = cell["cell"]
            .as_str()
            .unwrap()
            .split(['/', '@'])
            .nth(1)
            .unwrap();
        assert!(row[0].as_str().unwrap().starts_with(name), "{row} {name}");
        let expected = [
            &cell["a"]["per_unit_ns"],
            &cell["b"]["per_unit_ns"],
            &cell["ratio"]["ratio"],
        ];
        for (at, expected) in expected.into_iter().enumerate() {
            assert!(
                alike(&row[at + 1], expected.as_f64().unwrap()),
                "{row} {cell:#}"
            );
        }
    }
    assert_eq!(
        found["data"]["cells"].as_array().unwrap().len(),
        cells.len()
    );
    let text = browser
        .ask("() => document.body.innerText")
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.contains("gate 3 %: closed") && text.contains("slower on B"),
        "{text}"
    );
    let heads =
        browser.ask("() => [...document.querySelectorAll('h2')].map((one) => one.textContent)");
    assert_eq!(
        heads[0],
        json!("Environment"),
        "what differs comes before figures"
    );
}

#[test]
fn pages_fit_a_telephone_and_a_screen_in_light_and_dark_and_on_paper() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let machines = place.file("machines.html");
    std::fs::write(
        &machines,
        report::html::page(
            &report::outliers::document(
                &nodes::searched(),
                "clush -w a7 …",
                "pagewise compare --outliers /shared",
            ),
            report::html::rounded(&nodes::searched()),
        ),
    )
    .unwrap();
    for page in [
        run(&place).join("report.html"),
        comparison(&place).0,
        machines,
    ] {
        let mut inks = Vec::new();
        for (width, scheme) in [
            (390, "light"),
            (390, "dark"),
            (1280, "dark"),
            (1600, "light"),
        ] {
            browser.size(width, 900);
            browser.media("screen", scheme);
            browser.go(&page);
            let found = browser.ask(FITS);
            assert_eq!(
                (&found["width"], &found["overflow"]),
                (&json!(width), &json!(false)),
                "{found:#}"
            );
            assert_eq!(found["wide"], json!([]), "at {width}");
            for what in ["unnamed", "captions", "twice", "broken"] {
                assert_eq!(found[what], 0, "{what} of {}", page.display());
            }
            inks.push(found["ink"].clone());
        }
        assert!(
            inks[0] == inks[3] && inks[1] == inks[2] && inks[0] != inks[1],
            "{inks:?}"
        );
        browser.media("print", "dark");
        assert_eq!(browser.ask(FITS)["ink"], inks[0], "paper is never dark");
        let tools = browser.ask("() => getComputedStyle(document.getElementById('tools')).display");
        assert_eq!(tools, "none", "nothing to press stands on paper");
    }
    assert_eq!(
        browser.console,
        Vec::<String>::new(),
        "nothing on the console"
    );
}

/// Names and values of the rows of the first table that sorts, and how it is sorted.
const SORTED: &str = "() => {
    const head = document.querySelector('main th:not(:first-child, [class]):has(button)'), table = head.closest('table');
    const at = [...head.parentElement.children].indexOf(head);
    const rows = [...table.tBodies[0].rows].filter((row) => row.cells.length > 1);
    const values = rows.map((row) => row.cells[at].dataset.value ?? row.cells[at].textContent).filter(Boolean).map(Number);
    return [head.getAttribute('aria-sort'), values, rows.map((row) => row.cells[0].textContent)];
}";

/// Unfolds everything and brings the first table that sorts by numbers into the window.
const UNFOLD: &str = "() => { document.querySelectorAll('details').forEach((one) => { one.open = true; });
    document.querySelector('main th:not(:first-child, [class]) button').scrollIntoView({ block: 'center' }); }";

#[test]
fn rows_are_sorted_by_a_click_and_by_a_key() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    browser.size(1280, 900);
    for page in [run(&place).join("report.html"), comparison(&place).0] {
        browser.go(&page);
        browser.ask(UNFOLD);
        let first = browser.ask(SORTED);
        let button = browser.middle("main th:not(:first-child, [class]) button");
        browser.click(button);
        let up = browser.ask(SORTED);
        let values = |of: &Value| {
            of[1]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_f64)
                .collect::<Vec<_>>()
        };
        assert!(
            up[0] == "ascending" && values(&up).len() > 1 && values(&up).is_sorted(),
            "{up}"
        );
        // The click has given it the focus: from here on by keys.
        browser.press("Enter");
        let down = browser.ask(SORTED);
        assert!(
            down[0] == "descending" && values(&down).iter().rev().is_sorted(),
            "{down}"
        );
        browser.press(" ");
        assert_eq!(
            browser.ask(SORTED)[2],
            first[2],
            "the third time brings the first order back"
        );
    }
    assert_eq!(browser.console, Vec::<String>::new());
}

/// Filters by these words: names of the rows that are left, and which conditions are unfolded.
fn filtered(browser: &mut Browser, words: &str) -> Value {
    browser.ask(&format!(
        "() => {{ const field = document.querySelector('#tools input'), all = (what) => [...document.querySelectorAll(what)];
         field.value = '{words}'; field.dispatchEvent(new Event('input'));
         const rows = all('details[id] tr[data-cell]').filter((row) => row.checkVisibility());
         return [rows.map((row) => row.cells[0].textContent), all('details[id]').map((one) => one.open && !one.hidden)]; }}"
    ))
}

#[test]
fn rows_are_filtered_and_a_link_unfolds_what_it_leads_to() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    browser.size(390, 900);
    // A picture needs intervals: launches enough.
    let out = place.file("long");
    let words = [
        "run",
        "fault/touch@c-O3",
        "fault/populate@c-O3",
        "--set",
        "bytes=64KiB,256KiB",
        "--set",
        "frames=cached",
    ];
    let limits = ["--budget", "20s", "--launches", "6", "--seed", "5", "--out"];
    let result = said(place.command(&words).args(limits).arg(&out));
    assert_eq!(result.code, 0, "{}", result.err);
    let page = out.join("report.html");
    browser.go(&page);
    let folded = json!([[], [false, false]]);
    assert_eq!(filtered(&mut browser, ""), folded);
    let left = filtered(&mut browser, "populate 256kib");
    assert_eq!(left, json!([["populate"], [false, true]]));
    assert_eq!(filtered(&mut browser, "no such row"), folded);
    assert_eq!(filtered(&mut browser, ""), folded);
    browser.ask("() => { location.hash = document.querySelectorAll('details[id]')[1].id; }");
    const REVEALED: &str = "() => new Promise((done) => setTimeout(() => done([...document.querySelectorAll('details[id]')]
        .map((one) => one.open)), 0))";
    assert_eq!(browser.ask(REVEALED), json!([false, true]));
    let interval = browser.middle("td svg.plot");
    browser.point(interval);
    let tip = browser.ask("() => document.getElementById('tip').textContent");
    let ratio = tip.as_str().unwrap().split(' ').next().unwrap();
    assert!(ratio.parse::<f64>().is_ok(), "its ratio: {tip}");
    // Without its script a table scrolls within its box.
    browser.scripts(false);
    browser.go(&page);
    let found = browser.ask(FITS);
    assert_eq!(
        (&found["overflow"], &found["wide"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(browser.console, Vec::<String>::new());
}

/// What has the focus, and whether that can be seen.
const FOCUS: &str = "() => { const one = document.activeElement, style = getComputedStyle(one);
    return [one.tagName, one.textContent.slice(0, 40), style.outlineStyle !== 'none']; }";

#[test]
fn a_keyboard_is_enough() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    browser.size(1280, 900);
    browser.media("screen", "light");
    browser.go(&run(&place).join("report.html"));
    browser.press("Tab");
    assert_eq!(
        browser.ask(FOCUS)[1],
        "To the answers",
        "the first key leads past the contents"
    );
    // Where a keyboard comes to, one after the other, it can be seen to be.
    let mut seen = Vec::new();
    for _ in 0..60 {
        browser.press("Tab");
        let found = browser.ask(FOCUS);
        if found[0] == "BODY" {
            break;
        }
        assert_eq!(
            found[2], true,
            "{found} has the focus, which cannot be seen"
        );
        let words = found[1].as_str().unwrap().to_owned();
        match words.as_str() {
            "Dark" => {
                browser.press("Enter");
                assert_eq!(
                    browser.ask("() => document.documentElement.dataset.theme"),
                    "dark"
                );
            }
            "Unfold all" => {
                browser.press(" ");
                assert_eq!(
                    browser.ask("() => document.querySelectorAll('details:not([open])').length"),
                    0
                );
            }
            "Hide floors and lower bound" => {
                browser.press("Enter");
                let shown = "() => getComputedStyle(document.querySelector('tbody.aside')).display";
                assert_eq!(browser.ask(shown), "none");
                assert_eq!(
                    browser.ask("() => document.activeElement.getAttribute('aria-pressed')"),
                    "true"
                );
                browser.press("Enter");
                assert_ne!(browser.ask(shown), "none");
            }
            _ => {}
        }
        seen.push(words);
    }
    for needed in ["Dark", "Unfold all", "Hide floors and lower bound"] {
        assert!(
            seen.iter().any(|words| words == needed),
            "{needed} is not reached: {seen:?}"
        );
    }
    assert_eq!(browser.console, Vec::<String>::new());
}

#[test]
fn what_a_mark_stands_for_is_shown_where_the_pointer_is() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let page = run(&place).join("report.html");
    const TIP: &str = "() => { const tip = document.getElementById('tip'), box = tip.getBoundingClientRect();
        return [tip.hidden, tip.textContent, box.left >= 0 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1]; }";
    for width in [390, 1280] {
        browser.size(width, 900);
        browser.go(&page);
        browser.ask(UNFOLD);
        assert_eq!(browser.ask(TIP)[0], true);
        let mark = browser.middle(".mark[data-tip]");
        browser.point(mark);
        let shown = browser.ask(TIP);
        assert!(
            shown[0] == false && shown[1].as_str().unwrap().contains(" per page"),
            "{shown}"
        );
        assert_eq!(shown[2], true, "it lies within the window: {shown}");
        browser.press("Escape");
        assert_eq!(browser.ask(TIP)[0], true);
    }
    browser.scripts(false);
    browser.go(&page);
    let titles = browser.ask("() => document.querySelectorAll('svg .mark title').length");
    assert!(
        titles.as_u64() > Some(3),
        "without a script the browser's own titles say it: {titles}"
    );
    assert_eq!(browser.console, Vec::<String>::new());
}

/// Copies of a recorded run beside each other: what is tested with them is words and files, not figures.
fn copies(place: &Place, count: usize) -> Vec<String> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let copy = |n: usize| {
        let to = place.file(&format!("home/copy-{n}"));
        std::fs::create_dir(&to).unwrap();
        for file in crate::support::place::entries(&from) {
            std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
        to.display().to_string()
    };
    (0..count).map(copy).collect()
}

#[test]
fn a_page_is_written_over_no_file_and_says_in_one_sentence_what_is_wrong() {
    let place = Place::new();
    let runs = copies(&place, 2);
    let (run, file) = (runs[0].as_str(), place.file("mine.html"));
    let path = file.to_str().unwrap();
    for verb in [&["report", run][..], &["compare", run, runs[1].as_str()]] {
        let make = |words: &[&str]| said(place.command(verb).arg("--html").args(words));
        let made = make(&[path]);
        assert_eq!(made.code, 0, "{}", made.err);
        let written = std::fs::read(&file).unwrap();
        std::fs::write(&file, "mine").unwrap();
        let refused = make(&[path]);
        assert!(
            refused.code == 1 && refused.err.contains("--force"),
            "{}",
            refused.err
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(make(&[path, "--force"]).code, 0);
        assert_eq!(
            std::fs::read(&file).unwrap(),
            written,
            "a page is a pure function of what it shows"
        );
        for wrong in ["/dev/full", "/proc/none/page.html", run] {
            let refused = make(&[wrong, "--force"]);
            assert_eq!(
                (refused.code, refused.err.trim().lines().count()),
                (1, 1),
                "{wrong}: {}",
                refused.err
            );
        }
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::write(&file, "mine").unwrap();
    // Before time is spent on measuring.
    let refused = said(
        place
            .command(&["run", "fault/touch", "--html", path, "--out"])
            .arg(place.file("other")),
    );
    assert!(
        refused.code == 1 && refused.err.contains("--force") && !place.file("other").exists(),
        "{}",
        refused.err
    );
}

#[test]
#[ignore = "takes pictures of a page: PAGEWISE_PAGE=report.html PAGEWISE_PICTURES=folder cargo test --test it pictures -- --ignored"]
fn pictures() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let page = PathBuf::from(std::env::var("PAGEWISE_PAGE").expect("PAGEWISE_PAGE names a page"));
    let to = PathBuf::from(
        std::env::var("PAGEWISE_PICTURES").expect("PAGEWISE_PICTURES names a folder"),
    );
    // Where on the page the picture begins: a selector, or its top.
    let at = std::env::var("PAGEWISE_AT").unwrap_or_else(|_| "body".to_owned());
    let all = [
        ("390", 390, 844, "screen", "light"),
        ("1280", 1280, 960, "screen", "light"),
    ];
    let all = all.into_iter().chain([
        ("dark", 1280, 960, "screen", "dark"),
        ("print", 760, 1074, "print", "light"),
    ]);
    for (name, width, height, media, scheme) in all {
        browser.size(width, height);
        browser.media(media, scheme);
        browser.go(&page);
        browser.ask(&format!(
            "() => document.querySelector({}).scrollIntoView()",
            json!(at)
        ));
        browser.picture(&to.join(format!("page-{name}.png")));
    }
}
