//! The machine's description and the text of `doctor`, on trees of files that stand for machines we do not have.

use std::path::{Path, PathBuf};

use judge::machines::differences;
use pagewise::machine;
use record::machine::environment::Environment;
use report::doctor::{self, obstacles::obstacles};

/// Longer lines wrap in a terminal; only commands may be longer, because they are copied as a whole.
const WIDTH: usize = 100;

const MACHINES: [&str; 4] = ["bare-metal", "container-v2", "hybrid-v1-vm", "nearly-empty"];

fn folder(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines").join(machine)
}

fn capture(machine: &str) -> Environment {
    machine::capture(&folder(machine))
}

#[test]
fn every_machine_is_described() {
    for machine in MACHINES {
        let environment = capture(machine);
        let facts = serde_json::json!({ "headline": environment.headline(), "environment": environment });
        insta::assert_snapshot!(format!("environment-{machine}"), serde_json::to_string_pretty(&facts).unwrap());
    }
}

#[test]
fn every_machine_has_its_report() {
    for machine in MACHINES {
        let environment = capture(machine);
        insta::assert_snapshot!(format!("doctor-{machine}"), doctor::render(&environment, &obstacles(&environment)));
    }
}

#[test]
fn reports_fit_a_terminal() {
    let roots = MACHINES.map(folder).into_iter().chain([PathBuf::from("/"), PathBuf::from("/nowhere")]);
    for root in roots {
        let environment = machine::capture(&root);
        let text = doctor::render(&environment, &obstacles(&environment));
        let too_long = |line: &&str| line.chars().count() > WIDTH && line.contains(' ') && !line.contains("$ ");
        let words_too_long = |line: &&str| line.split_whitespace().any(|word| word.chars().count() > WIDTH / 2);
        let found: Vec<&str> = text.lines().filter(too_long).filter(|line| !words_too_long(line)).collect();
        assert!(found.is_empty(), "{}: {found:#?}", root.display());
        assert!(text.lines().all(|line| line.trim_end() == line), "{}: space at the end of a line", root.display());
    }
}

#[test]
fn a_machine_without_files_is_described_as_unknown() {
    let environment = machine::capture(Path::new("/nowhere"));
    assert_eq!(environment, Environment { tools: environment.tools.clone(), ..Environment::default() });
    assert!(environment.tools.programs.is_empty() && environment.tools.allocators.is_empty());
    assert_eq!(environment.headline()["cpu"], "unknown");
}

#[test]
fn descriptions_survive_being_stored() {
    for machine in MACHINES {
        let environment = capture(machine);
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }
}

#[test]
fn a_description_by_an_older_version_can_be_read() {
    let environment: Environment = serde_json::from_str(r#"{"kernel": {"release": "6.1.0"}}"#).unwrap();
    assert_eq!(environment.kernel.release.as_deref(), Some("6.1.0"));
    assert_eq!(environment.memory.total_bytes, None);
}

#[test]
fn what_follows_the_kernels_own_parameters_is_not_kept() {
    let line = capture("hybrid-v1-vm").kernel.command_line.unwrap();
    assert!(line.ends_with("mitigations=auto"), "{line}");
}

#[test]
fn two_machines_differ_in_what_matters() {
    let found = differences(&capture("bare-metal"), &capture("container-v2"));
    let difference = |field: &str| found.iter().find(|d| d.field == field).unwrap();
    let thp = difference("huge_pages.thp_enabled");
    assert_eq!((thp.a.as_str(), thp.b.as_str(), thp.matters), ("always", "madvise", true));
    assert!(!difference("rights.effective_uid").matters);
    assert_eq!(difference("cpu.frequency.governors").b, "absent");
    assert!(found.is_sorted_by_key(|d| !d.matters));
    assert!(differences(&capture("bare-metal"), &capture("bare-metal")).is_empty());
}
