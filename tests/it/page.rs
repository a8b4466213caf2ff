//! The page of a real run, in a real browser: nothing on its console, figures as in summary.json without scripts, sorting and
//! toggles with them, no overflow on a telephone or a screen; and where it is written to.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, said};
use crate::support::skips::skip;

/// A run of two methods and two sizes, with its page.
fn run(place: &Place) -> PathBuf {
    let out = place.file("run");
    let cells = ["run", "fault/touch", "fault/populate", "fault/limit", "--set", "bytes=64KiB,256KiB"];
    let limits = ["--budget", "15s", "--launches", "3", "--seed", "5", "--out"];
    let result = said(place.command(&cells).args(limits).arg(&out));
    assert_eq!(result.code, 0, "{}", result.err);
    out
}

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs);
    if found.is_none() {
        skip("there is no Chromium here: the page is not opened");
    }
    found
}

/// What a browser makes of a page that puts the run's page into a frame and looks at it: the words that it finds, and all that
/// stands on the console.
fn look(browser: &str, place: &Place, page: &Path, frame: &str, looks: &str) -> (Value, Vec<String>) {
    std::fs::copy(page, place.file("page.html")).unwrap();
    let outer = format!(
        "<!DOCTYPE html><meta charset=utf-8><title>look</title><iframe id=frame {frame} src=page.html></iframe><pre id=found></pre>
        <script>frame.onload = () => {{
            const inner = frame.contentDocument, view = frame.contentWindow;
            const all = (what) => [...inner.querySelectorAll(what)];
            const look = () => {{ {looks} }};
            found.textContent = JSON.stringify(look());
        }};</script>"
    );
    let path = place.file("look.html");
    std::fs::write(&path, outer).unwrap();
    // Chromium refuses its sandbox to root, and a run in a container often is root.
    let own = format!("--user-data-dir={}", place.file("browser").display());
    let result = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", &own])
        .args(["--allow-file-access-from-files", "--virtual-time-budget=10000", "--window-size=1700,1200"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&result.stdout).into_owned();
    let err = String::from_utf8_lossy(&result.stderr).into_owned();
    let text = out.split("<pre id=\"found\">").nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or("");
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}\n{err}"));
    (found, err.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect())
}

#[test]
fn figures_without_scripts_are_those_of_the_summary() {
    let Some(browser) = chromium() else { return };
    let place = Place::new();
    let folder = run(&place);
    let looks = include_str!("page_looks/figures.js");
    // Without allow-scripts nothing of the page's own runs.
    let frame = "sandbox=allow-same-origin width=1280 height=900";
    let (found, _) = look(browser, &place, &folder.join("report.html"), frame, looks);
    assert_eq!(found["ready"], false, "no script ran");
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap();
    let headline = summary["experiments"][0]["headline"].as_str().unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let number = |at: usize| row[at].as_str().unwrap().parse::<f64>().unwrap();
        let phase = &summary["cells"][number(0) as usize]["phases"][headline];
        for (at, figure) in [(1, "wall_ns"), (2, "per_unit_ns")] {
            let expected = phase[figure]["median"].as_f64().unwrap();
            assert!((number(at) - expected).abs() <= expected * 1e-5, "{row} {expected}");
        }
    }
}

#[test]
fn the_page_works_in_a_browser_and_fits_it() {
    let Some(browser) = chromium() else { return };
    let place = Place::new();
    let page = run(&place).join("report.html");
    let looks = include_str!("page_looks/whole.js");
    for width in [390, 1280, 1600] {
        let frame = format!("width={width} height=900 style=border:0");
        let (found, console) = look(browser, &place, &page, &frame, looks);
        assert_eq!(console, Vec::<String>::new(), "nothing on the console at {width}");
        assert_eq!(found["overflow"], false, "at {width}: {}", found["wide"]);
        assert_eq!(found["wide"].as_array().unwrap().len(), 0, "at {width}: {}", found["wide"]);
        assert_eq!(
            (&found["unnamed"], &found["captions"]),
            (&0.into(), &0.into()),
            "every drawing and table says what it is"
        );
        let sorted = |turn: usize| -> Vec<f64> {
            found["sorted"][turn][1].as_array().unwrap().iter().filter_map(Value::as_f64).collect()
        };
        assert_eq!(found["sorted"][0][0], "ascending");
        assert!(sorted(0).len() > 1 && sorted(0).is_sorted(), "{found}");
        assert!(sorted(1).iter().rev().is_sorted(), "{found}");
        assert_eq!(found["orders"][3], found["orders"][0], "the third click brings the first order back");
        assert!(found["before"][0].as_u64() > Some(0) && found["after"][0] == 0, "everything is unfolded: {found}");
        assert!(["light", "dark"].contains(&found["after"][1].as_str().unwrap()), "{found}");
    }
}

#[test]
fn a_page_is_written_over_no_file_and_says_in_one_sentence_what_is_wrong() {
    let place = Place::new();
    let folder = run(&place);
    let (run, file) = (folder.to_str().unwrap(), place.file("mine.html"));
    let report = |words: &[&str]| said(place.command(&["report", run, "--html"]).args(words));
    let path = file.to_str().unwrap();
    assert_eq!(report(&[path]).code, 0);
    let written = std::fs::read(&file).unwrap();
    assert_eq!(written, std::fs::read(folder.join("report.html")).unwrap(), "a page is a pure function of a run");
    std::fs::write(&file, "mine").unwrap();
    let refused = report(&[path]);
    assert!(refused.code == 1 && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(report(&[path, "--force"]).code, 0);
    assert_eq!(std::fs::read(&file).unwrap(), written);
    for wrong in ["/dev/full", "/proc/none/page.html", folder.to_str().unwrap()] {
        let refused = report(&[wrong, "--force"]);
        assert_eq!((refused.code, refused.err.trim().lines().count()), (1, 1), "{wrong}: {}", refused.err);
    }
    // Before time is spent on measuring.
    let refused = said(place.command(&["run", "fault/touch", "--html", path, "--out"]).arg(place.file("other")));
    assert!(refused.code == 1 && refused.err.contains("--force") && !place.file("other").exists(), "{}", refused.err);
    let entries = std::fs::read_dir(&folder).unwrap().count();
    assert!(entries <= 10, "{entries} files in a run's folder");
}
