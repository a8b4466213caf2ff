//! The pages of the documentation as commands: what stands in a block fenced as `sh` (commands) or `console`
//! (commands after `$`,
//! with their output). `<!-- not run: REASON -->` before a block says that it cannot be run by a test.

use std::path::Path;

use crate::support::place::entries;

/// One command of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Line of the page.
    pub line: usize,
    /// As a shell reads it.
    pub text: String,
    /// Why it cannot be run here.
    pub not_run: Option<String>,
}

/// All pages, by path below the repository. What changed, and what was decided, is history.
pub fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "",
        "benches",
        "docs",
        "docs/reading",
        "experiments",
        "packaging",
        "packaging/kubernetes",
        "workers",
    ];
    let all = folders
        .iter()
        .flat_map(|folder| entries(&root.join(folder)));
    let pages = all.filter(|path| {
        path.extension().is_some_and(|e| e == "md") && !path.ends_with("CHANGELOG.md")
    });
    let text = |path: std::path::PathBuf| {
        let name = path
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    pages.map(text).collect()
}

/// The commands of a page's blocks.
pub fn commands(page: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let (mut kind, mut not_run, mut open) = (None, None, false);
    for (number, line) in (1..).zip(page.lines()) {
        match (kind, line.strip_prefix("```")) {
            (None, Some(word)) => kind = Some(word.trim()),
            (Some(_), Some(_)) => (kind, not_run, open) = (None, None, false),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                not_run = line
                    .strip_prefix("<!-- not run: ")
                    .and_then(|l| l.strip_suffix(" -->"))
                    .map(str::to_owned);
            }
            (Some(word), None) => {
                let text = match word {
                    "sh" => Some(line),
                    "console" if open => Some(line),
                    "console" => line.strip_prefix("$ "),
                    _ => None,
                };
                let Some(text) = text
                    .map(str::trim)
                    .filter(|t| !t.is_empty() && !t.starts_with('#'))
                else {
                    continue;
                };
                let (text, goes_on) = text
                    .strip_suffix('\\')
                    .map_or((text, false), |text| (text.trim_end(), true));
                match found.last_mut().filter(|_| open) {
                    Some(last) => last.text += &format!(" {text}"),
                    None => found.push(Command {
                        line: number,
                        text: text.to_owned(),
                        not_run: not_run.clone(),
                    }),
                }
                open = goes_on;
            }
        }
    }
    found
}

/// Commands that stand outside of such blocks, where nobody would notice that they no longer work: `LINE: TEXT`.
pub fn loose(page: &str, verbs: &[String]) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        fenced ^= line.starts_with("```");
        // What is indented further goes on with words, or is a picture of a screen.
        let indented = line.strip_prefix("    ").filter(|l| !l.starts_with(' '));
        let mut words = indented.unwrap_or_default().split_whitespace();
        let loose = match (words.next(), words.next()) {
            (Some("pagewise"), Some(verb)) => verbs.iter().any(|v| v == verb),
            (Some("cargo"), Some(_)) => true,
            _ => false,
        };
        found.extend((loose && !fenced).then(|| format!("{number}: {}", line.trim())));
    }
    found
}

/// What is written as `pagewise …` within a sentence: line and words.
pub fn mentions(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(page.lines()) {
        fenced ^= line.starts_with("```");
        let quoted = line.split('`').skip(1).step_by(2).filter(|_| !fenced);
        let is_call = |words: &&str| {
            words
                .strip_prefix("pagewise ")
                .is_some_and(|rest| rest.starts_with(char::is_lowercase))
        };
        found.extend(
            quoted
                .filter(is_call)
                .map(|words| (number, words.to_owned())),
        );
    }
    found
}

/// The calls of `pagewise` (or of cargo) in a shell's command, each as its words; what a shell makes of quotes, comments, pipes
/// and redirections is known, and nothing more.
pub fn calls(command: &str) -> Vec<Vec<String>> {
    let mut calls = vec![Vec::new()];
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for c in command.chars().chain([' ']) {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '&' | ';' | '>' | '<') => {
                calls.last_mut().unwrap().extend(word.take());
                if c != ' ' {
                    calls.push(Vec::new());
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    let start = |words: &Vec<String>| words.iter().position(|w| w == "pagewise" || w == "cargo");
    let from = |words: Vec<String>| start(&words).map(|at| words[at..].to_vec());
    calls
        .into_iter()
        .filter_map(from)
        .map(as_pagewise)
        .collect()
}

/// `cargo run --release -- VERB` is `pagewise VERB`.
fn as_pagewise(words: Vec<String>) -> Vec<String> {
    match words.iter().position(|w| w == "--") {
        Some(at) if words.starts_with(&["cargo".to_owned(), "run".to_owned()]) => {
            ["pagewise".to_owned()]
                .into_iter()
                .chain(words[at + 1..].iter().cloned())
                .collect()
        }
        _ => words,
    }
}

const PAGE: &str = "text\n\n```console\n$ pagewise list fault   # all\nfault: a touch\n\
    $ for n in 1 2; do pagewise run \\\n  x --set 'a b'=1 >out; done\n```\n\n\
    <!-- not run: root -->\n```sh\n# why\napt-get install x\n```\n\n\
    ```text\n$ pagewise no\n```\n";

#[test]
fn the_commands_of_a_page_are_found_with_what_exempts_them() {
    let found = commands(PAGE);
    let texts: Vec<(usize, &str)> = found.iter().map(|c| (c.line, c.text.as_str())).collect();
    let run = "for n in 1 2; do pagewise run x --set 'a b'=1 >out; done";
    assert_eq!(
        texts,
        [
            (4, "pagewise list fault   # all"),
            (6, run),
            (13, "apt-get install x")
        ]
    );
    let exempt: Vec<Option<&str>> = found.iter().map(|c| c.not_run.as_deref()).collect();
    assert_eq!(exempt, [None, None, Some("root")]);
}

#[test]
fn a_command_is_split_as_a_shell_would() {
    assert_eq!(
        calls("pagewise list fault   # all"),
        [["pagewise", "list", "fault"]]
    );
    let looped = calls("for n in 1 2; do pagewise run x --set 'a b'=1 >out; done");
    assert_eq!(looped, [["pagewise", "run", "x", "--set", "a b=1"]]);
    assert_eq!(
        calls("cargo run --release -- show a/b | less"),
        [["pagewise", "show", "a/b"]]
    );
    assert_eq!(
        calls("cargo test --test it"),
        [["cargo", "test", "--test", "it"]]
    );
}

#[test]
fn commands_outside_of_blocks_and_within_sentences_are_found() {
    let page = "    pagewise list\n    pagewise: OK\n    pagewise · overview\n    cargo test\n```sh\n    cargo test\n```\n\
        say `pagewise run` or `x` or `pagewise 1`\n";
    assert_eq!(
        loose(page, &["list".to_owned()]),
        ["1: pagewise list", "4: cargo test"]
    );
    assert_eq!(mentions(page), [(8, "pagewise run".to_owned())]);
}
