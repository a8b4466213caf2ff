//! The programs that do what the articles did: each compiles without a warning, at both levels of optimization, and does its work.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::snippets::{ended, root, which};
use crate::support::place::{Place, said};
use crate::support::skips::skip;
use record::decision::DecisionKind;
use record::folder::RunFolder;

fn source(file: &str) -> PathBuf {
    root("published/programs").join(file)
}

/// Compiles a program as its first lines say, and as the article's -O3 rows have it.
fn compiled(place: &Place, name: &str, level: &str) -> PathBuf {
    let program = place.file(&format!("{name}{level}"));
    let mut cc = Command::new("cc");
    cc.args([level, "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .arg(&program)
        .arg(source(&format!("{name}.c")));
    ended(&mut cc, name).unwrap();
    program
}

/// The numbers that a program prints.
fn numbers(place: &Place, program: &Path, arguments: &[&str]) -> Vec<f64> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place.path());
    let out = ended(&mut command, &format!("{program:?} {arguments:?}")).unwrap();
    out.split([' ', ',', '\n'])
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn the_programs_in_c_compile_without_a_warning_and_do_their_work() {
    let place = Place::new();
    std::fs::write(place.file("block"), vec![7; 1 << 20]).unwrap();
    for level in ["-O0", "-O3"] {
        let [p1, p2, p2b, p2c, p3, p4] =
            ["P1", "P2", "P2b", "P2c", "P3", "P4"].map(|name| compiled(&place, name, level));
        for arguments in [
            &["mmap", "65536", "1000", "10", "region"][..],
            &["shm", "65536", "1000", "10"],
        ] {
            assert_eq!(numbers(&place, &p1, arguments).len(), 2);
        }
        for way in ["memcpy", "vmsplice"] {
            let seconds = numbers(&place, &p2, &[way, "1048576", "block"]);
            assert_eq!(seconds.len(), 2, "it compares every byte that came");
            assert_eq!(numbers(&place, &p2b, &[way, "1048576"]).len(), 1);
        }
        for way in ["pipe", "mmap", "splice"] {
            numbers(&place, &p2c, &[way, "block", "copy"]);
            assert_eq!(
                std::fs::read(place.file("copy")).unwrap(),
                vec![7; 1 << 20],
                "{way}"
            );
        }
        numbers(&place, &p3, &["make", "capture", "1000000"]);
        let sums: Vec<_> = ["fread", "mmap", "populate"]
            .iter()
            .map(|way| numbers(&place, &p3, &[way, "capture"]))
            .collect();
        assert!(sums[0][0] > 1000.0 && sums[0] == sums[1] && sums[1] == sums[2]);
        assert_eq!(numbers(&place, &p4, &["1048576"]).len(), 2);
    }
}

#[test]
fn the_programs_in_java_and_go_compile_where_their_tools_are() {
    let place = Place::new();
    if which("javac") {
        let mut javac = Command::new("javac");
        javac
            .args(["-Xlint:all", "-Werror", "-d"])
            .arg(place.path());
        ended(javac.arg(source("P1.java")), "P1.java").unwrap();
        let region = place.file("java-region").display().to_string();
        let seconds = numbers(
            &place,
            Path::new("java"),
            &["P1", &region, "65536", "1000", "10"],
        );
        assert_eq!(seconds.len(), 2);
    } else {
        skip("there is no javac to compile P1.java with");
    }
    if which("go") {
        let file = place.file("p5_test.go");
        std::fs::copy(source("P5_test.go"), &file).unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
        let mut test = Command::new("go");
        test.args(["test", "-bench", "Touch/.*/1MiB", "-benchtime", "1x"])
            .arg(&file)
            .env("GOCACHE", cache)
            .current_dir(place.path());
        let out = ended(&mut test, "p5_test.go").unwrap();
        assert!(
            out.contains("prefetch/1MiB") && out.contains("fault/1MiB"),
            "{out}"
        );
    } else {
        skip("there is no Go to compile P5_test.go with");
    }
}

/// A copy of a program of ours, with a part of its text replaced.
fn changed(place: &Place, file: &str, name: &str, part: [&str; 2]) -> String {
    let text = std::fs::read_to_string(source(file)).unwrap();
    assert!(text.contains(part[0]), "{file}");
    let path = place.file(name);
    std::fs::write(&path, text.replace(part[0], part[1])).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Compares a copy with the original, and checks that both print these times.
fn compared(place: &Place, words: &[&str], times: &[&str]) {
    let out = place.file("study");
    let end = ["--budget", "2s", "--out", out.to_str().unwrap()];
    let said = place.run(&[&["bench", "--published"], words, &end].concat());
    assert_eq!(said.code, 0, "{words:?}: {}{}", said.out, said.err);
    let printed = std::fs::read_to_string(out.join("printed.md")).unwrap_or_default();
    for part in times.iter().chain(&["original ", "control (A/A)"]) {
        assert!(said.out.contains(part), "{words:?}: {part}: {}", said.out);
    }
    assert!(printed.contains("| original"), "{printed}");
    std::fs::remove_dir_all(&out).unwrap();
}

#[test]
fn a_changed_copy_is_measured_beside_the_original() {
    let place = Place::new();
    let copy = changed(&place, "P4.c", "mine.c", ["memset(p, 0", "memset(p, 2"]);
    compared(&place, &["P4", &copy], &["malloc", "mmap", "mine.c"]);
    let copy = changed(&place, "P3.c", "P3.c", ["MAP_SHARED", "MAP_PRIVATE"]);
    // It prints no time: the whole processes are compared.
    let said = place.run(&[
        "bench",
        "--published",
        "P3",
        &copy,
        "mmap",
        "--budget",
        "1s",
    ]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("original P3.c"), "{}", said.out);
    let wrong = place.file("wrong.c");
    std::fs::write(&wrong, "int main() { return }\n").unwrap();
    let said = place.run(&["bench", "--published", "P4", wrong.to_str().unwrap()]);
    assert!(
        said.code == 1 && said.err.contains("wrong.c does not compile with cc -O0"),
        "{}",
        said.err
    );
}

#[test]
fn changed_copies_in_java_and_go_are_measured_where_their_tools_are() {
    let place = Place::new();
    if which("javac") {
        let copy = changed(&place, "P1.java", "Mine.java", ["class P1", "class Mine"]);
        compared(&place, &["P1", &copy], &["writes", "clears", "Mine.java"]);
    } else {
        skip("there is no javac to compile a copy of P1.java with");
    }
    if which("go") {
        let copy = changed(
            &place,
            "P5_test.go",
            "mine_test.go",
            ["page     = 4096", "page     = 8192"],
        );
        compared(&place, &["P5", &copy], &["an iteration", "mine_test.go"]);
    } else {
        skip("there is no Go to compile a copy of P5_test.go with");
    }
}

#[test]
fn what_to_ask_next_of_an_article_is_a_command_that_is_there() {
    let place = Place::new();
    let mut asked = 0;
    for (path, text) in pagewise::worker::carried::PUBLISHED {
        let article = record::published::Published::parse(path, text).unwrap();
        for next in &article.next {
            let words: Vec<&str> = next.command.split(' ').collect();
            let parsed = <pagewise::cli::Cli as clap::Parser>::try_parse_from(&words);
            assert!(parsed.is_ok(), "{}", next.command);
            if words[1] == "run" {
                let said = place.run(&[&words[1..], &["--dry-run"]].concat());
                let lacks = ["nothing here is measured in", "has no row in"];
                let is_absent = lacks.iter().any(|part| said.err.contains(part));
                assert!(
                    said.code == 0 || is_absent,
                    "{}: {}",
                    next.command,
                    said.err
                );
            }
            asked += 1;
        }
    }
    assert!(asked >= 15, "{asked}");
}

#[test]
fn the_first_figures_of_an_article_wait_for_no_worker_that_must_be_built() {
    if !which("javac") {
        return skip("there is no javac to build the worker of P1's rows in Java with");
    }
    let place = Place::new();
    let out = place.file("run");
    let out = out.to_str().unwrap();
    let run = ["run", "--published", "P1", "--budget", "12s", "--out", out];
    let mut command = place.command(&run);
    // A machine on which nothing was built yet.
    let said = said(command.env("XDG_CACHE_HOME", place.file("home")));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let folder = RunFolder::open(out, Path::new("/nowhere")).unwrap();
    let (plan, state) = (folder.plan().unwrap(), folder.state().unwrap());
    let is_java = |name: &&String| name.starts_with("java");
    assert_eq!(plan.workers.keys().find(is_java), None);
    let launches = folder.launches().unwrap().records;
    assert!(launches[0].sides[0].worker.starts_with("c-"));
    let decisions = folder.decisions().unwrap();
    let is_built = |what: &DecisionKind| matches!(what, DecisionKind::Built { .. });
    let built = decisions
        .iter()
        .position(|decision| is_built(&decision.what));
    let in_java = launches
        .iter()
        .find(|launch| launch.sides[0].worker.starts_with("java"));
    match (built, in_java) {
        (Some(at), Some(launch)) => assert!(at < launch.decisions && at > launches[0].decisions),
        // The machine was too busy for a row in Java.
        (_, launch) => assert!(launch.is_none()),
    }
    assert_eq!(
        state.workers.keys().any(|name| is_java(&name)),
        built.is_some()
    );
}
