//! `bench --save-baseline` and `--gate`: what is worse than a saved baseline is named, counts exactly, time with its
//! interval.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, Said, program, said};
use crate::support::skips::skip;

/// A function whose phase makes so many calls, allocations and steps.
fn source(reads: u32, allocations: u32, steps: u32) -> String {
    format!(
        "#include <pagewise.h>\n#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         BENCH(work) {{\n int fd = open(\"/dev/zero\", O_RDONLY);\n char bytes[100];\n PHASE(\"work\") {{\n  \
         for (int i = 0; i < {reads}; i++) if (read(fd, bytes, sizeof bytes) != sizeof bytes) FAIL(\"read\");\n  \
         for (int i = 0; i < {allocations}; i++) {{ void *volatile p = malloc(50); free(p); }}\n  \
         for (volatile int i = 0; i < {steps}; i++);\n }}\n RESULT(1);\n close(fd);\n}}\n"
    )
}

fn bench(place: &Place, file: &str, more: &[&str]) -> Said {
    said(&mut place.command(&[&["bench", file], more].concat()))
}

/// Saves a file with this text as the baseline `main`.
fn saved(place: &Place, text: &str) -> String {
    let file = place.file("mine.c");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let result = bench(place, &file, &["--save-baseline", "main", "--budget", "1s"]);
    assert_eq!(result.code, 0, "{}", result.err);
    file
}

/// The compared counts of a gate by name: verdict, before and now.
fn counts(gate: &Said) -> Vec<(String, String, u64, u64)> {
    let gate: Value =
        serde_json::from_str(&gate.out).unwrap_or_else(|_| panic!("{}{}", gate.out, gate.err));
    let one = |count: &Value| {
        let text = |key: &str| count[key].as_str().unwrap().to_owned();
        (
            text("count"),
            text("gate"),
            count["a"]["max"].as_u64().unwrap(),
            count["b"]["max"].as_u64().unwrap(),
        )
    };
    gate["counts"]
        .as_array()
        .map(|all| all.iter().map(one).collect())
        .unwrap_or_default()
}

/// Whether a tracer may count here.
fn counted(counts: &[(String, String, u64, u64)]) -> bool {
    let is_counted = counts.iter().any(|(name, ..)| name == "calls");
    if !is_counted {
        skip("ptrace is not permitted here");
    }
    is_counted
}

#[test]
fn a_gate_on_counts_is_exact_and_names_what_is_worse() {
    let place = Place::new();
    let file = saved(&place, &source(10, 3, 1000));
    let same = bench(&place, &file, &["--gate", "counts", "--json"]);
    let all = counts(&same);
    assert_eq!(same.code, 0, "{all:?} {}", same.err);
    if !counted(&all) {
        return;
    }
    let of = |all: &[(String, String, u64, u64)], name: &str| {
        let (_, gate, before, now) = all
            .iter()
            .find(|(count, ..)| count == name)
            .unwrap()
            .clone();
        (gate, before, now)
    };
    assert_eq!(of(&all, "calls"), ("passes".to_owned(), 10, 10));
    assert_eq!(of(&all, "read_bytes"), ("passes".to_owned(), 1000, 1000));
    assert_eq!(of(&all, "allocations"), ("passes".to_owned(), 3, 3));
    assert_eq!(of(&all, "allocated_bytes"), ("passes".to_owned(), 150, 150));
    std::fs::write(&file, source(11, 2, 1000)).unwrap();
    let worse = bench(&place, &file, &["--gate", "counts", "--json"]);
    let all = counts(&worse);
    assert_eq!(worse.code, 2, "{all:?}");
    assert_eq!(of(&all, "calls"), ("regression".to_owned(), 10, 11));
    assert_eq!(of(&all, "allocations"), ("passes".to_owned(), 3, 2));
    let markdown = bench(&place, &file, &["--gate", "counts", "--markdown"]);
    assert_eq!(markdown.code, 2, "{}", markdown.err);
    for words in [
        "Gate closed: worse: calls of work in work",
        "| work",
        "| 10 | 11 |",
        "less",
    ] {
        assert!(markdown.out.contains(words), "{words}: {}", markdown.out);
    }
    assert!(
        !markdown.out.contains('\x1b') && !markdown.out.contains("The run is kept"),
        "{}",
        markdown.out
    );
}

