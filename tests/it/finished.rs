//! What is there is not replaced: finished records of each kind, resumed by each verb, and files that are no advice.

use std::path::PathBuf;

use crate::claims::OWN;
use crate::support::place::{Place, Said, entries};
use crate::trust::{refused, tree};

const SOURCE: &str = "#include <pagewise.h>\nBENCH(work) { PHASE(\"work\") { for (volatile int i = 0; i < 1000; i++); } \
                      RESULT(1); }\n";

/// Words that make one kept folder of each kind.
fn commands(source: &str, claim: &str) -> Vec<(&'static str, Vec<String>)> {
    let lines = [
        (
            "run",
            "run fault/touch@c-O3 --set bytes=1MiB --launches 1 --budget 5s",
        ),
        ("tail", "run tail/touch@c-O3 --launches 1 --budget 5s"),
        ("claims", "claims --file CLAIM --fresh --budget 30s"),
        ("bench", "bench SOURCE --launches 1 --budget 2s"),
        ("try", "try --with keep --pairs 6 -- /bin/true"),
        ("profile", "profile --blocks 6 -- /bin/true"),
    ];
    let words = |line: &str| {
        let line = line.replace("CLAIM", claim).replace("SOURCE", source);
        line.split(' ').map(str::to_owned).collect()
    };
    lines.map(|(kind, line)| (kind, words(line))).into()
}

/// Words that resume a kept folder by each verb.
fn resumptions(source: &str, run: &str) -> [Vec<String>; 4] {
    [
        "run --resume RUN --budget 4s",
        "bench SOURCE --resume RUN --budget 4s",
        "try --resume RUN --with keep -- /bin/true",
        "profile --resume RUN -- /bin/true",
    ]
    .map(|line| {
        let line = line.replace("RUN", run).replace("SOURCE", source);
        line.split(' ').map(str::to_owned).collect()
    })
}

fn run(place: &Place, words: &[String]) -> Said {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn no_verb_changes_a_finished_record_of_any_kind() {
    let place = Place::new();
    let (source, claim) = (place.file("home/mine.c"), place.file("home/claim.toml"));
    std::fs::write(&source, SOURCE).unwrap();
    std::fs::write(&claim, OWN).unwrap();
    let (source, claim) = (source.to_str().unwrap(), claim.to_str().unwrap());
    let store = place.file("data/pagewise/runs");
    let mut kept: Vec<(&str, PathBuf)> = Vec::new();
    for (kind, words) in commands(source, claim) {
        let before = entries(&store);
        let made = run(&place, &words);
        assert!(
            [0, 4].contains(&made.code),
            "{kind}: {}{}",
            made.out,
            made.err
        );
        let new = entries(&store)
            .into_iter()
            .find(|run| !before.contains(run));
        kept.push((kind, new.expect("it is kept")));
    }
    let seen = || tree(&["data", "home"].map(|name| place.file(name)));
    let before = seen();
    for (kind, folder) in &kept {
        for words in resumptions(source, folder.to_str().unwrap()) {
            let result = run(&place, &words);
            let is_own =
                words[0] == *kind || words[0] == "run" && ["tail", "claims"].contains(kind);
            refused(&result, if is_own { "is finished" } else { "there is no" });
            assert_eq!(seen(), before, "{kind}: {words:?}");
        }
    }
}

/// Advice is saved over advice only: any other file stays, and is named before anything is measured.
#[test]
fn advice_replaces_no_file_that_is_none() {
    let place = Place::new();
    let (advice, file) = (
        place.file("home/advice.json"),
        place.file("home/thesis.txt"),
    );
    let (advice, path) = (advice.to_str().unwrap(), file.to_str().unwrap());
    let saved = place.run(&[
        "advise", "--save", "fault", "--budget", "2s", "--out", advice,
    ]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    std::fs::write(&file, "ten years").unwrap();
    for words in [
        &["advise", "--merge", advice, "--out", path][..],
        &["advise", "--save", "fault", "--budget", "2s", "--out", path],
    ] {
        let runs = entries(&place.file("data/pagewise/runs"));
        let result = place.run(words);
        assert!(
            result.code == 1 && result.err.contains("is no advice; --force replaces it"),
            "{}",
            result.err
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "ten years");
        assert_eq!(
            entries(&place.file("data/pagewise/runs")),
            runs,
            "it measured first"
        );
    }
    let forced = place.run(&["advise", "--merge", advice, "--out", path, "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.err);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        std::fs::read_to_string(advice).unwrap()
    );
    // Advice replaces advice.
    assert_eq!(
        place
            .run(&["advise", "--merge", advice, "--out", path])
            .code,
        0
    );
}
