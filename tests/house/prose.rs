//! Code decides on enums and numbers: nothing that judges, reports or prints reads a sentence of the project back.

use crate::language::laboratory;
use crate::source::{Source, none};

/// Files that read texts of others or formats, each with those.
const ALLOWED: [(&str, &str); 13] = [
    ("crates/record/src/experiment.rs", "files of experiments"),
    (
        "crates/record/src/folder/frames.rs",
        "first lines of frames and parts",
    ),
    (
        "crates/record/src/machine/system.rs",
        "limits of a process as the kernel writes them",
    ),
    (
        "crates/record/src/transcript.rs",
        "lines of workers (workers/PROTOCOL.md)",
    ),
    ("crates/report/src/view/show.rs", "sources of methods"),
    ("src/worker/functions/marks.rs", "marks in a user's source"),
    (
        "src/worker/functions/runtimes.rs",
        "packages of a user's source",
    ),
    ("src/check/trace.rs", "lines of strace"),
    ("src/machine/noise.rs", "/proc/meminfo"),
    ("src/main.rs", "messages of clap"),
    ("src/run/captures.rs", "messages of the helper program"),
    ("src/run/states.rs", "events of a memory cgroup"),
    ("src/worker/mod.rs", "a worker's account of itself"),
];

/// Methods that look into a text.
const READS: [&str; 12] = [
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "trim_start_matches",
    "trim_end_matches",
    "find",
    "split",
    "rsplit",
    "split_once",
    "rsplit_once",
];

/// Fields that hold sentences.
const SENTENCES: [&str; 7] = [
    "reason",
    "why",
    "hint",
    "statement",
    "sentence",
    "verdict",
    "cause",
];

/// Lines that look for words in a text, or look into a field of sentences.
fn read_back((path, text): &Source) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_read_back = |line: &str| {
        READS.iter().any(|method| {
            line.match_indices(&format!(".{method}("))
                .any(|(at, call)| {
                    let literal = line[at + call.len()..]
                        .strip_prefix('"')
                        .and_then(|rest| rest.split('"').next());
                    let words = literal.is_some_and(|l| {
                        l.contains(' ') && l.contains(|c: char| c.is_alphabetic())
                    });
                    let field = line[..at]
                        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
                        .next()
                        .unwrap_or_default();
                    words || SENTENCES.contains(&field)
                })
        })
    };
    let lines = code
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//") && is_read_back(line));
    lines
        .map(|(number, line)| format!("{path}:{}: {}", number + 1, line.trim()))
        .collect()
}

#[test]
fn no_code_reads_a_sentence_back() {
    let sources = laboratory();
    let sources = sources
        .iter()
        .filter(|(path, _)| ALLOWED.iter().all(|(allowed, _)| allowed != path));
    none(
        "sentences that are read back",
        &sources.flat_map(read_back).collect::<Vec<_>>(),
    );
}

/// Enums that say why, by variants with figures.
const FACTS: [&str; 8] = [
    "Cause",
    "LaunchFault",
    "NoVerdict",
    "Difference",
    "Fault",
    "Finding",
    "WarningKind",
    "NoteKind",
];

/// Variants of these whose figures hold a sentence: a quoted text of three words or more before the variant ends.
fn sentences_in_facts((path, text): &Source) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let variants = FACTS.iter().flat_map(|name| {
        code.match_indices(&format!("{name}::"))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    });
    let is_written = |at: &usize| {
        let end = code[*at..].find("\n\n").map_or(code.len(), |end| at + end);
        let Some((_, figures)) = code[*at..end]
            .split_once('{')
            .filter(|(name, _)| !name.contains(['\n', ';', ')']))
        else {
            return false;
        };
        let mut depth = 1;
        let closed = figures.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        let quoted = figures[..closed.map_or(figures.len(), |(at, _)| at)]
            .split('"')
            .skip(1)
            .step_by(2);
        quoted.into_iter().any(|text| {
            text.split_whitespace()
                .filter(|word| word.contains(char::is_alphabetic))
                .count()
                > 2
        })
    };
    variants
        .filter(is_written)
        .map(|at| format!("{path}:{}", code[..at].lines().count()))
        .collect()
}

