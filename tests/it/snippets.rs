//! The code that advice prints: every method has it, in every language of its topic, and it does its work on files of any size.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use pagewise::plan::{Laboratory, advice, catalog};
use pagewise::worker::{self, Language};

use crate::support::place::Place;
use crate::support::skips::{skip, thorough};
use crate::support::wishes::wish;

pub fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Files of the bytes 3, with the sums of them: empty ones, around a page, and a large one.
fn files_of_threes(place: &Place) -> Vec<(String, String)> {
    let made = [0, 1, 4095, 4096, 100 << 20].map(|bytes: usize| {
        let path = place.file(&format!("file-{bytes}"));
        std::fs::write(&path, vec![3; bytes]).unwrap();
        (path.display().to_string(), (3 * bytes).to_string())
    });
    made.into()
}

/// Ends with a status; 77 says that this machine cannot.
pub fn ended(command: &mut Command, what: &str) -> Option<String> {
    let output = command.output().unwrap_or_else(|e| panic!("{what}: {e}"));
    match output.status.code() {
        Some(0) => Some(String::from_utf8(output.stdout).unwrap()),
        Some(77) => {
            skip(&format!("{what} cannot run here"));
            None
        }
        _ => panic!(
            "{what}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

pub fn compiled(place: &Place, name: &str, sources: &[PathBuf]) -> PathBuf {
    let program = place.file(name);
    let mut cc = Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
        "-o",
    ])
    .arg(&program)
    .args(sources);
    let output = cc.arg("-I").arg(root("consumers/c")).output().unwrap();
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

#[test]
fn every_way_has_a_snippet_in_c_that_does_its_work() {
    let place = Place::new();
    let files = files_of_threes(&place);
    for topic in advice::topics().unwrap() {
        for method in topic
            .ways
            .iter()
            .map(|w| &w.method)
            .chain([&topic.baseline])
        {
            let source = root(&format!("snippets/{}/{method}.c", topic.experiment));
            let text = std::fs::read_to_string(&source)
                .unwrap_or_else(|_| panic!("{} is missing", source.display()));
            assert_eq!(
                text.matches("/* --- */\n").count(),
                2,
                "{}: what is shown lies between two marks",
                source.display()
            );
            let program = compiled(&place, &format!("{}-{method}", topic.experiment), &[source]);
            let calls = match topic.id.as_str() {
                "read" => files.clone(),
                "message" => vec![("64".to_owned(), "64".to_owned())],
                _ => vec![("4194304".to_owned(), "4194304".to_owned())],
            };
            for (argument, expected) in calls {
                let what = format!("{}/{method} {argument}", topic.experiment);
                if let Some(out) = ended(
                    Command::new(&program)
                        .arg(argument)
                        .current_dir(place.path()),
                    &what,
                ) {
                    assert_eq!(out.trim(), expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn snippets_of_other_languages_run_where_their_tools_are() {
    let place = Place::new();
    let files = files_of_threes(&place);
    let all = thorough();
    let mut ran: BTreeMap<&str, usize> =
        BTreeMap::from([("go", 0), ("java", 0), ("python3", 0), ("rustc", 0)]);
    for folder in std::fs::read_dir(root("snippets"))
        .unwrap()
        .flatten()
        .filter(|folder| all || folder.file_name() == "read")
    {
        for file in std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .map(|e| e.path())
        {
            let what = file.display().to_string();
            let (tool, mut command) = match file.extension().and_then(|e| e.to_str()) {
                Some("go") if which("go") => {
                    let mut build = Command::new("go");
                    // Below the build's folder: Go compiles its library once, and not in each run of the tests.
                    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
                    build
                        .args(["build", "-o"])
                        .arg(place.file("go-program"))
                        .arg(&file);
                    ended(
                        build
                            .env("GOCACHE", cache)
                            .env("GOFLAGS", "-buildvcs=false"),
                        &what,
                    )
                    .unwrap();
                    ("go", vec![place.file("go-program")])
                }
                Some("rs") if which("rustc") => {
                    let program = place.file("rust-program");
                    ended(
                        Command::new("rustc")
                            .args(["-O", "-o"])
                            .arg(&program)
                            .arg(&file),
                        &what,
                    )
                    .unwrap();
                    ("rustc", vec![program])
                }
                Some("java") if which("java") && !what.contains("memory-segment") => {
                    ("java", vec!["java".into(), file])
                }
                Some("py") if which("python3") && (!what.contains("numpy") || has_numpy()) => {
                    ("python3", vec!["python3".into(), file])
                }
                _ => continue,
            };
            *ran.get_mut(tool).unwrap() += 1;
            let program = command.remove(0);
            let shared = [(place.file("shared").display().to_string(), String::new())];
            let fresh = [("4194304".to_owned(), String::new())];
            let calls = match (what.contains("/read/"), tool) {
                (true, _) => &files[..],
                (false, "java") => &shared[..],
                (false, _) => &fresh[..],
            };
            for (argument, expected) in calls {
                let mut call = Command::new(&program);
                let out = ended(
                    call.args(&command).arg(argument).current_dir(place.path()),
                    &what,
                )
                .unwrap();
                assert!(
                    expected.is_empty() || out.trim() == expected,
                    "{what} {argument}: {out}"
                );
            }
        }
    }
    for (tool, _) in ran.iter().filter(|(_, count)| **count == 0) {
        skip(&format!("there is no {tool} to run the snippets with"));
    }
}

fn has_numpy() -> bool {
    Command::new("python3")
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|output| output.status.success())
}

pub fn which(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join(program).is_file())
}

#[test]
fn each_language_has_its_usual_choice_and_a_snippet_of_it() {
    let laboratory = Laboratory {
        experiments: catalog::experiments(None).unwrap(),
        workers: worker::all(&[], &[]).unwrap(),
    };
    let workers = &laboratory.workers;
    let is_here = |word: &str| {
        workers
            .iter()
            .any(|w| w.language() == Language::named(word))
    };
    for topic in advice::topics().unwrap() {
        for language in topic.languages.keys().filter(|word| is_here(word)) {
            let own = advice::in_language(&topic, language, workers).unwrap();
            let request =
                advice::request(own, &advice::AdviceTerms::default(), &laboratory, &wish());
            let request = request.unwrap_or_else(|e| panic!("{} in {language}: {e:#}", topic.id));
            assert!(
                request
                    .methods
                    .iter()
                    .all(|(_, cell)| cell.worker.starts_with(language.as_str())),
                "{language}"
            );
            let end = match language.as_str() {
                "python" => "py",
                "rust" => "rs",
                other => other,
            };
            let has =
                |way: &str| root(&format!("snippets/{}/{way}.{end}", topic.experiment)).is_file();
            let ways = request.methods.iter().map(|(name, _)| name.as_str());
            let baseline = topic.languages[language].as_str();
            assert!(
                has(baseline),
                "{} in {language}: no snippet of {baseline}",
                topic.id
            );
            if ["read", "fault", "load", "output", "allocate"].contains(&topic.id.as_str()) {
                // A ring without a crate is 200 lines, and none is here to be tested with.
                let lacking: Vec<_> = ways.filter(|way| !has(way) && *way != "io_uring").collect();
                assert!(
                    lacking.is_empty(),
                    "{} in {language}: no snippet of {lacking:?}",
                    topic.id
                );
            }
        }
    }
    assert!(advice::in_language(&advice::topic("copy").unwrap(), "go", workers).is_err());
}
