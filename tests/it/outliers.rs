//! Many machines' run folders held against each other by the real program: folders made of one recorded run, as nodes of a
//! cluster would have written them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::folder::RunFolder;
use record::machine::environment::Environment;
use serde_json::{Value, json};

use crate::support::place::{Place, entries, program, said};
use crate::support::skips::thorough;

/// One recorded run: what each node's is made of.
struct Recorded {
    folder: PathBuf,
    summary: Value,
    environment: Environment,
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
    /// Its summary, in which every cell costs `factor` times what was recorded.
    fn with_costs(&self, factor: f64) -> Value {
        let mut summary = self.summary.clone();
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
        summary
    }

    /// The run folder of a node whose cells cost `factor` times what was recorded.
    fn node(&self, shared: &Path, name: &str, factor: f64) -> PathBuf {
        let path = shared.join(name).join("run");
        let new = RunFolder::create(&path).unwrap();
        fs::copy(self.folder.join("plan.json"), path.join("plan.json")).unwrap();
        let mut environment = self.environment.clone();
        environment.identity.node = Some(name.to_owned());
        new.write_sealed("environment.json", &environment).unwrap();
        let mut summary = self.with_costs(factor);
        summary["run"] = json!(format!("20261121T000000Z-{name}"));
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
    let found = json(&place, &["compare", "--outliers", at, "--json", "--strict"]);
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/outliers.schema.json"
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

    let text = place.run(&[
        "compare",
        "--outliers",
        place.file("nowhere").to_str().unwrap(),
    ]);
    assert!(
        text.code == 1 && text.err.lines().count() == 1,
        "{}",
        text.err
    );
    assert_eq!(
        place
            .run(&[
                "compare",
                "--outliers",
                shared.join("lost").to_str().unwrap()
            ])
            .code,
        4
    );
}

/// One hostile folder of three costs the others nothing: it is named, and the exit code says so.
#[test]
fn a_profile_among_runs_is_called_one() {
    let place = Place::new();
    let shared = nodes(&place);
    let folder = shared.join("profile");
    let words = ["profile", "--blocks", "1", "-q", "--out"];
    let made = place.run(&[&words[..], &[folder.to_str().unwrap(), "--", "/bin/true"]].concat());
    assert_eq!(made.code, 0, "{}", made.err);
    let said = place.run(&["compare", "--outliers", shared.to_str().unwrap()]);
    assert!(
        (said.out + &said.err).contains("a profile: only runs are compared here"),
        "it is of this very version"
    );
}

#[test]
fn a_hostile_folder_is_named_and_the_others_are_answered_for() {
    let place = Place::new();
    let shared = place.file("shared");
    let recorded = recorded();
    recorded.node(&shared, "n1", 1.0);
    recorded.node(&shared, "n2", 1.0);
    let hostile = recorded.node(&shared, "n3", 1.0);
    let at = shared.to_str().unwrap();
    assert_eq!(place.run(&["compare", "--outliers", at]).code, 0);
    let changes: [&dyn Fn(); 3] = [
        &|| fs::write(hostile.join("plan.json"), "[".repeat(1 << 20)).unwrap(),
        &|| fs::write(hostile.join("summary.json"), "{".repeat(1 << 20)).unwrap(),
        &|| fs::remove_file(hostile.join("environment.json")).unwrap(),
    ];
    for change in changes {
        change();
        for more in [&[][..], &["--json"], &["--strict"]] {
            let result = place.run(&[&["compare", "--outliers", at][..], more].concat());
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
        let found: Value =
            serde_json::from_str(&place.run(&["compare", "--outliers", at, "--json"]).out).unwrap();
        assert_eq!(found["nodes"], json!(2), "{found:#}");
    }
}

/// The screen, every format and the page of these nodes.
fn is_told(place: &Place, at: &str) {
    assert_eq!(place.run(&["compare", "--outliers", at]).code, 3);
    assert_eq!(
        place.run(&["compare", "--outliers", at, "--strict"]).code,
        3
    );
    let screen = place.run(&["compare", "--outliers", at]).out;
    assert!(
        screen.contains("outliers: 1 of 9")
            && screen.contains("clush -w slow \"pagewise run fault/"),
        "{screen}"
    );
    assert!(screen.contains("6 folders left out"), "{screen}");
    let page = place.file("machines.html");
    let path = page.to_str().unwrap();
    assert_eq!(
        place
            .run(&["compare", "--outliers", at, "--html", path])
            .code,
        3
    );
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("outliers: 1 of 9")
            && text.contains("clush -w slow")
            && text.contains("6 folders left out")
    );
    let again = place.run(&["compare", "--outliers", at, "--html", path]);
    assert!(
        again.code == 1 && again.err.contains("--force"),
        "{}",
        again.err
    );
}

/// A call of packaging/slurm/nodecheck.sh for the node `n1`: its exit status and its one line.
fn checked(place: &Place) -> (i32, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/slurm/nodecheck.sh");
    let mut command = Command::new(script);
    place.settle(&mut command);
    command
        .arg(place.file("reference"))
        .env("PAGEWISE", program())
        .env("PAGEWISE_NODE", "n1")
        .env("PAGEWISE_ARGS", CHECKED_CELL)
        .env("BUDGET", "60s");
    let result = said(&mut command);
    assert!(
        result.out.lines().count() == 1 && result.err.is_empty(),
        "{}{}",
        result.out,
        result.err
    );
    (result.code, result.out)
}

/// A cell that needs a second, also on a machine that is loaded by the other tests.
const CHECKED_CELL: &str = "fault/populate@c-O3 --set bytes=1MiB --set frames=cached --launches 4";

/// Changes the three runs of the node's reference.
fn change_reference(place: &Place, change: impl Fn(&RunFolder)) {
    for number in ["1", "2", "3"] {
        let path = place.file("reference/n1").join(number);
        change(&RunFolder::open(path.to_str().unwrap(), &path).unwrap());
    }
}

/// Makes the reference cost `factor` times what it was measured to cost.
fn scale_reference(place: &Place, factor: f64) {
    change_reference(place, |run| {
        let recorded = read(run.path().to_owned());
        let summary = recorded.with_costs(factor);
        run.write_result("summary.json", &summary).unwrap();
    });
}

/// The recipe of docs/outliers.md: this node against three runs of its own, by `compare --gate`.
#[test]
fn a_node_is_checked_against_its_own_reference() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let (code, line) = checked(&place);
    assert!(
        code == 0 && line.contains("pagewise: OK: n1: three runs are its reference"),
        "{line}"
    );
    // Another user's run cannot take the node out of service.
    let other = fs::File::create(place.path().join("measuring")).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let (code, line) = checked(&place);
    assert!(
        code == 0 && line.contains("UNKNOWN: n1: another run is measuring"),
        "{line}"
    );
    drop(other);
    scale_reference(&place, 0.05);
    let (code, line) = checked(&place);
    assert!(
        code == 2 && line.contains("pagewise: ODD: n1: slower than its reference"),
        "{code} {line}"
    );
    assert!(
        entries(&place.file("reference/n1")).iter().any(|path| path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("odd-")),
        "what was measured is kept"
    );
    scale_reference(&place, 400.0);
    let (code, line) = checked(&place);
    assert!(
        code == 0 && line.contains("pagewise: OK: n1: as its reference"),
        "{code} {line}"
    );
    // A reference that is not as it was written decides nothing.
    change_reference(&place, |run| {
        let mut environment: Environment = run.read_sealed("environment.json").unwrap();
        environment.kernel.release = Some("another".to_owned());
        run.write_sealed("environment.json", &environment).unwrap();
    });
    let (code, line) = checked(&place);
    assert!(code == 0 && line.contains("UNKNOWN: n1: "), "{code} {line}");
    assert_eq!(entries(&place.file("tmp")), Vec::<PathBuf>::new());
}

/// Ten thousand folders for timing the report: see docs/outliers.md.
#[test]
#[ignore = "writes 10,000 run folders into $PAGEWISE_NODES"]
fn write_ten_thousand_nodes() {
    let recorded = recorded();
    let shared = PathBuf::from(
        std::env::var_os("PAGEWISE_NODES").expect("PAGEWISE_NODES names a new folder"),
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
