//! Other users, planted files, kept runs of strangers, and commands that are refused: nothing of theirs is executed or
//! obeyed, and nothing changes.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use record::folder::{RunFolder, sha256_hex};
use serde_json::Value;

use crate::kept_runs::with_runs;
use crate::support::place::{Place, Said, entries, program, said};
use crate::support::skips::{skip, thorough};

/// A run of a second.
const TINY: [&str; 8] = [
    "run",
    "fault/touch@c-O3",
    "--set",
    "bytes=1MiB",
    "--launches",
    "1",
    "--budget",
    "10s",
];
/// The user `nobody`.
pub const NOBODY: &str = "65534";

/// Paths below a folder, sorted.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in entries(folder) {
        if path.is_dir() && !path.is_symlink() {
            all.extend(below(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

/// Paths, permissions and content of everything below some folders.
pub fn tree(folders: &[PathBuf]) -> String {
    let mut text = String::new();
    for path in folders.iter().flat_map(|folder| below(folder)) {
        let about = std::fs::symlink_metadata(&path).unwrap();
        let content = if about.is_file() {
            sha256_hex(&[&std::fs::read(&path).unwrap()])
        } else {
            String::new()
        };
        text += &format!(
            "{} {:o} {content}\n",
            path.display(),
            about.permissions().mode()
        );
    }
    text
}

/// Everything that commands of a place may write to, but for the cache.
fn written(place: &Place) -> Vec<PathBuf> {
    ["data", "tmp", "home"].map(|name| place.file(name)).into()
}

pub fn refused(result: &Said, part: &str) {
    assert_eq!(result.code, 1, "{}{}", result.out, result.err);
    assert!(
        result.err.lines().count() == 1 && result.err.contains(part),
        "{:?} does not say {part:?}",
        result.err
    );
}

pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip("only root can make files of another user");
    }
    root
}

pub fn give_away(path: &Path) {
    assert!(
        Command::new("chown")
            .args(["-R", NOBODY])
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

/// Replaces a program by a script of the same length and permissions that leaves a mark.
pub fn plant(program: &Path, mark: &Path) {
    let length = std::fs::metadata(program).unwrap().len() as usize;
    let mut script = format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display());
    script += &"#".repeat(length - script.len());
    std::fs::write(program, script).unwrap();
}

/// A place whose cache is its own.
fn with_cache(place: &Place, cache: &Path) -> Command {
    let mut command = place.command(&TINY);
    command.arg("--json").env("XDG_CACHE_HOME", cache);
    command
}

fn is_program(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "pagewise-helper" || name.starts_with("worker-")
}

/// Finding 1: without a cache of its own, nothing is executed from a folder that others can foretell.
#[test]
fn programs_planted_in_the_temporary_folder_are_not_run() {
    let place = Place::new();
    let mark = place.file("mark");
    let run = || said(with_cache(&place, Path::new("/dev/null/none")).env("HOME", "/dev/null"));
    let first = run();
    assert_eq!(first.code, 0, "{}", first.err);
    below(&place.file("tmp"))
        .iter()
        .filter(|path| is_program(path))
        .for_each(|path| plant(path, &mark));
    let second = run();
    assert!(!mark.exists(), "a planted program ran");
    assert_eq!(second.code, 0, "{}", second.err);
    assert_eq!(entries(&place.file("tmp")), [] as [PathBuf; 0]);
}

/// Finding 1: a cache of another user is not believed, and not changed.
#[test]
fn the_cache_of_another_user_is_not_taken() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (cache, mark) = (place.file("cache"), place.file("mark"));
    assert_eq!(said(&mut with_cache(&place, &cache)).code, 0);
    below(&cache)
        .iter()
        .filter(|path| is_program(path))
        .for_each(|path| plant(path, &mark));
    give_away(&cache);
    let before = tree(std::slice::from_ref(&cache));
    let result = said(&mut with_cache(&place, &cache));
    assert!(!mark.exists(), "a planted program ran");
    assert_eq!((result.code, tree(&[cache])), (0, before), "{}", result.err);
}

/// Finding 11: the worker's hash in the plan is that of the file that was executed.
#[test]
fn the_recorded_hash_is_that_of_the_executed_program() {
    let place = Place::new();
    let cache = place.file("cache");
    assert_eq!(said(&mut with_cache(&place, &cache)).code, 0);
    let worker = below(&cache)
        .into_iter()
        .find(|path| path.ends_with("worker-c-O3"))
        .unwrap();
    let mut bytes = std::fs::read(&worker).unwrap();
    // The last bytes hold the names of sections, which nothing reads that runs.
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&worker, bytes).unwrap();
    assert_eq!(said(&mut with_cache(&place, &cache)).code, 0);
    let newest = entries(&place.file("data/pagewise/runs")).pop().unwrap();
    let plan: Value =
        serde_json::from_slice(&std::fs::read(newest.join("plan.json")).unwrap()).unwrap();
    assert_eq!(
        plan["workers"]["c-O3"],
        sha256_hex(&[&std::fs::read(&worker).unwrap()])
    );
}

