//! Hostile names of files, commands and settings go through every verb; none of them steers a terminal.

use report::escape::is_steering;
use std::process::Command;

use crate::support::place::{Place, Said, program};
use crate::support::skips::skip;

/// A name that clears a screen, turns the direction of writing and breaks lines.
/// The private characters were marks of styles once.
const NAME: &str =
    "\u{1b}[2J\u{9b}31m\u{e000}\u{e001}\u{e002}\u{e003}\u{e004}\u{202e}gpj\u{2066}\n=cmd|x\t";

/// Runs these words; nothing that is printed steers.
fn harmless(place: &Place, words: &[&str]) -> String {
    let said = place.run(words);
    is_harmless(words, &said);
    said.out
}

/// Nothing that was printed steers, and nothing died.
pub(crate) fn is_harmless(words: &[&str], said: &Said) {
    // CSV ends its lines by CR and LF.
    for text in [&said.out.replace("\r\n", "\n"), &said.err] {
        let steering = text
            .chars()
            .find(|c| !matches!(c, '\n' | '\t') && is_steering(*c));
        assert_eq!(steering, None, "{words:?} prints {text:?}");
    }
    assert!(
        said.code != 101 && !said.err.contains("panicked"),
        "{words:?}: {}",
        said.err
    );
}

#[test]
fn a_hostile_command_steers_no_verb() {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    for (name, kind) in [
        ("one", "try"),
        ("two", "try"),
        ("three", "profile"),
        ("four", "profile"),
    ] {
        let out = store.join(name);
        let out = out.to_str().unwrap();
        let how: &[&str] = if kind == "try" {
            &["--with", "env:A=\u{1b}[31m", "--pairs", "6"]
        } else {
            &["--blocks", "6"]
        };
        let words = [&[kind, "--out", out], how, &["--", "/bin/echo", NAME]].concat();
        harmless(&place, &words);
        for words in [
            &["report", name][..],
            &["report", name, "--json"],
            &["runs", "show", name],
            &["runs"],
            &["runs", "--json"],
        ] {
            let shown = harmless(&place, words);
            assert!(
                words.len() != 2 || words[0] == "runs" || shown.contains("\\x1b[2J"),
                "{words:?}: {shown}"
            );
        }
        // D12: with colors, too, they are characters of the command.
        let styled = place.run(&["report", name, "--color", "always"]).out;
        assert!(styled.contains("\u{e003}\u{e004}"), "{styled:?}");
        for format in ["csv", "ndjson", "hyperfine"] {
            let text = harmless(&place, &["report", name, "--format", format]);
            assert!(
                !text.split(['\n', ',']).any(|field| field.starts_with('=')),
                "{text}"
            );
        }
    }
    harmless(&place, &["compare", "one", "two"]);
    harmless(&place, &["compare", "three", "four"]);
}

#[test]
fn a_hostile_name_steers_no_error() {
    let place = Place::new();
    let folder = place.file(&format!("home/{NAME}"));
    std::fs::create_dir(&folder).unwrap();
    let inside = folder.join("x");
    std::fs::write(&inside, "not what is expected").unwrap();
    let (folder, file) = (folder.to_str().unwrap(), inside.to_str().unwrap());
    for words in [
        vec!["list", NAME],
        vec!["show", NAME],
        vec!["run", NAME],
        vec![NAME],
        vec!["run", "--budget", NAME],
        vec!["run", NAME, "--out", file],
        vec!["run", "fault", "--set", NAME],
        vec!["check", NAME],
        vec!["report", folder],
        vec!["report", folder, "--format", "csv"],
        vec!["compare", folder, file],
        vec!["runs", "show", file],
        vec!["runs", "--tag", NAME],
        vec!["runs", "--since", NAME],
        vec!["compare", "--outliers", folder],
        vec!["claims", "--file", file],
        vec!["advise", "--out", file],
        vec!["advise", NAME],
        vec!["try", "--with", file, "--", "/bin/true"],
        vec!["try", "--with", "keep", "--", file],
        vec!["profile", "--", file],
        vec!["--worker", file, "list"],
        vec!["--experiments", folder, "list"],
        vec!["man", "--out", file],
    ] {
        harmless(&place, &words);
    }
}

