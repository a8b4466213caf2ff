//! Every command in the documentation works: it is run, with a small budget and in a folder of its own, or the page says why it
//! cannot be; whether or not it is run, its verb and options are there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use pagewise::cli::Cli;

use crate::support::pages::{self, calls, commands, loose, mentions};
use crate::support::place::{Place, entries, said};
use crate::support::skips::{skip, thorough};

/// Verbs that measure, as long as their budget says.
const MEASURING: [&str; 5] = ["run", "advise", "claims", "try", "profile"];
/// What a short budget may end with: nothing settled, or nothing measured.
const SHORT: [i32; 3] = [0, 3, 4];
/// What is said of a verdict, where the budget left nothing to judge, and of a budget that holds nothing.
const TOO_LITTLE: [&str; 2] = [
    "the run compares nothing called",
    "the least budget for it is about",
];

fn verbs() -> Vec<String> {
    Cli::command()
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect()
}

/// What is wrong with the words of one call, by clap's own account.
fn wrong_with(words: &[String], within_a_sentence: bool) -> Option<String> {
    let error = Cli::try_parse_from(words).err()?;
    let incomplete = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    let allowed = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&error.kind())
        || within_a_sentence && incomplete.contains(&error.kind());
    (!allowed).then(|| {
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    })
}

/// What is wrong with a call of cargo: a test program, a module of one, a bench or a package that is not there.
fn wrong_with_cargo(words: &[String]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let after = |option: &str| {
        words
            .iter()
            .position(|w| w == option)
            .and_then(|at| words.get(at + 1))
    };
    let is = |path: String| root.join(path).exists();
    if let Some(bench) = after("--bench").filter(|name| !is(format!("benches/{name}.rs"))) {
        return Some(format!("there is no bench {bench}"));
    }
    let of = after("-p")
        .and_then(|p| p.strip_prefix("pagewise-"))
        .map_or(String::new(), |p| format!("crates/{p}/"));
    let is_test = |t: &str| is(format!("{of}tests/{t}/main.rs")) || is(format!("{of}tests/{t}.rs"));
    if let Some(test) = after("--test").filter(|t| !is_test(t)) {
        return Some(format!("there is no test program {test}"));
    }
    let module = words
        .iter()
        .skip_while(|w| *w != "it")
        .nth(1)
        .and_then(|word| word.split_once("::"));
    if let Some((module, _)) = module.filter(|(name, _)| !is(format!("tests/it/{name}.rs"))) {
        return Some(format!("there is no module {module} of tests/it"));
    }
    let package = after("-p")?.strip_prefix("pagewise-").unwrap_or("pagewise");
    (package != "workers" && !is(format!("crates/{package}")))
        .then(|| format!("there is no package {package}"))
}

