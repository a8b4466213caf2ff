//! Run folders that somebody made to do harm: every seal right, every text and number as bad as can be. What reads
//! them says a sentence or shows them inert; it never dies, and nothing they hold steers a terminal, a page of
//! Markdown or another program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use judge::sets::across::{CompareOptions, Run, compare};
use record::decision::Decision;
use record::folder::{FramePart, RunFolder};
use record::launches::LaunchRecord;
use record::machine::environment::Environment;
use record::state::State;
use record::summary::{Comparison, Recommendation, Summary};
use report::export::{ExportedCells, FORMATS};
use report::terminal::{Screen, render};
use report::view::{self, Wanted};
use serde_json::{Value, json};
use stats::rng::Seeded;

use crate::support::place::{Place, entries, said};
use crate::support::skips::thorough;

/// Texts that would do something if anything took them for more than text.
const EVIL: [&str; 14] = [
    "\u{1b}[2J\u{1b}]0;gone\u{7}",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "../../../../etc/passwd",
    "\u{202e}txt.exe",
    "=cmd|' /C calc'!A0",
    "a\nb\r\nc\t\"d\",'e'",
    "\u{0}\u{8}\u{9b}31m",
    "]]><x a=\"&quot;'>",
    "| `x` | [link](javascript:alert(1)) **b** @everyone",
    "\\\"} 1\nevil_metric{a=\"b\"} 2\n# EOF\n",
    "NaN",
    "",
    "%s%n{}{0}$(reboot)",
    "\u{fffe}\u{feff}\u{2028}",
];
const NUMBERS: [f64; 9] = [
    0.0,
    -1.0,
    1e308,
    -1e308,
    5e-324,
    1.8446744073709552e19,
    4.5e15,
    -0.0,
    0.3,
];

fn pick<'a, T>(rng: &mut Seeded, all: &'a [T]) -> &'a T {
    &all[(rng.bits() % all.len() as u64) as usize]
}

/// Changes one leaf of about `one_in` to something bad of its own kind.
fn spoil(value: &mut Value, rng: &mut Seeded, one_in: u64) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|v| spoil(v, rng, one_in)),
        Value::Array(all) => all.iter_mut().for_each(|v| spoil(v, rng, one_in)),
        _ if !rng.bits().is_multiple_of(one_in) => {}
        Value::String(text) if rng.bits().is_multiple_of(2) => {
            text.push_str(pick::<&str>(rng, &EVIL))
        }
        Value::String(text) => {
            *text = if rng.bits().is_multiple_of(9) {
                "x".repeat(100_000)
            } else {
                (*pick::<&str>(rng, &EVIL)).to_owned()
            }
        }
        Value::Number(_) => {
            let number = *pick(rng, &NUMBERS);
            let whole = [
                json!(0),
                json!(1),
                json!(u64::MAX),
                json!(i64::MIN),
                json!(999_999_999),
            ];
            *value = if rng.bits().is_multiple_of(2) {
                json!(number)
            } else {
                pick(rng, &whole).clone()
            };
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Null => {}
    }
}

/// Changes words of a transcript.
fn spoil_text(bytes: &mut Vec<u8>, rng: &mut Seeded, one_in: u64) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let word = |word: &str, rng: &mut Seeded| match rng.bits().is_multiple_of(one_in) {
        true if word.parse::<i64>().is_ok() => (*pick(
            rng,
            &[
                "0",
                "-1",
                "18446744073709551615",
                "NaN",
                "1e400",
                "9".repeat(40).as_str(),
            ],
        ))
        .to_owned(),
        true => pick::<&str>(rng, &EVIL).replace(['\n', '\t'], " "),
        false => word.to_owned(),
    };
    let line = |line: &str, rng: &mut Seeded| {
        line.split('\t')
            .map(|w| word(w, rng))
            .collect::<Vec<_>>()
            .join("\t")
    };
    let lines: Vec<String> = text.lines().map(|l| line(l, rng)).collect();
    *bytes = (lines.join("\n") + "\n").into_bytes();
}

