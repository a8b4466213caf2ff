//! Many machines' run folders held against each other by the real program: folders made of one recorded run, as nodes of a
//! fleet would have written them.

use std::fs;
use std::path::{Path, PathBuf};

use record::folder::RunFolder;
use record::machine::environment::Environment;
use serde_json::{Value, json};

use crate::support::place::{Place, entries};
use crate::support::skips::thorough;

/// A run that ends after four launches, and has time for these on a machine that is loaded by the other tests.
const TINY: [&str; 8] = [
    "run",
    "fault/touch@c-O3",
    "fault/populate@c-O3",
    "--set",
    "bytes=1MiB",
    "--launches",
    "4",
    "--budget=60s",
];

/// One recorded run: what each node's is made of.
struct Recorded {
    folder: PathBuf,
    summary: Value,
    environment: Environment,
}

/// A run of this machine, for what must be of its kind.
fn taken(place: &Place) -> Recorded {
    let folder = place.file("recorded");
    let result = place.run(&[&TINY[..], &["--out", folder.to_str().unwrap()]].concat());
    // 4 where no cell may be believed, as on a machine that is loaded by the other tests.
    assert!(result.code == 0 || result.code == 4, "{}", result.err);
    read(folder)
}

/// The committed run: what it says does not depend on who else uses the machine.
fn recorded() -> Recorded {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary"))
}

fn read(folder: PathBuf) -> Recorded {
    let run = RunFolder::open(folder.to_str().unwrap(), &folder).unwrap();
    let environment = run.read_sealed("environment.json").unwrap();
    let mut summary: Value =
        serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap();
    summary.as_object_mut().unwrap().shift_remove("seal");
    // On a loaded machine a cell may be distrusted; what is tested here is not the machine.
    for cell in summary["cells"].as_array_mut().unwrap() {
        cell["status"] = json!("ok");
    }
    Recorded {
        folder,
        summary,
        environment,
    }
}

impl Recorded {
    /// The run folder of a node whose cells cost `factor` times what was recorded.
    fn node(&self, shared: &Path, name: &str, factor: f64) -> PathBuf {
        let path = shared.join(name).join("run");
        let new = RunFolder::create(&path).unwrap();
        fs::copy(self.folder.join("plan.json"), path.join("plan.json")).unwrap();
        let mut environment = self.environment.clone();
        environment.identity.node = Some(name.to_owned());
        new.write_sealed("environment.json", &environment).unwrap();
        let mut summary = self.summary.clone();
        summary["run"] = json!(format!("20261121T000000Z-{name}"));
        for cell in summary["cells"].as_array_mut().unwrap() {
            for walls in cell["per_launch"]["wall_ns"]
                .as_object_mut()
                .unwrap()
                .values_mut()
            {
                // Null where a launch had no sample of the phase.
                for wall in walls
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .filter(|wall| !wall.is_null())
                {
                    *wall = json!(wall.as_f64().unwrap() * factor);
                }
            }
        }
        new.write_result("summary.json", &summary).unwrap();
        path
    }
}

/// Nodes that differ a little, in no order.
fn usual(number: usize) -> f64 {
    1.0 + 0.01 * ((number * 7) % 5) as f64
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let result = place.run(arguments);
    assert!(
        result.code == 0 || result.code == 3,
        "{}{}",
        result.out,
        result.err
    );
    serde_json::from_str(&result.out).unwrap()
}