/// pprof's bytes may be anything that a terminal obeys.
#[test]
fn a_terminal_gets_no_pprof() {
    let place = Place::new();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/kept/profile");
    let profile = place.file("home/profile");
    crate::damaged::copy(std::path::Path::new(kept), &profile);
    let program = program();
    {
        let verb = "report";
        let words = [verb, profile.to_str().unwrap(), "--format", "pprof"];
        let piped = place.command(&words).output().unwrap();
        assert!(piped.status.success() && piped.stdout.contains(&0));
        let line = format!("{} {}", program.to_str().unwrap(), words.join(" "));
        let mut terminal = Command::new("script");
        place.settle(&mut terminal);
        // Its terminal is the standard output of the command.
        terminal.args(["-qec", &line, "/dev/null"]);
        let Ok(output) = terminal.stdin(std::process::Stdio::null()).output() else {
            return skip("there is no script of util-linux, which makes a terminal");
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{verb}: {text:?}");
        assert!(text.contains("pprof is binary"), "{verb}: {text:?}");
        let steering = text
            .chars()
            .find(|c| !"\r\n".contains(*c) && is_steering(*c));
        assert_eq!(steering, None, "{verb}: {text:?}");
    }
}

/// D24: a symbol holds any bytes; exports and screens show them escaped.
#[test]
fn a_hostile_function_steers_no_export() {
    if !crate::profile::may_follow() {
        return skip("perf's software events may not be had");
    }
    let place = Place::new();
    let source = r#"
#include <sys/mman.h>
enum { BYTES = 32 << 20 };
__attribute__((noinline, noclone)) int planted(volatile char *p)
    __asm__("evil\xc2\x9b""31m\xe2\x80\xae\xe2\x80\xa8\xee\x80\x81");
int planted(volatile char *p) { for (int i = 0; i < BYTES; i += 4096) p[i] = 1; return p[0]; }
int main(void) {
    char *p = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, BYTES, MADV_NOHUGEPAGE);
    return planted(p) - 1;
}
"#;
    let Some(program) = crate::profile::built(&place, "evil", source, &[]) else {
        return skip("there is no gcc that takes any byte in a symbol");
    };
    let profile = place.file("home/profile");
    let profile = profile.to_str().unwrap();
    let words = ["profile", "--blocks", "6", "--out", profile, "--"];
    harmless(&place, &[&words[..], &[program.to_str().unwrap()]].concat());
    for format in ["folded", "firefox"] {
        let text = harmless(&place, &["report", profile, "--format", format]);
        assert!(text.contains("evil"), "{format}: {text}");
    }
    for words in [
        &["report", profile][..],
        &["report", profile, "--json"],
        &["report", profile, "--format", "csv"],
    ] {
        harmless(&place, words);
    }
}

/// D23: the value of the setting that won has lines, which are no lines of the files that deploy it.
#[test]
fn a_value_with_ends_of_lines_is_no_order_where_it_is_deployed() {
    let place = Place::new();
    let deployed = place.file("home/deployed");
    let setting = "env:FAST=1\nExecStartPre=/bin/evil\nRUN evil\ntouch evil";
    let work = "[ -n \"$FAST\" ] || { i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; }";
    let words = ["try", "--pairs", "16", "--with", setting, "--emit"];
    let command = ["--", "sh", "-c", work];
    let tried = [&words[..], &[deployed.to_str().unwrap()], &command].concat();
    let shown = harmless(&place, &tried);
    let files = crate::support::place::entries(&deployed);
    assert!(!files.is_empty(), "it wins, and is deployed: {shown}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // In a shell's quotes a line is a part of the value.
        if file.extension().is_some_and(|name| name == "sh") {
            continue;
        }
        let orders = ["ExecStartPre", "RUN", "touch"];
        let order = text
            .lines()
            .find(|line| orders.iter().any(|order| line.starts_with(order)));
        assert_eq!(order, None, "{}: {text}", file.display());
    }
    let script = deployed.join("environment.sh");
    let mut shell = Command::new("sh");
    let line = ". \"$0\"; printf %s \"$FAST\"";
    shell.current_dir(place.file("home"));
    shell.args(["-c", line]).arg(&script);
    let output = shell.output().unwrap();
    let value = setting.strip_prefix("env:FAST=").unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), value);
    assert!(!place.file("home/evil").exists());
}