#[test]
fn facts_hold_figures_and_no_sentence() {
    let sources = laboratory();
    none(
        "sentences in facts",
        &sources
            .iter()
            .flat_map(sentences_in_facts)
            .collect::<Vec<_>>(),
    );
    let source = |text: &str| ("x.rs".to_owned(), text.to_owned());
    let written = "let cause = Cause::Lacks { text: \"there is no pool\".to_owned() };";
    let made = "Err(Fault::Damaged {\n    error: format!(\"it has {count} launches, not 7\"),\n})";
    assert_eq!(
        [written, made].map(|text| sentences_in_facts(&source(text)).len()),
        [1, 1]
    );
    let figures = "Cause::Bound { key: \"memory\".to_owned(), needed }; bail!(\"this is no fact\")";
    assert!(sentences_in_facts(&source(figures)).is_empty());
    // An outcome takes a cause and no text.
    let outcome =
        std::fs::read_to_string(crate::source::root().join("crates/record/src/outcome.rs"))
            .unwrap();
    let fields = outcome
        .split("pub struct Outcome {")
        .nth(1)
        .and_then(|rest| rest.split('}').next())
        .unwrap();
    assert!(!fields.contains("String"), "{fields}");
}

#[test]
fn a_sentence_that_is_read_back_is_found() {
    let source = |line: &str| ("x.rs".to_owned(), line.to_owned());
    for line in [
        "if verdict.contains(\" faster (\") {",
        "let late = cell.reason.starts_with(OUT_OF_TIME);",
        "jobs.any(|j| j.why.starts_with(\"the budget did not reach it\"))",
        "checks.outcome().is_some_and(|o| o.reason.contains(\"digest\"))",
        "let package = words.rsplit_once(\"the package \")?.1;",
    ] {
        assert_eq!(read_back(&source(line)).len(), 1, "{line}");
    }
    for line in [
        "name.ends_with(\".b\")",
        "// reason.contains(x)",
        "digits.strip_suffix(\".0\")",
        "rows.find(|r| r.ok)",
    ] {
        assert!(read_back(&source(line)).is_empty(), "{line}");
    }
}

#[test]
fn every_exception_is_needed() {
    for (path, reason) in ALLOWED {
        let text = std::fs::read_to_string(crate::source::root().join(path)).unwrap();
        assert!(
            !read_back(&(path.to_owned(), text)).is_empty(),
            "{path} reads none: {reason}"
        );
    }
}

#[test]
fn the_tests_that_the_security_page_names_exist() {
    let text =
        |path: &str| std::fs::read_to_string(crate::source::root().join(path)).unwrap_or_default();
    let page = text("docs/security.md");
    let named: Vec<(&str, &str)> = page
        .split('`')
        .filter_map(|word| word.split_once("::"))
        .collect();
    let exists = |(file, test): &(&str, &str)| {
        text(&format!("tests/it/{file}.rs")).contains(&format!("fn {test}("))
    };
    let lost = named
        .iter()
        .filter(|name| !exists(name))
        .map(|(file, test)| format!("{file}::{test}"));
    none(
        "tests that docs/security.md names",
        &lost.collect::<Vec<_>>(),
    );
    assert!(named.len() > 30);
}

/// The promises of the security page are paragraphs that begin with a bold word; each has a row that names a test.
#[test]
fn each_promise_of_the_security_page_has_its_row_of_tests() {
    let page = std::fs::read_to_string(crate::source::root().join("docs/security.md")).unwrap();
    let part = |title: &str| {
        let (_, after) = page.split_once(&format!("\n## {title}\n")).expect("a part");
        after.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let promises = part("Promises");
    let promises: Vec<&str> = promises
        .lines()
        .filter_map(|line| line.strip_prefix("**")?.split_once(".**"))
        .map(|(promise, _)| promise)
        .collect();
    let rows = part("How it is tested");
    let rows: Vec<&str> = rows
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | `"))
        .map(|(promise, _)| promise)
        .collect();
    let mut sorted = (promises.clone(), rows.clone());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    assert!(promises.len() > 12, "{promises:?}");
    assert_eq!(sorted.0, sorted.1);
}