/// A copy of a run with bad content and right seals; `None` where its shape does not even allow that.
fn copied(from: &RunFolder, to: &Path, rng: &mut Seeded, one_in: u64) -> Option<RunFolder> {
    let folder = RunFolder::create(to).unwrap();
    for name in ["plan.json", "environment.json", "preflight.json"] {
        let Ok(mut value) = from.read_sealed::<Value>(name) else {
            continue;
        };
        spoil(&mut value, rng, one_in);
        folder.write_sealed(name, &value).unwrap();
    }
    for decision in from.decisions().unwrap() {
        let mut value = serde_json::to_value(&decision).unwrap();
        spoil(&mut value, rng, one_in * 4);
        folder
            .append_decision(&serde_json::from_value::<Decision>(value).ok()?)
            .ok()?;
    }
    for record in from.launches().unwrap().records {
        let mut parts: Vec<FramePart> = from.reader().parts(&record).unwrap();
        let mut value = serde_json::to_value(&record).unwrap();
        spoil(&mut value, rng, one_in * 4);
        let mut record: LaunchRecord = serde_json::from_value(value).ok()?;
        parts
            .iter_mut()
            .for_each(|part| spoil_text(&mut part.bytes, rng, one_in * 20));
        folder.keep_launch(&mut record, &parts).ok()?;
    }
    Some(folder)
}

/// A copy of a try or profile with bad content and right seals.
fn copied_study(from: &RunFolder, to: &Path, rng: &mut Seeded, one_in: u64) -> Option<RunFolder> {
    let folder = RunFolder::create(to).unwrap();
    let mut plan: Value = from.read_sealed("plan.json").unwrap();
    spoil(&mut plan, rng, one_in);
    empty(&mut plan, rng, one_in);
    folder.write_sealed("plan.json", &plan).unwrap();
    for decision in from.decisions().unwrap() {
        folder.append_decision(&decision).unwrap();
    }
    for launch in from.whole().unwrap().launches {
        let mut value = serde_json::to_value(&launch).unwrap();
        spoil(&mut value, rng, one_in);
        empty(&mut value, rng, one_in);
        folder.append_launch(&value).ok()?;
    }
    Some(folder)
}

/// Empties one list of about `one_in`.
fn empty(value: &mut Value, rng: &mut Seeded, one_in: u64) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|v| empty(v, rng, one_in)),
        Value::Array(all) if rng.bits().is_multiple_of(one_in) => all.clear(),
        Value::Array(all) => all.iter_mut().for_each(|v| empty(v, rng, one_in)),
        _ => {}
    }
}

/// The first character that could steer what shows a text.
fn steering(text: &str, allowed: &[char]) -> Option<char> {
    text.chars()
        .find(|c| !allowed.contains(c) && report::escape::is_steering(*c))
}