/// Nine nodes of which `slow` is odd, and six folders that cannot be read as one; below the folder that is returned.
fn nodes(place: &Place) -> PathBuf {
    let recorded = recorded();
    let shared = place.file("shared");
    (0..8).for_each(|n| {
        recorded.node(&shared, &format!("n{n}"), usual(n));
    });
    recorded.node(&shared, "slow", 4.0);
    let truncated = recorded
        .node(&shared, "truncated", 1.0)
        .join("summary.json");
    let text = fs::read(&truncated).unwrap();
    fs::write(&truncated, &text[..text.len() / 2]).unwrap();
    let foreign = recorded.node(&shared, "foreign", 1.0).join("plan.json");
    fs::write(&foreign, r#"{"schema": 99}"#).unwrap();
    let changed = recorded
        .node(&shared, "changed", 1.0)
        .join("environment.json");
    fs::write(
        &changed,
        fs::read_to_string(&changed)
            .unwrap()
            .replacen("changed", "another", 1),
    )
    .unwrap();
    assert!(
        std::process::Command::new("cp")
            .arg("-r")
            .args([shared.join("n1"), shared.join("n1-copy")])
            .status()
            .unwrap()
            .success()
    );
    fs::create_dir(shared.join("begun")).unwrap();
    fs::write(shared.join("begun/plan.json"), "").unwrap();
    fs::create_dir(shared.join("lost")).unwrap();
    fs::write(shared.join("lost/transcripts.zst"), "no frame").unwrap();
    shared
}

#[test]
fn the_odd_node_is_found_and_what_cannot_be_read_is_listed() {
    let place = Place::new();
    let shared = nodes(&place);
    let at = shared.to_str().unwrap();
    let found = json(&place, &["fleet", at, "--json", "--strict"]);
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/fleet.schema.json"
    );
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert!(
        jsonschema::validator_for(&schema).unwrap().is_valid(&found),
        "{found:#}"
    );
    assert_eq!(
        (&found["nodes"], &found["runs"], &found["rerun"]),
        (&json!(9), &json!(9), &json!(["slow"]))
    );
    let mut unread: Vec<(&str, &str)> = found["unread"]
        .as_array()
        .unwrap()
        .iter()
        .map(|u| {
            let folder = u["folder"]
                .as_str()
                .unwrap()
                .strip_prefix(at)
                .unwrap()
                .split('/')
                .nth(1)
                .unwrap();
            (folder, u["fault"]["word"].as_str().unwrap())
        })
        .collect();
    unread.sort_unstable();
    let expected = [
        ("begun", "begun"),
        ("changed", "damaged"),
        ("foreign", "foreign"),
        ("lost", "damaged"),
        ("n1-copy", "duplicate"),
        ("truncated", "empty"),
    ];
    assert_eq!(unread, expected, "{found:#}");
    is_told(&place, at);

    let criteria = place.file("criteria.json");
    let learnt = place.run(&["fleet", "learn", at, "--out", criteria.to_str().unwrap()]);
    assert!(
        learnt.code == 3 && learnt.out.contains("learnt from 8 nodes"),
        "{}{}",
        learnt.out,
        learnt.err
    );
    for name in ["changed", "lost"] {
        let sentence = format!("pagewise: left out: {at}/{name}");
        assert!(learnt.err.contains(&sentence), "{name}: {}", learnt.err);
    }
    let criteria: Value = serde_json::from_str(&fs::read_to_string(criteria).unwrap()).unwrap();
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/criteria.schema.json"
    );
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert!(
        jsonschema::validator_for(&schema)
            .unwrap()
            .is_valid(&criteria),
        "{criteria:#}"
    );
    let text = place.run(&["fleet", place.file("nowhere").to_str().unwrap()]);
    assert!(
        text.code == 1 && text.err.lines().count() == 1,
        "{}",
        text.err
    );
    assert_eq!(
        place
            .run(&["fleet", shared.join("lost").to_str().unwrap()])
            .code,
        4
    );
}

/// One hostile folder of three costs the others nothing: it is named, and the exit code says so.
#[test]
fn a_hostile_folder_is_named_and_the_others_are_answered_for() {
    let place = Place::new();
    let shared = place.file("shared");
    let recorded = recorded();
    recorded.node(&shared, "n1", 1.0);
    recorded.node(&shared, "n2", 1.0);
    let hostile = recorded.node(&shared, "n3", 1.0);
    let at = shared.to_str().unwrap();
    assert_eq!(place.run(&["fleet", at]).code, 0);
    let changes: [&dyn Fn(); 3] = [
        &|| fs::write(hostile.join("plan.json"), "[".repeat(1 << 20)).unwrap(),
        &|| fs::write(hostile.join("summary.json"), "{".repeat(1 << 20)).unwrap(),
        &|| fs::remove_file(hostile.join("environment.json")).unwrap(),
    ];
    for change in changes {
        change();
        for more in [&[][..], &["--json"], &["--strict"]] {
            let result = place.run(&[&["fleet", at][..], more].concat());
            assert_eq!(result.code, 3, "{}{}", result.out, result.err);
            assert!(
                result
                    .err
                    .contains(&format!("left out: {}: ", hostile.display())),
                "{}",
                result.err
            );
            assert!(!result.out.is_empty());
        }
        let found: Value = serde_json::from_str(&place.run(&["fleet", at, "--json"]).out).unwrap();
        assert_eq!(found["nodes"], json!(2), "{found:#}");
    }
}