#[test]
fn every_command_has_a_verb_and_options_that_there_are() {
    let verbs = verbs();
    let (mut wrong, mut held) = (Vec::new(), 0);
    for (name, page) in pages::pages() {
        wrong.extend(
            loose(&page, &verbs)
                .iter()
                .map(|at| format!("{name}:{at}: stands outside of a block")),
        );
        let of_blocks = commands(&page)
            .into_iter()
            .flat_map(|c| calls(&c.text).into_iter().map(move |w| (c.line, w, false)));
        let of_sentences = mentions(&page)
            .into_iter()
            .flat_map(|(line, text)| calls(&text).into_iter().map(move |w| (line, w, true)));
        for (line, words, within) in of_blocks.chain(of_sentences) {
            held += 1;
            let found = if words[0] == "cargo" {
                wrong_with_cargo(&words)
            } else {
                wrong_with(&words, within)
            };
            wrong.extend(found.map(|why| format!("{name}:{line}: {}: {why}", words.join(" "))));
        }
    }
    assert!(held > 60, "the commands were found: {held}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_is_no_more_is_found() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(wrong_with(&words("pagewise run fault --budget 1s"), false).is_none());
    assert!(wrong_with(&words("pagewise run fault --budgt 1s"), true).is_some());
    assert!(wrong_with(&words("pagewise measure fault"), true).is_some());
    assert!(
        wrong_with(&words("pagewise compare"), true).is_none()
            && wrong_with(&words("pagewise compare"), false).is_some()
    );
    assert!(wrong_with_cargo(&words("cargo test --test it read::")).is_none());
    assert!(wrong_with_cargo(&words("cargo test --test it reading::")).is_some());
    assert!(wrong_with_cargo(&words("cargo bench --bench lists")).is_some());
    assert!(wrong_with_cargo(&words("cargo test -p pagewise-stat")).is_some());
}

/// The command with what makes it short: its budgets are a second each.
fn shortened(text: &str) -> String {
    let mut words: Vec<String> = text
        .replace("cargo run --release -- ", "pagewise ")
        .split(' ')
        .map(str::to_owned)
        .collect();
    for at in 0..words.len() {
        if words[at] == "--budget" {
            words[at + 1] = "1s".to_owned()
                + if words[at + 1].ends_with(';') {
                    ";"
                } else {
                    ""
                };
        }
    }
    let mut text = words.join(" ");
    for verb in MEASURING {
        let call = format!("pagewise {verb}");
        let again = ["--resume", "--list", "--merge", "--compare"]
            .iter()
            .any(|option| text.contains(option));
        let measures = text.contains(&format!("{call} ")) || text.ends_with(&call);
        if measures && !text.contains("--budget") && !again {
            text = text.replace(&call, &format!("{call} --budget 1s"));
        }
    }
    text
}

#[test]
fn commands_are_made_short() {
    assert_eq!(
        shortened("pagewise run fault --budget 2min --out x"),
        "pagewise run fault --budget 1s --out x"
    );
    assert_eq!(
        shortened("cargo run --release -- run"),
        "pagewise run --budget 1s"
    );
    assert_eq!(
        shortened("pagewise try -- 'a b'"),
        "pagewise try --budget 1s -- 'a b'"
    );
    assert_eq!(
        shortened("pagewise run --resume RUN"),
        "pagewise run --resume RUN"
    );
    assert_eq!(shortened("pagewise runs"), "pagewise runs");
}

/// A place as the pages suppose it: `pagewise` can be called, this repository's snippets lie beside, there is a log to read, a
/// kept run named RUN, and two more with tags: one of their own, and main.
fn settled() -> Place {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    place.furnish(4000);
    let recorded = root.join("tests/fixtures/runs/ordinary");
    for name in [
        "RUN",
        "data/pagewise/runs/before",
        "data/pagewise/runs/after",
        "data/pagewise/runs/old",
    ] {
        let folder = place.file(name);
        std::fs::create_dir_all(&folder).unwrap();
        for file in entries(&recorded) {
            std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
    }
    for tag in ["before", "after"] {
        assert_eq!(place.run(&["runs", "tag", tag, tag, "main"]).code, 0);
    }
    place
}

/// Runs a command of a page as its reader's shell would; what is wrong with how it ended.
fn run(place: &Place, text: &str) -> Option<String> {
    let text = shortened(text);
    let mut shell = Command::new("sh");
    place.settle(&mut shell);
    let path = format!(
        "{}:{}",
        place.file("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    shell
        .args(["-c", &text])
        .current_dir(place.path())
        .env("PATH", path)
        .stdin(std::process::Stdio::null());
    let said = said(&mut shell);
    // What tells a short run again ends as it did.
    let telling = ["compare", "report"];
    let measures = MEASURING
        .iter()
        .chain(&telling)
        .any(|verb| text.contains(&format!("pagewise {verb} ")));
    let known = TOO_LITTLE.iter().any(|words| said.err.contains(words));
    let good = known
        || if measures {
            SHORT.contains(&said.code)
        } else {
            said.code == 0
        };
    (!good || said.err.contains("panicked"))
        .then(|| format!("{text}: exit status {}: {}", said.code, said.err.trim()))
}

/// Runs the commands of a page in order.
fn run_page(name: &str, page: &str) -> (Vec<String>, BTreeSet<String>) {
    let (mut wrong, mut not_run) = (Vec::new(), BTreeSet::new());
    let all = commands(page);
    if all.iter().all(|c| c.not_run.is_some()) {
        not_run.extend(
            all.into_iter()
                .map(|c| format!("{name}: {}: {}", c.text, c.not_run.unwrap_or_default())),
        );
        return (wrong, not_run);
    }
    let place = settled();
    for command in all {
        match &command.not_run {
            Some(reason) => {
                not_run.insert(format!("{name}: {}: {reason}", command.text));
            }
            None => wrong.extend(
                run(&place, &command.text).map(|why| format!("{name}:{}: {why}", command.line)),
            ),
        }
    }
    (wrong, not_run)
}

#[test]
fn every_command_of_the_documentation_works() {
    let mut pages = pages::pages();
    if !thorough() {
        pages.retain(|(name, _)| name == "README.md");
    }
    let pages = Mutex::new(pages);
    let found = Mutex::new((Vec::new(), BTreeSet::new()));
    let work = || {
        while let Some((name, page)) = { pages.lock().unwrap().pop() } {
            let (wrong, not_run) = run_page(&name, &page);
            let mut found = found.lock().unwrap();
            found.0.extend(wrong);
            found.1.extend(not_run);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    let (wrong, not_run) = found.into_inner().unwrap();
    not_run.iter().for_each(|command| skip(command));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_fails_is_found() {
    let page = "```sh\npagewise list fault\npagewise list falt\n```\n<!-- not run: root -->\n```sh\nfalse\n```\n";
    let (wrong, not_run) = run_page("page", page);
    assert!(
        wrong.len() == 1 && wrong[0].starts_with("page:3: pagewise list falt: exit status 1"),
        "{wrong:?}"
    );
    assert_eq!(
        not_run.into_iter().collect::<Vec<_>>(),
        ["page: false: root"]
    );
}

#[test]
fn readme_has_lines_of_the_screen_of_a_kept_run_and_begins_with_an_answer() {
    const ID: &str = "20261130T095844Z-8caadf25";
    // By its id, as a reader has it: the length of a path breaks other lines.
    let place = Place::new();
    let folder = place.file("data/pagewise/runs").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/evidence/runs/overview");
    for file in entries(&kept) {
        std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let shown = said(place.command(&["report", ID]).env_remove("COLUMNS")).out;
    assert!(
        shown.lines().count() <= 80,
        "two screens of 40 lines:\n{shown}"
    );
    let readme = include_str!("../../README.md");
    let is_shown = |line: &&str| line.starts_with("    ");
    let sample: Vec<&str> = readme
        .lines()
        .skip_while(|line| !is_shown(line))
        .take_while(is_shown)
        .collect();
    let mut lines = shown.lines();
    for line in sample.iter().map(|line| &line[4..]) {
        assert!(
            lines.any(|shown| shown == line),
            "the screen lacks, at its place: {line}\n{shown}"
        );
    }
    let depends = shown
        .split("Depends:")
        .nth(1)
        .unwrap()
        .split("Keep:")
        .next()
        .unwrap();
    // A row's further lines are indented.
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in depends.lines().skip(1) {
        match rows.last_mut() {
            Some(row) if line.starts_with(' ') => row.push(format!("    {line}")),
            _ => rows.push(vec![format!("    {line}")]),
        }
    }
    rows.retain(|row| sample.contains(&row[0].as_str()));
    assert!(rows.len() >= 2, "two rows that depend: {depends}");
    assert!(
        rows.iter()
            .flatten()
            .all(|line| sample.contains(&line.as_str())),
        "README has its rows whole: {rows:?}"
    );
    let beginning = readme.lines().take(25).collect::<Vec<_>>().join("\n");
    for part in [
        "Which way to",
        "It is for people",
        "cargo run --release -- run",
        "docs/evidence/runs/overview",
        "Change:",
        "Depends:",
    ] {
        assert!(
            beginning.contains(part),
            "the first 25 lines of README lack: {part}"
        );
    }
}

#[test]
fn the_page_on_compatibility_has_the_versions_of_this_program() {
    use record::{across, advice, claim, command, gallery, outliers, plan, shared, summary};
    let page = include_str!("../../docs/compatibility.md");
    let versions = [
        ("run folder", plan::SCHEMA),
        ("try folder", command::COMMAND_SCHEMA),
        ("profile folder", command::COMMAND_SCHEMA),
        ("`try --json`", command::COMMAND_SUMMARY_SCHEMA),
        ("`profile --json`", command::COMMAND_SUMMARY_SCHEMA),
        ("`summary.json`", summary::SUMMARY_SCHEMA),
        ("`compare --json`", across::COMPARED_SCHEMA),
        ("`claims --json`", claim::ANSWERS_SCHEMA),
        ("`advise --json`", advice::ANSWER_SCHEMA),
        ("advice file", advice::ADVICE_SCHEMA),
        ("`compare --outliers --json`", outliers::OUTLIERS_SCHEMA),
        ("shared file of `share`", shared::SHARED_SCHEMA),
        (
            "`gallery --check --json`, `index.json` of a gallery",
            gallery::GALLERY_SCHEMA,
        ),
    ];
    for (contract, version) in versions {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {contract}")))
            .expect(contract);
        assert_eq!(
            row.split('|').nth(2).map(str::trim),
            Some(&*version.to_string()),
            "{row}"
        );
    }
}