/// Whether a run came to its end. On a machine that others use, a second may measure nothing that can be judged: code 4.
fn ran(result: &Said) -> bool {
    [0, 4].contains(&result.code)
}

/// Finding 11: sources of an interpreted worker that were changed are not run.
#[test]
fn changed_sources_of_a_worker_are_replaced() {
    let place = Place::new();
    let (cache, mark) = (place.file("cache"), place.file("mark"));
    let run = || {
        let words = [
            "run",
            "fault/touch@python-*",
            "--set",
            "bytes=1MiB",
            "--launches",
            "1",
            "--budget",
            "10s",
        ];
        said(place.command(&words).env("XDG_CACHE_HOME", &cache))
    };
    if !place.run(&["list", "fault"]).out.contains("python-") {
        return skip("there is no CPython here");
    }
    assert!(ran(&run()));
    let source = below(&cache)
        .into_iter()
        .find(|path| path.ends_with("worker.py"))
        .unwrap();
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(
        &source,
        format!(
            "open({:?}, 'w').close()\n{text}",
            mark.display().to_string()
        ),
    )
    .unwrap();
    let result = run();
    assert!(!mark.exists(), "a changed source ran");
    assert_eq!(
        std::fs::read_to_string(&source).unwrap(),
        text,
        "{}",
        result.err
    );
    assert!(ran(&result), "{}", result.err);
}

/// A folder with nothing but this plan, sealed as a run seals it: the public format hinders nobody.
fn forged(place: &Place, kept: &Path, change: impl FnOnce(&mut Value)) -> PathBuf {
    let from = RunFolder::open(kept.to_str().unwrap(), Path::new("/nowhere")).unwrap();
    let mut plan: Value = from.read_sealed("plan.json").unwrap();
    change(&mut plan);
    let path = place.file("home/forged");
    let _ = std::fs::remove_dir_all(&path);
    let to = RunFolder::create(&path).unwrap();
    to.write_sealed("plan.json", &plan).unwrap();
    if let Ok(environment) = from.read_sealed::<Value>("environment.json") {
        to.write_sealed("environment.json", &environment).unwrap();
    }
    path
}

/// Makes a finished run one that was killed before its end.
pub fn interrupt(run: &Path) {
    let path = run.join("decisions.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let end = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    std::fs::write(&path, &text[..end]).unwrap();
    std::fs::remove_file(run.join("summary.json")).unwrap();
}

fn resume(place: &Place, folder: &Path, more: &[&str]) -> Said {
    place.run(
        &[
            &[
                "run",
                "--resume",
                folder.to_str().unwrap(),
                "--budget",
                "2s",
            ],
            more,
        ]
        .concat(),
    )
}

/// Finding 2: a plan cannot load a library.
#[test]
fn a_kept_plan_loads_no_library() {
    let (place, kept) = with_runs(1);
    let (source, library, mark) = (
        place.file("evil.c"),
        place.file("evil.so"),
        place.file("mark"),
    );
    let code = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) void f(void) {{ open({:?}, O_CREAT, 0600); }}\n",
        mark.display().to_string()
    );
    std::fs::write(&source, code).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skip("there is no C compiler here");
    }
    let folder = forged(&place, &kept[0], |plan| {
        for cell in plan["cells"].as_array_mut().unwrap() {
            let line = cell["method"].as_str().unwrap().to_owned();
            cell["method"] = format!("{line}\tpreload={}\tpackage=x", library.display()).into();
        }
    });
    let before = tree(&written(&place));
    let result = resume(&place, &folder, &[]);
    assert!(!mark.exists(), "a library of the plan was loaded");
    refused(&result, "is another one in this Pagewise than in the run");
    assert_eq!(tree(&written(&place)), before);
}

/// Finding 2: a try executes what this command line says, whatever its kept plan says.
#[test]
fn a_kept_try_names_no_command_no_library_and_no_file() {
    let place = Place::new();
    let (out, mark) = (place.file("try"), place.file("mark"));
    let words = ["--with", "env:A=1", "--", "/bin/true"];
    let made = place.run(
        &[
            &["try", "--pairs", "1", "--out", out.to_str().unwrap()],
            &words[..],
        ]
        .concat(),
    );
    assert_eq!(made.code, 0, "{}", made.err);
    let order = format!("touch {}", mark.display());
    let changes: [&dyn Fn(&mut Value); 5] = [
        &|plan| plan["arms"][0]["command"] = vec!["/bin/sh", "-c", &order].into(),
        &|plan| plan["arms"][1]["library"] = "/tmp/evil.so".into(),
        &|plan| plan["arms"][1]["variables"]["LD_PRELOAD"] = "/tmp/evil.so".into(),
        &|plan| plan["prepare"] = order.as_str().into(),
        &|plan| plan["input"] = "/etc/shadow".into(),
    ];
    for change in changes {
        let folder = forged(&place, &out, change);
        let resumed = [&["try", "--resume", folder.to_str().unwrap()], &words[..]].concat();
        refused(&place.run(&resumed), "was begun with another");
        assert!(!mark.exists(), "a command of the plan was executed");
    }
}