#[test]
fn a_gate_on_time_sees_twice_the_work_and_has_an_interval() {
    let place = Place::new();
    let file = saved(&place, &source(1, 0, 50_000));
    std::fs::write(&file, source(1, 0, 100_000)).unwrap();
    let result = bench(&place, &file, &["--gate", "3%", "--budget", "3s", "--json"]);
    let gate: Value = serde_json::from_str(&result.out).unwrap();
    let cell = &gate["cells"][0];
    // A busy machine may leave it undecided; it is never passed.
    assert!(result.code == 2 || result.code == 3, "{cell}");
    assert!(cell["quotient"].as_f64().unwrap() > 1.03, "{cell}");
    assert!(
        cell["ratio"]["low"].as_f64() < cell["ratio"]["high"].as_f64(),
        "{cell}"
    );
    assert!(
        gate.get("counts").is_none(),
        "nobody asked for counts: {gate}"
    );
}

#[test]
fn a_gate_needs_a_baseline_and_terms() {
    let place = Place::new();
    let file = place.file("mine.c");
    std::fs::write(&file, source(1, 0, 10)).unwrap();
    let file = file.to_str().unwrap();
    for (more, words) in [
        (
            &["--gate", "counts"][..],
            "no kept run has the tag \"main\"",
        ),
        (
            &["--gate", "all"],
            "--gate takes counts, or a share of time such as 3%",
        ),
        (
            &["--gate", "counts", "--against", "c-O3"],
            "is the name of a worker",
        ),
        (&["--markdown"], "--gate"),
    ] {
        let result = bench(&place, file, more);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{words}: {}",
            result.err
        );
    }
}

#[test]
fn a_saved_library_is_the_one_that_was_saved() {
    let place = Place::new();
    let (source, library) = (place.file("lib.c"), place.file("libmine.so"));
    let made = |calls: u32| {
        let text = format!(
            "#include <unistd.h>\nvoid f(void *c) {{ for (int i = 0; i < {calls}; i++) getppid(); }}\n"
        );
        std::fs::write(&source, text).unwrap();
        let mut cc = Command::new("cc");
        let soname = "-Wl,-soname,libmine.so.1";
        assert!(
            cc.args(["-shared", "-fPIC", soname, "-o"])
                .arg(&library)
                .arg(&source)
                .status()
                .unwrap()
                .success()
        );
        std::fs::copy(&library, place.file("libmine.so.1")).unwrap();
    };
    let what = format!("{}:f", library.display());
    made(4);
    let out = place.file("base");
    let result = bench(
        &place,
        &what,
        &[
            "--save-baseline",
            "base",
            "--out",
            out.to_str().unwrap(),
            "--budget",
            "1s",
        ],
    );
    assert_eq!(result.code, 0, "{}", result.err);
    made(6);
    let result = bench(
        &place,
        &what,
        &[
            "--gate",
            "counts",
            "--against",
            out.to_str().unwrap(),
            "--json",
        ],
    );
    let all = counts(&result);
    if counted(&all) {
        let (_, gate, before, now) = all.iter().find(|(name, ..)| name == "calls").unwrap();
        assert_eq!(
            (gate.as_str(), *before, *now, result.code),
            ("regression", 4, 6, 2)
        );
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = command
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file in a part of a repository, with a header beside that part: the base is another revision, the change is not committed.
#[test]
fn the_base_may_be_another_revision() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip("git is missing");
    }
    let place = Place::new();
    let checkout = place.file("checkout");
    let part = checkout.join("libs/part");
    std::fs::create_dir_all(&part).unwrap();
    let text = |reads| {
        let text = source(reads, 0, 1000);
        format!("#include \"../common.h\"\n{text}").replace("sizeof bytes", "LENGTH")
    };
    std::fs::write(checkout.join("libs/common.h"), "#define LENGTH 100\n").unwrap();
    std::fs::write(part.join("mine.c"), text(2)).unwrap();
    git(&checkout, &["init", "--quiet"]);
    git(&checkout, &["add", "libs"]);
    git(&checkout, &["commit", "--quiet", "-m", "base"]);
    std::fs::write(part.join("mine.c"), text(3)).unwrap();
    let file = part.join("mine.c");
    let file = file.to_str().unwrap();
    let result = bench(
        &place,
        file,
        &["--gate", "counts", "--base", "HEAD", "--json"],
    );
    let all = counts(&result);
    if counted(&all) {
        let (_, gate, before, now) = all.iter().find(|(name, ..)| name == "calls").unwrap();
        let expected = ("regression", 2, 3, 2);
        assert_eq!((gate.as_str(), *before, *now, result.code), expected);
    }
    // Nothing of it stays, in the repository or elsewhere.
    let output = Command::new("git")
        .arg("-C")
        .arg(&checkout)
        .args(["worktree", "list"])
        .output()
        .unwrap();
    let trees = String::from_utf8(output.stdout).unwrap();
    assert_eq!(trees.lines().count(), 1, "{trees}");
    assert!(crate::support::place::entries(&place.file("tmp")).is_empty());
    std::fs::write(part.join("new.c"), text(1)).unwrap();
    let new = part.join("new.c");
    let outside = place.file("outside.c");
    std::fs::write(&outside, text(1)).unwrap();
    for (file, base, words) in [
        (file, "no-such", "there is no revision \"no-such\""),
        (
            new.to_str().unwrap(),
            "HEAD",
            "HEAD has no file libs/part/new.c",
        ),
        (outside.to_str().unwrap(), "HEAD", "is in no git repository"),
    ] {
        let result = bench(&place, file, &["--gate", "counts", "--base", base]);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{base}: {}",
            result.err
        );
    }
}

