//! Ten questions of a newcomer (tests/it/newcomer.md): each is answered within three commands that README or help name.

use std::path::Path;
use std::process::Command;

use crate::support::pages;
use crate::support::place::{Place, said};
use crate::support::skips::thorough;

const PAGE: &str = include_str!("newcomer.md");

/// One question of the page: its commands, and the words that its answer cannot do without.
struct Question<'a> {
    title: &'a str,
    commands: Vec<pages::Command>,
    answer: Vec<&'a str>,
}

fn questions() -> Vec<Question<'static>> {
    let sections = PAGE.split("\n## ").skip(1);
    let question = |section: &'static str| Question {
        title: section.lines().next().unwrap(),
        commands: pages::commands(section),
        answer: section
            .lines()
            .filter_map(|l| l.strip_prefix("Found: "))
            .flat_map(|l| l.split('`').skip(1).step_by(2))
            .collect(),
    };
    sections.map(question).collect()
}

#[test]
fn ten_questions_of_a_newcomer_are_answered_within_three_commands_each() {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    place.furnish(40_000);
    // A verdict needs three runs a side.
    for (tag, run) in ["before", "after"]
        .iter()
        .flat_map(|tag| (1..=3).map(move |run| (tag, format!("{tag}-{run}"))))
    {
        let folder = place.file("data/pagewise/runs").join(&run);
        std::fs::create_dir_all(&folder).unwrap();
        for file in crate::support::place::entries(&root.join("tests/fixtures/runs/ordinary")) {
            std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
        assert_eq!(place.run(&["runs", "tag", &run, tag]).code, 0);
    }
    let questions = questions();
    assert_eq!(questions.len(), 10);
    let mut unanswered = Vec::new();
    let taken = if thorough() { 10 } else { 3 };
    for question in &questions[..taken] {
        assert!(
            (1..=3).contains(&question.commands.len()) && !question.answer.is_empty(),
            "{}",
            question.title
        );
        let mut shown = String::new();
        for command in &question.commands {
            let mut shell = Command::new("sh");
            place.settle(&mut shell);
            let path = format!(
                "{}:{}",
                place.file("bin").display(),
                std::env::var("PATH").unwrap_or_default()
            );
            shell
                .args(["-c", &command.text])
                .current_dir(place.path())
                .env("PATH", path);
            let said = said(shell.stdin(std::process::Stdio::null()));
            shown += &format!("$ {}\n{}{}", command.text, said.out, said.err);
        }
        let missing: Vec<_> = question
            .answer
            .iter()
            .filter(|words| !shown.contains(**words))
            .collect();
        if !missing.is_empty() {
            unanswered.push(format!("{}: without {missing:?}:\n{shown}", question.title));
        }
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n"));
}