/// Finding 2: a run's name is a name.
#[test]
fn a_name_of_a_run_is_no_order() {
    let (place, kept) = with_runs(1);
    let victim = place.file("home/victim");
    std::fs::write(&victim, "").unwrap();
    let order = format!("x\nundo unlink {}", victim.display());
    for name in [order.as_str(), "", "../x", "a b", &"x".repeat(65)] {
        let folder = forged(&place, &kept[0], |plan| plan["run"] = name.into());
        let result = resume(&place, &folder, &[]);
        assert!(victim.exists(), "{name:?} removed a file");
        refused(&result, "is damaged");
    }
}

/// Finding 2: permissions are those of the command line.
#[test]
fn a_kept_plan_permits_nothing() {
    let (place, kept) = with_runs(1);
    let folder = forged(&place, &kept[0], |plan| {
        plan["allow_system_changes"] = true.into()
    });
    refused(&resume(&place, &folder, &[]), "--allow-system-changes");
    let result = resume(&place, &folder, &["--allow-system-changes"]);
    assert!(ran(&result), "{}", result.err);
}

/// Finding 2: files to read are those of the command line.
#[test]
fn a_kept_plan_names_no_file() {
    let place = Place::new();
    let (own, out) = (place.file("own"), place.file("home/run"));
    std::fs::write(&own, vec![7; 1 << 20]).unwrap();
    let setting = format!("file={}", own.display());
    let words = [
        "run",
        "read/read@c-O3",
        "--set",
        &setting,
        "--launches",
        "1",
        "--budget",
        "10s",
        "--out",
    ];
    let made = place.run(&[&words[..], &[out.to_str().unwrap()]].concat());
    assert_eq!(made.code, 0, "{}", made.err);
    interrupt(&out);
    refused(
        &resume(&place, &out, &[]),
        &format!("name it again: --set {setting}"),
    );
    let again = resume(&place, &out, &["--set", &setting]);
    assert_eq!(again.code, 0, "{}", again.err);
}

/// Finding 2: what another user wrote decides nothing.
#[test]
fn a_run_of_another_user_is_reported_and_no_more() {
    if !is_root() {
        return;
    }
    let (place, kept) = with_runs(2);
    let (theirs, own) = (kept[0].to_str().unwrap(), kept[1].to_str().unwrap());
    give_away(&kept[0]);
    let before = tree(&written(&place));
    let verbs: [&[&str]; 3] = [
        &["run", "--resume", theirs],
        &["compare", theirs, own],
        &["report", theirs, "--format", "csv"],
    ];
    for words in verbs {
        refused(&place.run(words), &format!("belongs to user {NOBODY}"));
    }
    assert_eq!(tree(&written(&place)), before);
    let report = place.run(&["report", theirs]);
    assert!(
        report.code == 0 && report.err.contains(&format!("belongs to user {NOBODY}")),
        "{}",
        report.err
    );
}

/// Finding 3: nothing is written through links under names that others can foretell.
#[test]
fn nothing_is_written_through_a_link_that_waits_for_it() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let victim = place.file("home/victim");
    std::fs::create_dir(&victim).unwrap();
    let verbs: [(&str, &str); 2] = [
        ("suite-of-pagewise-$$", "check fault/touch@c-O3"),
        ("pagewise-selftest-$$", "check --selftest --budget 1s"),
    ];
    for (name, verb) in verbs {
        let line = format!(
            "ln -s {} \"$TMPDIR/{name}\"; exec \"$0\" {verb}",
            victim.display()
        );
        let mut command = Command::new("timeout");
        place.settle(&mut command);
        command
            .args(["-s", "INT", "15", "sh", "-c", &line])
            .arg(program())
            .stdout(Stdio::null());
        let watched = WatchedFolder::new(&victim);
        command.status().unwrap();
        assert!(!watched.was_changed(), "{verb} wrote through a link");
    }
}

/// Notices changes of a folder that are undone again, by the time of its last one.
struct WatchedFolder<'a>(&'a Path, std::time::SystemTime);

impl WatchedFolder<'_> {
    fn new(path: &Path) -> WatchedFolder<'_> {
        WatchedFolder(path, std::fs::metadata(path).unwrap().modified().unwrap())
    }

    fn was_changed(&self) -> bool {
        std::fs::metadata(self.0).unwrap().modified().unwrap() != self.1
    }
}

