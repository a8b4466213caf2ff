//! Shared runs and galleries by the real program: one file, which `compare` and `gallery` take, and the site in a real browser: its
//! table without scripts, filters, pages of a thousand machines, keys, paper, a telephone, and a file that is dropped on it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use judge::sets::gallery::{SharedFile, gather};
use record::gallery::FrontPicture;
use record::shared::SharedRun;
use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::place::{Place, entries};
use crate::support::skips::thorough;

const FITS: &str = include_str!("page_looks/fits.js");
const ACCESS: &str = include_str!("page_looks/access.js");

/// A whole run of the evidence, as its user would name it.
fn kept(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("docs/evidence/runs")
        .join(name)
        .display()
        .to_string()
}

/// The shared file of a run of the evidence.
fn shared(place: &Place, run: &str, name: &str) -> PathBuf {
    let path = place.file(name);
    let path_text = path.to_str().unwrap();
    let result = place.run(&["share", &kept(run), "--out", path_text]);
    assert_eq!(result.code, 0, "{}", result.err);
    path
}

/// A folder with the shared files of two machines, and the site that is made of it.
fn site(place: &Place) -> PathBuf {
    std::fs::create_dir(place.file("shared")).unwrap();
    shared(place, "amd", "shared/amd.json.gz");
    shared(place, "same-day-1", "shared/intel.json.gz");
    made(place)
}

fn made(place: &Place) -> PathBuf {
    let site = place.file("site");
    let folder = place.file("shared");
    let words = [
        "gallery",
        folder.to_str().unwrap(),
        "--html",
        site.to_str().unwrap(),
    ];
    let result = place.run(&words);
    assert_eq!(result.code, 0, "{}", result.err);
    site
}

