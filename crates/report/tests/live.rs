//! What somebody sees who waits for a study: the table of a try so far, and the first line of a profile.

use pagewise_report::command;
use pagewise_report::terminal::{self, Screen};
use record::command::CommandSummary;
use std::path::Path;

fn kept(name: &str) -> CommandSummary {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/kept");
    let text = std::fs::read_to_string(folder.join(name).join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn shown(name: &str) -> (String, Vec<String>) {
    let summary = kept(name);
    let document = command::live(&summary);
    let text = terminal::render(&document, &Screen::new(100, false), false).plain();
    (text, command::briefly(&summary))
}

#[test]
fn a_try_shows_its_arms_and_a_profile_its_answer() {
    let CommandSummary::Try(tried) = kept("try") else {
        panic!("try is no try");
    };
    let (text, briefly) = shown("try");
    for arm in &tried.arms {
        assert!(text.contains(&arm.name), "{}: {text}", arm.name);
    }
    assert!(text.contains("CPU") && !briefly.is_empty(), "{text}");
    let (text, briefly) = shown("profile");
    let first = text.lines().next().unwrap();
    assert!(
        briefly.len() == 1 && briefly[0].starts_with(first),
        "{text}"
    );
    assert!(
        text.contains("resident at most") && text.lines().count() < 8,
        "{text}"
    );
}