/// Everything that is made of a summary, none of which may steer anything.
fn is_inert(summary: &Summary) {
    for wanted in [
        Wanted::default(),
        Wanted {
            full: true,
            ..Wanted::default()
        },
        Wanted {
            doubt: true,
            ..Wanted::default()
        },
    ] {
        let text = render(
            &view::screen(summary, &wanted),
            &Screen::new(80, false),
            wanted.full,
        )
        .plain();
        assert_eq!(steering(&text, &['\n']), None);
        assert!(text.lines().all(|l| l.chars().count() <= 80));
    }
    let taken = ExportedCells::new(summary, &[]);
    for format in FORMATS {
        let mut bytes = Vec::new();
        (format.write)(&taken, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            steering(&text, &['\n', '\r', '\t']),
            None,
            "{}",
            format.name
        );
        match format.name {
            "hyperfine" | "github" => drop(serde_json::from_str::<Value>(&text).unwrap()),
            "ndjson" => text
                .lines()
                .for_each(|l| drop(serde_json::from_str::<Value>(l).unwrap())),
            // An escaped bracket is no link.
            "markdown" => {
                let live = text.replace("\\](", "");
                assert!(!live.contains('<') && !live.contains("](") && !live.contains("@every"));
            }
            "openmetrics" => {
                assert!(text.ends_with("# EOF\n") && !text.lines().any(|l| l.starts_with("evil")))
            }
            "csv" => assert!(!text.split(['\n', ',']).any(|f| f.starts_with(['=', '@']))),
            "junit" => assert!(!text.contains("<script") && !text.contains("]]>")),
            _ => {}
        }
    }
    page_is_inert(&report::html::page(
        &view::tables(summary, &[], None),
        report::html::of_run(summary),
    ));
    // A summary that contradicts itself is refused in a sentence.
    let run = |_| Run::read(summary, &Environment::default(), &[].into(), None);
    let Ok(side) = (0..3).map(run).collect::<Result<Vec<Run>, _>>() else {
        return;
    };
    let found = compare(
        &side,
        &side,
        &CompareOptions {
            margin: 0.02,
            gate: Some(0.03),
            expected: Vec::new(),
        },
    );
    let text = render(
        &view::compared(&found, false, "x"),
        &Screen::new(80, false),
        false,
    )
    .plain();
    assert_eq!(steering(&text, &['\n']), None);
    page_is_inert(&compared_page(&found, true, &summary.run));
}

fn compared_page(found: &record::across::Compared, claims: bool, again: &str) -> String {
    report::html::page(
        &view::compared(found, claims, again),
        report::html::rounded(found),
    )
}

/// Nothing in a page acts, refers to anything, or is a number that is none.
fn page_is_inert(page: &str) {
    assert_eq!(steering(page, &['\n', '\t']), None);
    let elements =
        page.split("<style>").next().unwrap().to_owned() + page.split("</style>").nth(1).unwrap();
    let scripts = elements.matches("<script").count();
    assert!(
        scripts <= 2 && elements.matches("</script").count() == scripts,
        "{scripts} scripts"
    );
    for alive in [
        "<img",
        "<iframe",
        "<link",
        "<object",
        " href=\"j",
        " href=\"h",
        "<!--",
        "=\"NaN",
        "=\"inf",
        "=\"-inf",
    ] {
        assert!(!elements.contains(alive), "{alive}");
    }
    if let Some(data) = elements
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next())
    {
        serde_json::from_str::<Value>(data).unwrap();
    }
    assert!(page.len() < 64 << 20, "{} bytes", page.len());
}

/// The seeds to try: sixty, or `PAGEWISE_SEEDS`, a number of them or a range such as `1180..1200`.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("PAGEWISE_SEEDS").unwrap_or_else(|_| "60".to_owned());
    let (from, to) = asked.split_once("..").unwrap_or(("0", &asked));
    let number = |text: &str| {
        text.parse()
            .expect("PAGEWISE_SEEDS is a number or a range of them")
    };
    number(from)..number(to)
}

#[test]
fn a_hostile_folder_is_refused_in_a_sentence_or_shown_inert() {
    let place = Place::new();
    // A recorded run, so that the same seeds spoil the same words everywhere.
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let from = RunFolder::open(made.to_str().unwrap(), &made).unwrap();
    let (mut shown, mut refused, mut harmed) = (0, 0, Vec::new());
    for seed in seeds() {
        let mut rng = Seeded::new(seed);
        let to = place.file(&format!("home/spoilt-{seed}"));
        let one_in = [30, 100, 400, 2000][seed as usize % 4];
        let Some(folder) = copied(&from, &to, &mut rng, one_in) else {
            continue;
        };
        match catch_unwind(AssertUnwindSafe(|| judge::replay(&folder))) {
            Ok(Ok((_, summary))) => {
                if catch_unwind(AssertUnwindSafe(|| is_inert(&summary))).is_err() {
                    harmed.push(format!("seed {seed} harms what is shown"));
                }
                shown += 1;
            }
            Ok(Err(_)) => refused += 1,
            Err(_) => harmed.push(format!("seed {seed} kills the judging")),
        }
        if seed % 10 == 0 {
            // The program itself says at most a line, and never one that steers.
            let result = place.run(&["report", to.to_str().unwrap()]);
            assert!(
                [0, 1, 4].contains(&result.code),
                "seed {seed}: {} {}",
                result.code,
                result.err
            );
            assert_eq!(
                steering(&(result.out + &result.err), &['\n']),
                None,
                "seed {seed}"
            );
        }
        std::fs::remove_dir_all(&to).unwrap();
    }
    assert!(harmed.is_empty(), "{harmed:#?}");
    let few = shown + refused < 60;
    assert!(
        few || shown > 5 && refused > 5,
        "{shown} shown, {refused} refused"
    );
}