#[test]
fn a_run_is_shared_checked_and_compared() {
    let place = Place::new();
    std::fs::create_dir(place.file("here")).unwrap();
    let run = kept("amd");
    let mut command = place.command(&["share", &run]);
    let result = crate::support::place::said(command.current_dir(place.file("here")));
    assert_eq!(result.code, 0, "{}", result.err);
    let written = entries(&place.file("here"));
    let [file] = &written[..] else {
        panic!("{written:?}");
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "pagewise-amd-epyc-6.18.44-2026-11-23.json.gz");
    // The content comes first, then the place.
    for fact in ["AMD EPYC", "6.18.44", "2026-11-23", "Not in the file", name] {
        assert!(result.out.contains(fact), "{fact}: {}", result.out);
    }
    let file = file.to_str().unwrap();
    let again = place.run(&["share", &run, "--out", file]);
    assert!(
        again.code == 1 && again.err.contains("--force"),
        "{}",
        again.err
    );
    let checked = place.run(&["gallery", "--check", file, "--json"]);
    let index: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!(
        (checked.code, index["machines"][0]["file"].as_str()),
        (0, Some(name))
    );
    let schema = include_str!("../../crates/record/schema/gallery.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&index)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // A file and the run that it was made of are the same, cell by cell.
    let compared = place.run(&["compare", file, &run, "--json"]);
    let compared: Value =
        serde_json::from_str(&compared.out).unwrap_or_else(|_| panic!("{}", compared.err));
    let cells = compared["cells"].as_array().unwrap();
    assert!(
        cells.len() > 100 && cells.iter().all(|cell| cell["quotient"] == 1.0),
        "{}",
        cells.len()
    );
    assert_eq!(compared["differences"], json!([]));
    let tails = place.run(&["compare", file, &run, "--gate", "p99.9:50%"]);
    assert!(
        tails.code == 1 && tails.err.contains("no single operations"),
        "{}",
        tails.err
    );
}

/// Nine machines with one run, whose costs differ a little; the last takes four times as long.
#[test]
fn the_odd_file_is_named_and_files_are_put_into_groups() {
    let place = Place::new();
    let first = shared(&place, "same-day-1", "first.json.gz");
    let run = SharedRun::open(&std::fs::read(first).unwrap()).unwrap();
    std::fs::create_dir(place.file("shared")).unwrap();
    for number in 0..9 {
        let factor = if number == 8 {
            4.0
        } else {
            1.0 + 0.005 * f64::from(number * 7 % 9)
        };
        let mut other = run.clone();
        for method in other
            .questions
            .iter_mut()
            .flat_map(|question| &mut question.methods)
        {
            let costs = method.launches_ns.iter_mut().chain(&mut method.per_unit_ns);
            costs.for_each(|ns| *ns *= factor);
        }
        let name = format!("shared/m{number}.json.gz");
        std::fs::write(place.file(&name), other.packed().unwrap()).unwrap();
    }
    let folder = place.file("shared");
    let outliers = |more: &[&str]| {
        let words = ["compare", "--outliers", folder.to_str().unwrap()];
        place.run(&[&words[..], more].concat())
    };
    let result = outliers(&["--json", "--strict"]);
    let search: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    let odd: Vec<&str> = search["odd"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|node| node["node"].as_str())
        .collect();
    assert_eq!(
        (result.code, &search["nodes"], odd),
        (3, &json!(9), vec!["m8"])
    );
    let screen = outliers(&[]);
    assert!(
        screen.code == 0 && !screen.out.contains("clush"),
        "{}{}",
        screen.out,
        screen.err
    );
    let host = outliers(&["--by", "host"]);
    assert!(
        host.code == 1 && host.err.contains("a shared file has no host"),
        "{}",
        host.err
    );
    // Three of another kernel, in which everything takes half as long.
    for number in 0..3 {
        let path = place.file(&format!("shared/m{number}.json.gz"));
        let mut other = SharedRun::open(&std::fs::read(&path).unwrap()).unwrap();
        other.machine.kernel = "7.1.0".to_owned();
        for method in other
            .questions
            .iter_mut()
            .flat_map(|question| &mut question.methods)
        {
            let costs = method.launches_ns.iter_mut().chain(&mut method.per_unit_ns);
            costs.for_each(|ns| *ns /= 2.0);
        }
        std::fs::write(path, other.packed().unwrap()).unwrap();
    }
    let files: Vec<String> = (0..9)
        .map(|number| {
            folder
                .join(format!("m{number}.json.gz"))
                .display()
                .to_string()
        })
        .collect();
    let mut words = vec!["compare", "--by", "kernel", "--json"];
    words.extend(files.iter().map(String::as_str));
    let result = place.run(&words);
    let search: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    let cells = search["compared"][0]["cells"].as_array().unwrap();
    assert!(search["kinds"].as_array().unwrap().len() == 2 && !cells.is_empty());
    let is_faster = |cell: &Value| cell["verdict"]["word"] == "faster";
    assert!(cells.iter().all(is_faster), "{cells:#?}");
}

#[test]
fn what_is_no_shared_run_is_refused_in_a_sentence() {
    let place = Place::new();
    let good = shared(&place, "same-day-1", "good.json.gz");
    let mut bytes = std::fs::read(&good).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(place.file("changed.json.gz"), &bytes).unwrap();
    std::fs::write(place.file("empty.json.gz"), "").unwrap();
    std::fs::write(place.file("long.json.gz"), vec![0; 200_000]).unwrap();
    let path = |name: &str| place.file(name).to_str().unwrap().to_owned();
    let files = [
        "good.json.gz",
        "changed.json.gz",
        "empty.json.gz",
        "long.json.gz",
    ]
    .map(path);
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    let checked = place.run(&[&["gallery", "--check"][..], &words].concat());
    assert_eq!(checked.code, 3, "{}{}", checked.out, checked.err);
    assert!(
        checked.out.contains("1 file accepted") && checked.out.contains("3 refused"),
        "{}",
        checked.out
    );
    let site = path("site");
    let none = place.run(&["gallery", &path("changed.json.gz"), "--html", &site]);
    assert!(
        none.code == 1 && !place.file("site").exists(),
        "{}",
        none.err
    );
    let compared = place.run(&["compare", &files[0], &files[1]]);
    assert!(
        compared.code == 1 && compared.err.contains("is refused"),
        "{}",
        compared.err
    );
    let program = place.run(&["try", "--with", "keep", "--pairs", "6", "--", "/bin/true"]);
    assert_eq!(program.code, 0, "{}", program.err);
    let tried = place.run(&["share", "last"]);
    assert!(
        tried.code == 1 && tried.err.contains("is a try"),
        "{}",
        tried.err
    );
}

/// Runs git in a folder, as somebody of no name.
fn git(folder: &Path, words: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.invalid"])
        .args(["-c", "init.defaultBranch=main"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let result = crate::support::place::said(&mut git);
    assert_eq!(result.code, 0, "{words:?}: {}", result.err);
}

/// What the workflow of the gallery runs on a branch that somebody pushed: the exit codes of its steps, until one fails.
fn checked_by_the_workflow(place: &Place, server: &str, branch: &str) -> Vec<i32> {
    let workflow = include_str!("../../.github/workflows/gallery.yml");
    let steps = workflow
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- run: target/release/pagewise "));
    let at = place.file(&format!("runner-{branch}"));
    let words = ["clone", "--quiet", "--branch", branch, server];
    git(
        place.path(),
        &[&words[..], &[at.to_str().unwrap()]].concat(),
    );
    let mut codes = Vec::new();
    for step in steps {
        let words: Vec<&str> = step.split_whitespace().collect();
        let mut command = place.command(&words);
        let result = crate::support::place::said(command.current_dir(&at));
        codes.push(result.code);
        if result.code != 0 {
            break;
        }
    }
    codes
}

/// A stranger clones, adds a file and pushes a branch; the workflow's own steps accept it, and refuse a changed one.
#[test]
fn a_file_gets_into_the_gallery_by_a_branch_that_a_stranger_pushes() {
    if std::process::Command::new("git")
        .arg("--version")
        .output()
        .is_err()
    {
        crate::support::skips::skip("there is no git here: nobody pushes a file");
        return;
    }
    let place = Place::new();
    let bare = place.file("server.git");
    git(
        place.path(),
        &["init", "--quiet", "--bare", bare.to_str().unwrap()],
    );
    let server = format!("file://{}", bare.display());
    let owner = place.file("owner");
    std::fs::create_dir_all(owner.join("gallery/shared")).unwrap();
    shared(&place, "amd", "owner/gallery/shared/amd.json.gz");
    git(&owner, &["init", "--quiet"]);
    git(&owner, &["add", "."]);
    git(&owner, &["commit", "--quiet", "-m", "The gallery"]);
    git(&owner, &["push", "--quiet", &server, "HEAD:main"]);
    let stranger = place.file("stranger");
    git(
        place.path(),
        &["clone", "--quiet", &server, stranger.to_str().unwrap()],
    );
    shared(
        &place,
        "same-day-1",
        "stranger/gallery/shared/intel.json.gz",
    );
    let push = |branch: &str| {
        git(&stranger, &["checkout", "--quiet", "-B", branch]);
        git(&stranger, &["add", "."]);
        git(&stranger, &["commit", "--quiet", "-m", "My machine"]);
        git(&stranger, &["push", "--quiet", "origin", branch]);
        checked_by_the_workflow(&place, &server, branch)
    };
    assert_eq!(push("mine"), [0, 0]);
    let site = place.file("runner-mine/site");
    assert_eq!(entries(&site.join("machine")).len(), 4);
    let file = place.file("stranger/gallery/shared/intel.json.gz");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(push("changed"), [3]);
}

/// Texts of a row's fields in the table of the front page.
const FIRST_ROW: &str = "() => [...document.querySelector('#table tbody tr:not(.kind)').cells].map((cell) => cell.textContent)";
const SHOWN: &str = "() => [...document.querySelectorAll('#table thead th')].map((cell) => cell.firstChild.textContent)";

#[test]
fn the_site_fits_every_screen_and_paper_and_its_links_lead_somewhere() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let site = site(&place);
    browser.scripts(false);
    browser.go(&site.join("index.html"));
    let still = browser.ask(FIRST_ROW);
    browser.scripts(true);
    let mut pages = vec![site.join("index.html")];
    for folder in ["machine", "question"] {
        let folder = entries(&site.join(folder));
        pages.extend(
            folder
                .into_iter()
                .find(|path| path.extension().is_some_and(|end| end == "html")),
        );
    }
    for page in &pages {
        for (width, scheme) in [
            (390, "light"),
            (390, "dark"),
            (1280, "dark"),
            (1280, "light"),
        ] {
            browser.size(width, 900);
            browser.media("screen", scheme);
            browser.go(page);
            let seen = browser.ask(FITS);
            let about = format!("{} at {width}", page.display());
            let unnamed = "() => document.querySelectorAll('svg:not([aria-label], [aria-hidden=true], [aria-hidden=true] *, [role=img] *)').length";
            assert_eq!(browser.ask(unnamed), 0, "{about}");
            assert_eq!(
                (&seen["overflow"], &seen["wide"]),
                (&json!(false), &json!([])),
                "{about}"
            );
            for fault in ["captions", "twice"] {
                assert_eq!(seen[fault], 0, "{fault} of {about}");
            }
            browser.ask(UNFOLD);
            for (fault, seen) in browser.ask(ACCESS).as_object().unwrap() {
                assert_eq!(*seen, json!([]), "{fault} of {about} in {scheme}");
            }
        }
        browser.media("print", "light");
        let tools = browser.ask("() => getComputedStyle(document.getElementById('tools')).display");
        assert_eq!(tools, "none");
        browser.media("screen", "light");
        let links = browser.ask("() => [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))");
        for link in links.as_array().unwrap().iter().filter_map(Value::as_str) {
            let (file, id) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let text = std::fs::read_to_string(&target)
                .unwrap_or_else(|_| panic!("{link} of {}", page.display()));
            assert!(
                id.is_empty() || text.contains(&format!("id=\"{id}\"")),
                "{link} of {}",
                page.display()
            );
        }
    }
    browser.size(1280, 900);
    browser.go(&pages[0]);
    assert_eq!(
        browser.ask(FIRST_ROW),
        still,
        "the script shows what the page had"
    );
    assert_eq!(browser.console, Vec::<String>::new());
}

/// Opens all that is folded.
const UNFOLD: &str =
    "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })";

/// Each control of the front page has the focus in turn, in the order of the page, and shows that it has it.
#[test]
fn keys_alone_reach_every_control_of_the_front_page() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let site = site(&place);
    browser.size(1280, 900);
    browser.go(&site.join("index.html"));
    browser.ask(UNFOLD);
    let controls = "() => { const all = 'a[href], button, input, select, summary, [tabindex=\"0\"]';
        window.places = [...document.querySelectorAll(all)].filter((one) => !one.disabled && one.checkVisibility()); return window.places.length; }";
    let count = browser.ask(controls).as_u64().unwrap();
    assert!(count > 60, "{count}");
    let focused = "() => { const one = document.activeElement, style = getComputedStyle(one);
        return [window.places.indexOf(one), style.outlineStyle !== 'none' || one.matches('.dot, .skip, [type=date]')]; }";
    let (mut places, mut last) = (std::collections::BTreeSet::new(), -1);
    for _ in 0..2 * count {
        browser.press("Tab");
        let seen = browser.ask(focused);
        let at = seen[0].as_i64().unwrap();
        // Around the end the focus is the browser's own. The parts of a date are one control.
        if at < 0 {
            break;
        }
        assert!(at >= last && seen[1] == true, "{at} after {last}: {seen}");
        last = at;
        places.insert(at);
    }
    assert_eq!(places.len() as u64, count, "{places:?}");
}