/// Finding 3: an empty folder of another user is not taken for a run.
#[test]
fn an_empty_folder_of_another_user_is_not_taken() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let theirs = place.file("home/theirs");
    std::fs::create_dir(&theirs).unwrap();
    give_away(&theirs);
    let result = place.run(&[&TINY[..], &["--out", theirs.to_str().unwrap()]].concat());
    refused(&result, &format!("it belongs to user {NOBODY}"));
    assert_eq!(entries(&theirs), [] as [PathBuf; 0]);
}

/// Finding 9: a run that cannot be gone on with is not changed.
#[test]
fn a_refused_resume_changes_nothing() {
    let (place, kept) = with_runs(1);
    interrupt(&kept[0]);
    let lock = std::fs::File::create(place.file("measuring")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let before = tree(&written(&place));
    refused(
        &resume(&place, &kept[0], &[]),
        "another run is measuring on this machine",
    );
    assert_eq!(tree(&written(&place)), before);
}

/// Finding 13: a file that never ends, or never begins, is refused at once.
#[test]
fn pipes_and_devices_in_place_of_files_are_refused() {
    let place = Place::new();
    let pipe = place.file("home/pipe.toml");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    symlink("/dev/zero", place.file("home/zero.toml")).unwrap();
    for file in [pipe, place.file("home/zero.toml")] {
        let file = file.to_str().unwrap();
        let verbs: [&[&str]; 3] = [
            &["claims", "--file", file],
            &["try", "--with", file, "--", "true"],
            &[
                "--experiments",
                place.path().to_str().unwrap(),
                "run",
                "read/read",
                "--set",
                &format!("file={file}"),
            ],
        ];
        for words in verbs {
            let mut command = Command::new("timeout");
            place.settle(&mut command);
            let line = place.command(words);
            command
                .args(["-s", "KILL", "20"])
                .arg(line.get_program())
                .args(line.get_args());
            refused(&said(&mut command), "regular file");
        }
    }
}

/// Finding 17: a path that cannot be written is refused before time is spent.
#[test]
fn a_page_that_cannot_be_written_is_refused_before_measuring() {
    let place = Place::new();
    let before = tree(&written(&place));
    let path = place.file("none/page.html");
    let result = place.run(&[&TINY[..], &["--html", path.to_str().unwrap()]].concat());
    refused(&result, "cannot write");
    assert_eq!(tree(&written(&place)), before, "it measured first");
}

/// Words that are no value of anything.
const JUNK: [&str; 8] = [
    "nonesuch",
    "-1",
    "0x",
    "1e999",
    "../..",
    "ü",
    "99999999999999999999999s",
    "a b",
];

/// Commands with junk in place of `{}`; `RUN` stands for a kept run.
const REFUSED: [&str; 38] = [
    "run {}",
    "run fault/{}",
    "run fault/touch@{}",
    "run fault/touch --set {}",
    "run fault/touch --set bytes={}",
    "run fault/touch --set {}=1",
    "run fault/touch --budget {}",
    "run fault/touch --precision {}",
    "run fault/touch --launches {}",
    "run fault/touch --time-limit {}",
    "run fault/touch --seed {}",
    "run fault/touch --out /dev/null/{}",
    "run fault/touch --html /dev/null/{}",
    "run --published {}",
    "run --resume {}",
    "run --resume RUN --budget {}",
    "run --resume RUN --html /dev/null/{}",
    "report {}",
    "report RUN {}",
    "report RUN --html /dev/null/{}",
    "report {} --format csv",
    "report RUN --format {}",
    "report RUN --format csv --out /dev/null/{}",
    "compare RUN {}",
    "compare {} RUN",
    "runs show {}",
    "runs rm {}",
    "runs tag {} x",
    "check {}",
    "check --selftest --budget {}",
    "show {}",
    "list {}",
    "advise {}",
    "bench {}",
    "claims {}",
    "claims --file /dev/null/{}",
    "try --with {} -- true",
    "profile --input /dev/null/{} -- true",
];

/// Point 5: a command that is refused changes nothing.
#[test]
fn three_hundred_refused_commands_leave_every_byte() {
    let (place, kept) = with_runs(1);
    let run = kept[0].file_name().unwrap().to_str().unwrap();
    let before = tree(&written(&place));
    let mut count = 0;
    for command in REFUSED {
        for junk in JUNK {
            let words: Vec<String> = command
                .split(' ')
                .map(|word| word.replace("RUN", run).replace("{}", junk))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let result = place.run(&words);
            assert!(
                [1, 2].contains(&result.code),
                "{words:?}: {} {}",
                result.code,
                result.err
            );
            count += 1;
        }
    }
    assert!(count >= 300);
    assert_eq!(tree(&written(&place)), before);
}