#[test]
fn a_hostile_try_or_profile_is_refused_in_a_sentence_or_shown_inert() {
    let place = Place::new();
    let (mut shown, mut refused, mut harmed) = (0, 0, Vec::new());
    for seed in seeds() {
        for name in ["try", "profile"] {
            let made = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures/kept")
                .join(name);
            let from = RunFolder::open(made.to_str().unwrap(), &made).unwrap();
            let mut rng = Seeded::new(seed);
            let to = place.file(&format!("home/spoilt-{name}-{seed}"));
            let one_in = [20, 100, 400, 2000][seed as usize % 4];
            let Some(folder) = copied_study(&from, &to, &mut rng, one_in) else {
                continue;
            };
            let read = || {
                let summary = judge::program::judge(&folder.whole()?);
                let document = report::command::document(&summary);
                let page = report::html::page(&document, report::html::rounded(&summary));
                page_is_inert(&page);
                anyhow::Ok(())
            };
            match catch_unwind(AssertUnwindSafe(read)) {
                Ok(Ok(())) => shown += 1,
                Ok(Err(_)) => refused += 1,
                Err(_) => harmed.push(format!("{name}, seed {seed}")),
            }
            if seed % 10 == 0 {
                for verb in [&["report", to.to_str().unwrap()][..], &["runs"]] {
                    let result = place.run(verb);
                    let said = result.out + &result.err;
                    assert!([0, 1, 3, 4].contains(&result.code), "{name} {seed}: {said}");
                    assert_eq!(steering(&said, &['\n']), None, "{name} {seed}");
                }
            }
            std::fs::remove_dir_all(&to).unwrap();
        }
    }
    assert!(harmed.is_empty(), "{harmed:#?}");
    let few = shown + refused < 120;
    assert!(
        few || shown > 5 && refused > 5,
        "{shown} shown, {refused} refused"
    );
}

type Change = fn(&mut Value);

/// Each of these ended every verb that met the folder, also those of the whole store.
#[test]
fn a_study_without_arms_commands_or_with_launches_of_others_is_damaged() {
    let place = Place::new();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kept");
    let changes: [(&str, Change, Change); 6] = [
        (
            "try",
            |plan| plan["arms"] = json!(vec![plan["arms"][0].clone(); 300]),
            |_| {},
        ),
        (
            "try",
            |plan| plan["evict"] = json!(vec![""; 1_000_000]),
            |_| {},
        ),
        ("try", |plan| plan["arms"][1]["command"] = json!([]), |_| {}),
        ("profile", |plan| plan["arms"] = json!([]), |_| {}),
        ("try", |_| {}, |launch| launch["arm"] = json!(1u64 << 63)),
        (
            "profile",
            |_| {},
            |launch| {
                let stack = json!({"frames": [7], "event": "heap", "weight": 1.0});
                launch["stacks"] = json!({"frames": [], "stacks": [stack]});
            },
        ),
    ];
    for (at, (name, of_plan, of_launch)) in changes.iter().enumerate() {
        let made = kept.join(name);
        let from = RunFolder::open(made.to_str().unwrap(), &made).unwrap();
        let to = place.file(&format!("home/wrong-{at}"));
        let folder = RunFolder::create(&to).unwrap();
        let mut plan: Value = from.read_sealed("plan.json").unwrap();
        of_plan(&mut plan);
        folder.write_sealed("plan.json", &plan).unwrap();
        for decision in from.decisions().unwrap() {
            folder.append_decision(&decision).unwrap();
        }
        for launch in from.whole().unwrap().launches {
            let mut launch = serde_json::to_value(&launch).unwrap();
            of_launch(&mut launch);
            folder.append_launch(&launch).unwrap();
        }
        let result = place.run(&["report", to.to_str().unwrap()]);
        let said = result.out + &result.err;
        assert!(
            said.contains("damage") || said.contains("launches.jsonl"),
            "{at}: {said}"
        );
        assert!(result.code != 101, "{at}: {said}");
        assert!(place.run(&["runs"]).code != 101);
    }
}