/// Waits until the answer to a dropped file is there.
const ANSWERED: &str = "async () => { for (let turn = 0; turn < 200; turn++) {
    const text = document.querySelector('#drop p').textContent; if (text) return text;
    await new Promise((done) => setTimeout(done, 50)); } return ''; }";

/// Gives the front page a file, as a person chooses one.
fn choose(browser: &mut Browser, path: &Path) -> String {
    browser.ask("() => { document.querySelector('#drop p').textContent = ''; document.querySelector('#drop input').value = ''; }");
    let document = browser.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
    let input = json!({ "nodeId": document, "selector": "#drop input" });
    let input = browser.call("DOM.querySelector", input)["nodeId"].clone();
    let files = json!({ "nodeId": input, "files": [path] });
    browser.call("DOM.setFileInputFiles", files);
    browser.ask(ANSWERED).as_str().unwrap().to_owned()
}

#[test]
fn a_file_of_the_readers_is_shown_beside_the_gallery_and_a_changed_one_is_not() {
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let site = site(&place);
    browser.size(1280, 900);
    browser.go(&site.join("index.html"));
    let before = browser.ask(FIRST_ROW);
    let amd = place.file("shared/amd.json.gz");
    let mut bytes = std::fs::read(&amd).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(place.file("half.json.gz"), &bytes).unwrap();
    let half = choose(&mut browser, &place.file("half.json.gz"));
    assert!(
        half.contains("is not shown") && half.contains("gzip"),
        "{half}"
    );
    assert_eq!(browser.ask(FIRST_ROW), before);
    let whole = choose(&mut browser, &amd);
    assert!(whole.contains("Yours is beside the gallery"), "{whole}");
    assert_eq!(browser.ask(SHOWN)[1], "Yours");
    // It is the file of a machine that the gallery has, so its column says what that machine's says.
    let columns = browser.ask(SHOWN);
    let at = columns
        .as_array()
        .unwrap()
        .iter()
        .position(|name| name == "AMD EPYC")
        .unwrap();
    let row = browser.ask(FIRST_ROW);
    assert_eq!(row[1], row[at], "{row}");
    // The page of the same run says the same, by the digits that both have.
    let page = place.file("report.html");
    let words = ["report", &kept("amd"), "--html", page.to_str().unwrap()];
    assert_eq!(place.run(&words).code, 0);
    let answer = choose(&mut browser, &page);
    assert!(answer.contains("Yours is beside the gallery"), "{answer}");
    let row = browser.ask(FIRST_ROW);
    assert_eq!(row[1], row[at], "{row}");
    let count = |answer: &str| {
        answer
            .split(" in the table: ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(count(&answer), count(&whole), "{answer}");
    for text in [
        "<p>none</p>",
        "<script type=\"application/json\" id=\"data\">{\"questions\": [7], \"rows\": [[9]], \"columns\": []}</script>",
    ] {
        std::fs::write(place.file("other.html"), text).unwrap();
        let answer = choose(&mut browser, &place.file("other.html"));
        assert!(
            answer.contains("is not shown") || answer.contains(": 0 of its 1"),
            "{answer}"
        );
    }
    assert_eq!(browser.console, Vec::<String>::new());
}

#[test]
fn a_thousand_machines_are_filtered_and_turned_by_keys() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let Some(mut browser) = Browser::open(&place) else {
        return;
    };
    let first = shared(&place, "amd", "first.json.gz");
    let run = SharedRun::open(&std::fs::read(first).unwrap()).unwrap();
    let mut files = Vec::new();
    for number in 0..1000 {
        let mut run = run.clone();
        run.machine.kernel = format!("6.{}.{number}", number % 20);
        run.day = format!("2026-{:02}-{:02}", 1 + number % 10, 1 + number % 28);
        let name = format!("{number}.json.gz");
        files.push(SharedFile { name, run });
    }
    let (gallery, files) = gather(files, Vec::new(), Default::default());
    let runs: Vec<&SharedRun> = files.iter().map(|file| &file.run).collect();
    let picture =
        FrontPicture::parse("front.toml", include_str!("../../gallery/front.toml")).unwrap();
    let page = report::gallery::front(
        &report::gallery::Labels::new(&gallery, &[]),
        &runs,
        &picture,
    );
    std::fs::write(place.file("index.html"), page).unwrap();
    browser.size(1280, 900);
    let begun = Instant::now();
    browser.go(&place.file("index.html"));
    let seconds = begun.elapsed().as_secs_f64();
    // What a page does that is not quick whatever the machine: elements that it lays out, and bytes that it reads.
    let elements = browser.ask("() => document.querySelectorAll('*').length");
    let bytes = std::fs::metadata(place.file("index.html")).unwrap().len();
    println!("1000 machines open in {seconds:.1} s: {elements} elements, {bytes} bytes");
    assert!(
        elements.as_u64().unwrap() < 60_000 && bytes < 12_000_000,
        "{elements} {bytes}"
    );
    assert_eq!(browser.ask(SHOWN).as_array().unwrap().len(), 11);
    let status = "() => document.getElementById('status').textContent";
    let text = browser.ask(status);
    assert!(
        text.as_str()
            .unwrap()
            .starts_with("Machines 1 to 10 of 1000"),
        "{text}"
    );
    browser.ask("() => document.querySelector('#pager button:last-child').focus()");
    browser.press("Enter");
    let text = browser.ask(status);
    assert!(
        text.as_str()
            .unwrap()
            .starts_with("Machines 11 to 20 of 1000"),
        "{text}"
    );
    browser.ask("() => { const field = document.querySelector('[name=kernel]'); field.value = '6.7'; field.dispatchEvent(new Event('change')); }");
    let text = browser.ask(status);
    assert!(
        text.as_str().unwrap().contains("of 50, of 1000 in all"),
        "{text}"
    );
    // The address keeps it.
    let address = browser.ask("() => location.hash");
    assert!(
        address.as_str().unwrap().contains("kernel=6.7"),
        "{address}"
    );
    assert_eq!(browser.console, Vec::<String>::new());
}
