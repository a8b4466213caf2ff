//! Machine, meaning for measurements, and obstacles: the text of `doctor`.

use std::fmt::Write as _;

use record::machine::environment::Environment;
use record::machine::format::count;

use meaning::meanings;
use obstacles::Obstacle;

mod facts;
mod meaning;
pub mod obstacles;

/// No line is longer, save a command that is longer by itself: a command must stay whole to be copied.
const WIDTH: usize = 100;
/// Column of the facts.
const FACT_COLUMN: usize = 18;

/// The whole text, a pure function of what was read from the machine.
pub fn render(environment: &Environment, obstacles: &[Obstacle]) -> String {
    let mut text = String::from("What this machine is\n");
    for (name, fact) in facts::all(environment) {
        paragraph(&mut text, &format!("  {name:<width$}", width = FACT_COLUMN - 2), &fact);
    }
    text.push_str("\nWhat that means for measurements\n");
    let meanings = meanings(environment);
    for meaning in &meanings {
        paragraph(&mut text, "  - ", meaning);
    }
    if meanings.is_empty() {
        text.push_str("  Too little can be read here to tell.\n");
    }
    text.push('\n');
    cannot(&mut text, environment, obstacles);
    text
}

/// The programs that do measured work, each with how it stands.
pub fn workers(all: &[(String, String)]) -> String {
    let mut text = String::from("\nWorkers\n");
    for (name, standing) in all {
        paragraph(&mut text, &format!("  {name:<width$}", width = FACT_COLUMN - 2), standing);
    }
    text
}

fn cannot(text: &mut String, environment: &Environment, obstacles: &[Obstacle]) {
    if obstacles.is_empty() {
        text.push_str("What cannot be measured here: nothing is in the way of any method\n");
        return;
    }
    let things = count(obstacles.len() as u64, "thing");
    let _ = writeln!(text, "What cannot be measured here, or not well: {things}");
    if environment.rights.sysctl_read_only {
        let note =
            "Commands that write below /proc/sys or /sys, as sysctl and tee do, have to run outside of this container.";
        paragraph(text, "  ", note);
    }
    for (index, obstacle) in obstacles.iter().enumerate() {
        paragraph(text, &format!("{:>4}. ", index + 1), &obstacle.what);
        paragraph(text, "      why: ", &obstacle.why);
        match &obstacle.remedy {
            Some(command) => {
                let _ = writeln!(text, "      $ {command}");
            }
            None => text.push_str("      no command here changes that\n"),
        }
    }
}

/// Breaks words into lines under each other; the first line starts with `head`, the others with as much space.
fn paragraph(text: &mut String, head: &str, sentence: &str) {
    let indent = head.chars().count();
    let mut column = indent;
    text.push_str(head);
    for (index, word) in sentence.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

#[cfg(test)]
#[path = "../../tests/unit/doctor/mod.rs"]
mod tests;