/// Every number up to the largest block was looked for, which took for ever.
#[test]
fn a_profile_may_number_its_blocks_as_it_likes() {
    let place = Place::new();
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kept/profile");
    let from = RunFolder::open(made.to_str().unwrap(), &made).unwrap();
    let to = place.file("home/numbered");
    let folder = RunFolder::create(&to).unwrap();
    let plan: Value = from.read_sealed("plan.json").unwrap();
    folder.write_sealed("plan.json", &plan).unwrap();
    for decision in from.decisions().unwrap() {
        folder.append_decision(&decision).unwrap();
    }
    let mut launches = from.whole().unwrap().launches;
    launches.last_mut().unwrap().block = i64::MAX;
    for launch in &launches {
        folder.append_launch(launch).unwrap();
    }
    let result = place.run(&["report", to.to_str().unwrap()]);
    assert!([0, 1, 3, 4].contains(&result.code), "{}", result.err);
}

#[test]
fn hostile_summaries_are_inert_in_every_format() {
    let text = include_str!("../fixtures/exports/run.json");
    for seed in 0..40 {
        let mut rng = Seeded::new(seed);
        let mut value: Value = serde_json::from_str(text).unwrap();
        // Indices are made by the judging itself; a summary is never judged from a file.
        let groups = value["groups"].clone();
        spoil(&mut value["cells"], &mut rng, 20);
        spoil(&mut value["environment"], &mut rng, 2);
        for field in ["run", "created", "version", "host", "notes"] {
            spoil(&mut value[field], &mut rng, 2);
        }
        value["groups"] = groups;
        let Ok(summary) = serde_json::from_value::<Summary>(value) else {
            continue;
        };
        catch_unwind(AssertUnwindSafe(|| is_inert(&summary)))
            .unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

#[test]
fn very_many_cells_are_all_written() {
    if !thorough() {
        return;
    }
    const MANY: usize = record::plan::MOST_CELLS;
    let mut summary: Summary =
        serde_json::from_str(include_str!("../fixtures/exports/run.json")).unwrap();
    let mut one = summary
        .cells
        .iter()
        .find(|c| c.phases.is_empty())
        .unwrap()
        .clone();
    one.per_launch.clear();
    let mut group = summary
        .groups
        .iter()
        .find(|g| !g.comparisons.is_empty())
        .unwrap()
        .clone();
    let (baseline, comparison) = (group.baseline.unwrap(), group.comparisons[0].clone());
    let mut measured = summary.cells[comparison.cell].clone();
    measured.per_launch.truncate(2);
    let baseline = summary.cells[baseline].clone();
    summary.groups.clear();
    summary.cells.clear();
    summary.cells.push(baseline);
    group.comparisons.clear();
    for n in 1..MANY {
        // Half of them have figures and a comparison each.
        let mut cell = if n % 2 == 0 {
            one.clone()
        } else {
            measured.clone()
        };
        cell.parameters.insert("bytes".to_owned(), n.to_string());
        if n % 2 == 1 {
            group.comparisons.push(Comparison {
                cell: n,
                ..comparison.clone()
            });
        }
        summary.cells.push(cell);
    }
    (group.baseline, group.best_possible, group.cells) = (Some(0), None, (0..MANY).collect());
    group.best.clear();
    group.recommendation = Recommendation::Nothing;
    summary.groups.push(group);
    let taken = ExportedCells::new(&summary, &[]);
    for (format, rows) in [("csv", MANY + 1), ("ndjson", MANY), ("junit", MANY)] {
        let mut bytes = Vec::new();
        (FORMATS.iter().find(|f| f.name == format).unwrap().write)(&taken, &mut bytes).unwrap();
        assert!(
            bytes.iter().filter(|b| **b == b'\n').count() >= rows,
            "{format}"
        );
    }
    let shown = render(
        &view::screen(&summary, &Wanted::default()),
        &Screen::new(80, false),
        false,
    )
    .plain();
    assert!(shown.lines().count() < 3 * MANY);
    let page = report::html::page(
        &view::tables(&summary, &[], None),
        report::html::of_run(&summary),
    );
    page_is_inert(&page);
    assert!(
        page.len() < 16 << 20 && page.contains("more, which pagewise report --format writes"),
        "{} bytes",
        page.len()
    );
    let side = || [Run::read(&summary, &Environment::default(), &[].into(), None).unwrap()];
    let found = compare(
        &side(),
        &side(),
        &CompareOptions {
            margin: 0.02,
            gate: None,
            expected: Vec::new(),
        },
    );
    page_is_inert(&compared_page(&found, false, "x"));
}

#[test]
fn more_than_any_run_has_is_one_sentence() {
    let place = Place::new();
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let from = RunFolder::open(made.to_str().unwrap(), &made).unwrap();
    let mut plan = from.plan().unwrap();
    plan.cells = vec![plan.cells[0].clone(); record::plan::MOST_CELLS + 1];
    let refused = State::after(plan, &[]).unwrap_err().to_string();
    assert!(refused.contains("20001 cells"), "{refused}");
    // A hole takes no room on the disk; to a reader it is a terabyte.
    let folder = place.file("home/large");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("plan.json"), "{").unwrap();
    std::fs::File::options()
        .write(true)
        .open(folder.join("plan.json"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let name = folder.to_str().unwrap();
    for verb in [
        &["report", name][..],
        &["compare", name, name],
        &["report", name, "--format", "csv"],
    ] {
        let said = place.run(verb);
        assert!(
            said.code == 1 && said.err.lines().count() == 1,
            "{verb:?}: {} {}",
            said.code,
            said.err
        );
        assert!(
            said.err.contains("is damaged: it has more than"),
            "{verb:?}: {}",
            said.err
        );
    }
}

#[test]
fn a_store_of_hostile_names_and_files_is_listed_without_harm() {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    for (name, plan) in [
        ("\u{1b}[2Jx", "{}"),
        ("a\nb", "not JSON"),
        ("deep", &"[".repeat(100_000)),
        ("tags", "{\"schema\": 2}"),
    ] {
        std::fs::create_dir_all(store.join(name)).unwrap();
        std::fs::write(store.join(name).join("plan.json"), plan).unwrap();
        std::fs::write(
            store.join(name).join("tags.json"),
            "{\"tags\": [\"\\u001b[2J\", \"fine\", \"../x\"]}",
        )
        .unwrap();
    }
    std::os::unix::fs::symlink("/etc", store.join("etc")).unwrap();
    for words in [
        &["runs"][..],
        &["runs", "--tag", "fine"],
        &["runs", "--json"],
    ] {
        let result = place.run(words);
        assert_eq!(result.code, 0, "{}", result.err);
        assert_eq!(
            steering(&result.out, &['\n']),
            None,
            "{words:?}: {}",
            result.out
        );
        assert!(!result.out.contains("etc"), "{}", result.out);
    }
    let listed = said(place.command(&["runs"]).env("COLUMNS", "1000")).out;
    assert_eq!(listed.lines().count(), 5, "{listed}");
    assert_eq!(entries(&store).len(), 5);
}