/// The composite action, its steps played as a runner does, on a repository with a base and a change.
#[test]
fn the_action_comments_what_a_change_makes_worse() {
    let has = |program: &str, argument: &[&str]| {
        Command::new(program)
            .args(argument)
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if !has("git", &["--version"])
        || !has("curl", &["--version"])
        || !has("python3", &["-c", "import yaml"])
    {
        return skip("git, curl, or Python with its package yaml is missing");
    }
    let place = Place::new();
    let checkout = place.file("checkout");
    std::fs::create_dir(&checkout).unwrap();
    git(&checkout, &["init", "--quiet"]);
    std::fs::write(checkout.join("mine.c"), source(2, 0, 1000)).unwrap();
    git(&checkout, &["add", "mine.c"]);
    git(&checkout, &["commit", "--quiet", "-m", "base"]);
    git(
        &checkout,
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
    );
    std::fs::write(checkout.join("mine.c"), source(3, 0, 1000)).unwrap();
    git(&checkout, &["commit", "--quiet", "-am", "change"]);
    let api = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", api.local_addr().unwrap());
    let comment = std::thread::spawn(move || received(&api));
    std::fs::write(
        place.file("event.json"),
        "{\"pull_request\": {\"number\": 7}}",
    )
    .unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("python3");
    place.settle(&mut command);
    command
        .arg(root.join("packaging/action/play.py"))
        .arg(root.join("action.yml"))
        .args(["file=mine.c", "install="]);
    command
        .arg(format!("pagewise={}", program().to_string_lossy()))
        .current_dir(&checkout);
    command
        .env("GITHUB_EVENT_NAME", "pull_request")
        .env("GITHUB_EVENT_PATH", place.file("event.json"));
    command
        .env("GITHUB_BASE_REF", "main")
        .env("GITHUB_REPOSITORY", "owner/name")
        .env("GITHUB_API_URL", &address);
    command
        .env("GITHUB_TOKEN", "secret")
        .env("RUNNER_TEMP", place.file("runner"));
    command
        .env("GITHUB_STEP_SUMMARY", place.file("summary.md"))
        .env("no_proxy", "127.0.0.1");
    std::fs::create_dir(place.file("runner")).unwrap();
    let result = said(&mut command);
    assert_eq!(result.code, 1, "{}{}", result.out, result.err);
    assert!(
        result.out.contains("pagewise: worse"),
        "{}{}",
        result.out,
        result.err
    );
    let request = comment.join().unwrap();
    assert!(
        request.starts_with("POST /repos/owner/name/issues/7/comments "),
        "{request}"
    );
    assert!(
        request.contains("Bearer secret") && request.contains("calls of work in work"),
        "{request}"
    );
    let summary = std::fs::read_to_string(place.file("summary.md")).unwrap();
    assert!(summary.contains("Gate closed"), "{summary}");
    let kept = |name: &str| place.file("runner/artifacts/pagewise").join(name).exists();
    assert!(
        kept("result.md") && kept("base/plan.json") && kept("change/plan.json"),
        "{}{}",
        result.out,
        result.err
    );
}

/// One request to the API, answered with success.
fn received(api: &std::net::TcpListener) -> String {
    use std::io::{Read, Write};
    let (mut stream, _) = api.accept().unwrap();
    let (mut request, mut part) = (String::new(), [0; 4096]);
    loop {
        let got = stream.read(&mut part).unwrap();
        request += &String::from_utf8_lossy(&part[..got]);
        let length = request
            .split("Content-Length: ")
            .nth(1)
            .and_then(|rest| rest.lines().next()?.parse().ok());
        let body = request
            .split_once("\r\n\r\n")
            .map_or(0, |(_, body)| body.len());
        if got == 0 || length.is_some_and(|length: usize| body >= length) {
            break;
        }
    }
    stream
        .write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        .unwrap();
    request
}
