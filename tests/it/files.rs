//! The `files` methods, driven by hand and by the laboratory, and the way from a folder to them. No test asserts a time.

use crate::support::place::{Place, said};
use crate::support::sides::{Ended, Launch, Worker};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

const METHODS: [&str; 6] = [
    "read",
    "read-known",
    "mmap",
    "io_uring",
    "packed-pread",
    "packed-mmap",
];

/// One launch of these methods over 70 files of 8 KiB: two full rings of 32 and a part of one.
fn ended(launch: &Launch, methods: &[&str], cache: &str, rounds: u32) -> Ended {
    let worker = Worker::native("c-O3");
    let parameters = [("files", "70"), ("bytes", "8192"), ("cache", cache)];
    let cells: Vec<_> = methods
        .iter()
        .map(|name| (worker.method("files", name), &parameters[..]))
        .collect();
    let ended = launch.alone(&worker, &cells, rounds);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "files",
        &[
            "files/read@c-O0",
            "files/mmap@c-O3",
            "files/packed-mmap@c-O3",
            "files/limit@c-O3",
        ],
    );
}

#[test]
fn every_method_uses_every_word_of_every_file_and_reads_as_often_as_it_says() {
    let launch = Launch::new();
    let ended = ended(&launch, &METHODS, "hot", 2);
    let skipped = |ending: &SideEnding| matches!(ending, SideEnding::Skip { reason, .. } if reason.contains("io_uring"));
    assert!(
        ended.transcript.endings.iter().all(skipped),
        "{:?}",
        ended.transcript.endings
    );
    let calls = [140, 70, 0, 0, 70, 0];
    for (slot, calls) in (0..)
        .zip(calls)
        .filter(|(slot, _)| *slot != 3 || ended.transcript.endings.is_empty())
    {
        let facts = ended.facts(slot);
        let number = |name: &str| facts[name].parse::<u64>().unwrap();
        assert_eq!(
            (facts["digest"], number("sum_wrong")),
            (ended.facts(0)["digest"], 0),
            "{facts:?}"
        );
        assert_eq!(
            (number("total_bytes"), number("resident_before_bytes")),
            (573_440, 573_440),
            "{facts:?}"
        );
        if number("calls_counted") == 1 {
            assert_eq!(number("read_calls"), calls, "slot {slot}: {facts:?}");
        }
    }
}

#[test]
fn a_cold_file_comes_from_the_device_and_a_changed_one_is_noticed() {
    let launch = Launch::new();
    let cold = ended(&launch, &["read", "mmap"], "cold", 1);
    if let Some(SideEnding::Skip { reason, .. }) = cold.transcript.endings.first() {
        return crate::support::skips::skip(reason);
    }
    for slot in 0..2 {
        let facts = cold.facts(slot);
        assert_eq!(facts["resident_before_bytes"], "0", "{facts:?}");
        assert!(
            facts["counted"] == "0" || facts["device_bytes"].parse::<u64>().unwrap() >= 573_440,
            "{facts:?}"
        );
    }
    let changed = launch.folder.path().join("files-70-8192/000033");
    let mut bytes = std::fs::read(&changed).unwrap();
    bytes[8191] ^= 1;
    std::fs::write(&changed, bytes).unwrap();
    let after = ended(&launch, &["read", "mmap", "packed-pread"], "hot", 1);
    let wrong = [0, 1, 2].map(|slot| after.facts(slot)["sum_wrong"].to_owned());
    assert_eq!(wrong, ["1", "1", "0"], "the packed file is another one");
}

#[test]
fn a_folder_leads_to_the_question_about_its_files() {
    let place = Place::new();
    let folder = place.file("many");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    for (name, bytes) in [
        ("a", 100),
        ("b", 9000),
        ("below/c", 9000),
        ("below/d", 100_000),
    ] {
        std::fs::write(folder.join(name), vec![7; bytes]).unwrap();
    }
    std::os::unix::fs::symlink("/", folder.join("link")).unwrap();
    let question = "pagewise run files --set files=4 --set bytes=12KiB";
    let of = format!("file={}", folder.display());
    for words in [
        vec!["run", "read", "--set", &of],
        vec!["advise", "read", "--file", folder.to_str().unwrap()],
    ] {
        let refused = said(&mut place.command(&words));
        assert!(
            refused.code == 1 && refused.err.contains("is a directory"),
            "{words:?}: {}",
            refused.err
        );
        assert!(refused.err.contains(question), "{words:?}: {}", refused.err);
    }
    let mut words: Vec<&str> = question.split(' ').skip(1).collect();
    words.extend(["--set", "cache=hot", "--budget", "3s"]);
    let answer = said(&mut place.command(&words));
    assert!(
        [0, 3].contains(&answer.code) && answer.out.contains("packed-pread"),
        "{} {}",
        answer.out,
        answer.err
    );
}