/// The screen, every format and the page of these nodes.
fn is_told(place: &Place, at: &str) {
    assert_eq!(place.run(&["fleet", at]).code, 3);
    assert_eq!(place.run(&["fleet", at, "--strict"]).code, 3);
    let screen = place.run(&["fleet", at]).out;
    assert!(
        screen.contains("outliers: 1 of 9")
            && screen.contains("clush -w slow \"pagewise run fault/"),
        "{screen}"
    );
    assert!(screen.contains("6 folders left out"), "{screen}");
    let metrics = place.run(&["fleet", at, "--format", "openmetrics"]).out;
    assert!(
        metrics.contains("pagewise_fleet_odd_nodes{} 1\n") && metrics.ends_with("# EOF\n"),
        "{metrics}"
    );
    let lines = place.run(&["fleet", at, "--format", "ndjson"]).out;
    assert!(
        lines
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).unwrap()["row"].is_string())
    );

    let page = place.file("fleet.html");
    let path = page.to_str().unwrap();
    assert_eq!(place.run(&["fleet", at, "--html", path]).code, 3);
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("outliers: 1 of 9")
            && text.contains("clush -w slow")
            && text.contains("6 folders left out")
    );
    let again = place.run(&["fleet", at, "--html", path]);
    assert!(
        again.code == 1 && again.err.contains("--force"),
        "{}",
        again.err
    );
}

/// Criteria by which this machine is as it should be, or costs a hundred times too much.
#[test]
fn a_node_is_checked_in_one_line() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let recorded = taken(&place);
    let shared = place.file("shared");
    (0..6).for_each(|n| {
        recorded.node(&shared, &format!("n{n}"), usual(n));
    });
    let at = shared.to_str().unwrap();
    let file = place.file("criteria.json");
    let name = file.to_str().unwrap();
    assert_eq!(place.run(&["fleet", "learn", at, "--out", name]).code, 0);
    let text = fs::read_to_string(&file).unwrap();
    let mut criteria: Value = serde_json::from_str(&text).unwrap();
    let cells = criteria["kinds"][0]["cells"].as_array_mut().unwrap();
    for cell in cells {
        cell["high_ns"] = json!(1e-3);
        cell["per_unit_ns"] = json!(5e-4);
        cell["low_ns"] = json!(1e-4);
    }
    fs::write(&file, criteria.to_string()).unwrap();
    let odd = place.run(&["check-node", "--criteria", name, "--budget", "4s"]);
    assert!(
        odd.code == 3 && odd.out.lines().count() == 1 && odd.out.contains("ODD"),
        "{}{}",
        odd.out,
        odd.err
    );
    fs::write(
        &file,
        text.replace(&recorded.environment.headline()["kernel"], "another"),
    )
    .unwrap();
    let unknown = place.run(&["check-node", "--criteria", name, "--budget", "4s"]);
    assert!(
        unknown.code == 4 && unknown.out.contains("UNKNOWN"),
        "{}{}",
        unknown.out,
        unknown.err
    );
    // Another user's run cannot fail the check: it waits for that run, says so, and then takes the node.
    fs::write(&file, &text).unwrap();
    let other = fs::File::create(place.path().join("measuring")).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let waited = place.run(&["fleet", "check", "--criteria", name, "--budget", "2s"]);
    assert!(
        [0, 4].contains(&waited.code) && waited.out.lines().count() == 1,
        "{}{}",
        waited.out,
        waited.err
    );
    assert!(
        waited
            .err
            .contains("another run is measuring on this machine; waiting"),
        "{}",
        waited.err
    );
    drop(other);
    fs::write(&file, "{}").unwrap();
    let wrong = place.run(&["check-node", "--criteria", name]);
    assert!(
        wrong.code == 1 && wrong.err.lines().count() == 1,
        "{}",
        wrong.err
    );
    assert!(
        entries(&place.file("tmp")).is_empty(),
        "{:?}",
        entries(&place.file("tmp"))
    );
}

/// Ten thousand folders for timing the report: see docs/fleet.md.
#[test]
#[ignore = "writes 10,000 run folders into $PAGEWISE_FLEET"]
fn write_ten_thousand_nodes() {
    let recorded = recorded();
    let shared = PathBuf::from(
        std::env::var_os("PAGEWISE_FLEET").expect("PAGEWISE_FLEET names a new folder"),
    );
    for n in 0..10_000 {
        let factor = if n % 833 == 7 && n < 9_996 {
            3.0
        } else {
            usual(n)
        };
        recorded.node(&shared, &format!("n{n}"), factor);
    }
}
