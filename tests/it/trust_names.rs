//! Names that others could take, folders that others could replace, numbers that others could get, and settings that two runs
//! change at once.

use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use pagewise::run::guard::Guard;
use serde_json::Value;

use crate::support::native;
use crate::support::place::{Place, entries, program, said};
use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

const SECRET: &str = "another user's\n";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A file that nobody may write.
fn victim(place: &Path) -> PathBuf {
    let victim = place.join("victim");
    fs::write(&victim, SECRET).unwrap();
    victim
}

fn folder(place: &Place, name: &str, mode: u32) -> PathBuf {
    let path = place.file(name);
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// D9: whoever takes the names that launches used to have stops no two-sided cell, and nobody else can enter the folder of its
/// sockets.
#[test]
fn sockets_of_launches_to_come_cannot_be_taken() {
    let place = Place::new();
    let out = place.file("run");
    let mut run = place
        .command(&[
            "run",
            "message/unix-stream@c-O3+c-O3",
            "--json",
            "--launches",
            "6",
        ])
        .args([
            "--set",
            "bytes=4KiB",
            "--set",
            "wait=block",
            "--set",
            "pin=none",
        ])
        .args(["--budget", "30s", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let plan = || fs::read(out.join("plan.json")).unwrap_or_default();
    wait_until("the run has a plan", || !plan().is_empty());
    let id = serde_json::from_slice::<Value>(&plan()).unwrap()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let taken: Vec<PathBuf> = (0..40)
        .map(|number| format!("pagewise-{id}-{}-{number}", run.id()))
        .flat_map(|name| {
            [
                place.file(&format!("tmp/{name}.socket")),
                format!("/tmp/{name}-message").into(),
            ]
        })
        .collect();
    taken.iter().for_each(|path| drop(fs::write(path, "taken")));
    let mut meetings = 0;
    while run.try_wait().unwrap().is_none() {
        for path in entries(&place.file("tmp")) {
            if let Ok(about) = fs::symlink_metadata(&path)
                && about.is_dir()
            {
                meetings += 1;
                assert_eq!(about.mode() & 0o777, 0o700, "{}", path.display());
            }
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    taken.iter().for_each(|path| drop(fs::remove_file(path)));
    let said = run.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&said.stderr).into_owned();
    let launches = fs::read_to_string(out.join("launches.jsonl")).unwrap();
    assert!(meetings > 0 && !launches.contains("bind"), "{launches}");
    assert_eq!(said.status.code(), Some(0), "{messages}");
    assert_eq!(entries(&place.file("tmp")), [] as [PathBuf; 0]);
}

/// D5: outputs in shared memory are in a folder of their own, so that a link under the file's name gets nothing.
#[test]
fn outputs_in_shared_memory_follow_no_link() {
    let (worker, launch) = (Worker::native("c-O3"), Launch::new());
    let victim = victim(launch.folder.path());
    let link = PathBuf::from(format!("/dev/shm/{}-output", launch.name()));
    let values = [
        ("bytes", "131072"),
        ("order", "sequential"),
        ("place", "tmpfs"),
        ("old", "none"),
        ("running", "1"),
    ];
    let request = launch.request(&[(worker.method("output", "write"), &values)], None, 200);
    let ended = while_linked(&victim, &link, || launch.start(&worker, &request).end());
    assert_eq!(fs::read_to_string(&victim).unwrap(), SECRET);
    assert!(ended.status.success(), "{}", ended.messages);
    let folder = format!("/dev/shm/{}-place", launch.name());
    assert!(!Path::new(&folder).exists(), "{folder} is left");
}

/// D11: the note beside a capture is made anew, never opened through a link.
#[test]
fn the_note_beside_a_capture_follows_no_link() {
    let place = Place::new();
    native::worker("c-O3", place.path());
    let (victim, capture) = (victim(place.path()), place.file("capture"));
    let made = while_linked(&victim, &place.file("capture.digest"), || {
        Command::new(native::helper(place.path()))
            .arg("make-capture")
            .arg(&capture)
            .args(["16777216", "1"])
            .output()
            .unwrap()
    });
    assert_eq!(fs::read_to_string(&victim).unwrap(), SECRET);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(
        made.status.success() || said.contains("File exists"),
        "{said}"
    );
}

/// Does something while a link to a file is planted again and again.
fn while_linked<T>(victim: &Path, link: &Path, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let _ = symlink(victim, link);
            }
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    });
    let _ = fs::remove_file(link);
    result
}

/// D8: files of workers with names that can be foretold are made anew.
#[test]
fn files_of_workers_are_made_anew() {
    let (worker, launch) = (Worker::native("c-O3"), Launch::new());
    let victim = victim(launch.folder.path());
    // Their names have the number of a process to come.
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let next = ended.id();
    for name in ["fault-kinds", "price-file"] {
        symlink(&victim, launch.folder.path().join(name)).unwrap();
        for process in next..next + 3000 {
            let link = launch.folder.path().join(format!("{name}-{process}"));
            symlink(&victim, link).unwrap();
        }
    }
    for (experiment, name) in [("fault", "file-write"), ("price", "events")] {
        let method = worker.method(experiment, name);
        let values = [
            ("bytes", "4194304"),
            ("order", "sequential"),
            ("pages", "small"),
        ];
        let request = launch.request(&[(method, &values)], None, 1);
        let ended = launch.start(&worker, &request).end();
        let is_refused = ended.messages.contains("File exists");
        assert!(ended.status.success() || is_refused, "{}", ended.messages);
    }
    let is_whole = fs::read_to_string(&victim).unwrap() == SECRET;
    assert!(is_whole, "a file of another user was written");
}

/// D8, D13: a folder that others may write and that is not sticky is no place for runs and temporary files.
#[test]
fn a_folder_that_others_can_replace_is_refused() {
    let place = Place::new();
    let open = folder(&place, "open", 0o777);
    let (below, sticky) = (open.join("below"), folder(&place, "sticky", 0o1777));
    fs::create_dir(&below).unwrap();
    let tiny = [
        "run",
        "fault/touch@c-O3",
        "--launches",
        "1",
        "--budget",
        "5s",
    ];
    let attempt = ["try", "--pairs", "1", "--with", "env:A=1"];
    for place_of_run in [open.join("run"), below.join("a/run"), below.clone()] {
        for words in [&tiny[..], &attempt[..]] {
            let mut command = place.command(words);
            command.arg("--out").arg(&place_of_run);
            if words[0] == "try" {
                command.args(["--", "/bin/true"]);
            }
            let result = said(&mut command);
            assert_eq!(result.code, 1, "{}{}", result.out, result.err);
            assert!(
                result.err.contains("another user can change"),
                "{}",
                result.err
            );
            assert_eq!(result.err.lines().count(), 1, "{}", result.err);
        }
    }
    for words in [
        &tiny[..],
        &[
            "try",
            "--pairs",
            "1",
            "--with",
            "env:A=1",
            "--",
            "/bin/true",
        ],
    ] {
        let result = said(place.command(words).env("TMPDIR", &below));
        assert_eq!(result.code, 1, "{}{}", result.out, result.err);
        assert!(result.err.contains("cannot use TMPDIR"), "{}", result.err);
    }
    assert_eq!(entries(&open), std::slice::from_ref(&below));
    assert_eq!(entries(&below), [] as [PathBuf; 0]);
    let mut allowed = place.command(&["try", "--pairs", "1", "--with", "env:A=1", "--out"]);
    allowed.arg(sticky.join("try")).args(["--", "/bin/true"]);
    let result = said(allowed.env("TMPDIR", &sticky));
    assert_eq!(result.code, 0, "{}", result.err);
}

fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut all = vec![(folder.to_owned(), fs::metadata(folder).unwrap().mode())];
    for path in entries(folder) {
        if path.is_dir() {
            all.extend(modes(&path));
        } else {
            let mode = fs::metadata(&path).unwrap().mode();
            all.push((path, mode));
        }
    }
    all
}

/// D29: commands and inputs may be secret, so nobody else can read what is kept, whatever the umask is.
#[test]
fn what_is_kept_is_for_this_user_alone() {
    let place = Place::new();
    let kept = place.file("kept");
    let lines = [
        "run fault/touch@c-O3 --set bytes=1MiB --launches 1 --budget 10s --out",
        "try --pairs 1 --with env:A=1 --input - --out",
    ];
    for (number, line) in lines.iter().enumerate() {
        let end = if line.starts_with("try") {
            "-- /bin/cat"
        } else {
            ""
        };
        let out = kept.join(number.to_string());
        let script = format!(
            "umask 0; echo secret | {} {line} {} {end}",
            Path::new(&program()).display(),
            out.display()
        );
        let mut shell = Command::new("sh");
        place.settle(&mut shell);
        let result = said(shell.args(["-c", &script]));
        assert!([0, 4].contains(&result.code), "{}", result.err);
    }
    assert!(kept.join("1/input").exists());
    for (path, mode) in modes(&kept) {
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}

/// D30: input from a pipe goes to a file as it comes.
#[test]
fn input_from_a_pipe_is_not_held_in_memory() {
    let place = Place::new();
    let out = place.file("try");
    let script = format!(
        "head -c 201326592 /dev/zero | (ulimit -d 131072; exec {} try --pairs 1 --with env:A=1 --input - --out {} -- /bin/true)",
        Path::new(&program()).display(),
        out.display()
    );
    let mut shell = Command::new("sh");
    place.settle(&mut shell);
    let result = said(shell.args(["-c", &script]));
    assert_eq!(result.code, 0, "{}", result.err);
    assert_eq!(fs::metadata(out.join("input")).unwrap().len(), 192 << 20);
}

/// D10: a process ends between two windows, and another gets its number: that one is not followed.
#[test]
fn a_process_that_got_the_number_is_not_followed() {
    const SCRIPT: &str = r#"
busy() { exec "$BUSY" -c 'while :; do :; done'; }
busy & first=$!
"$@" profile --pid $first --for 8s --out "$OUT" >"$OUT.said" 2>&1 & laboratory=$!
until grep -q followed "$OUT/launches.jsonl" 2>/dev/null; do
    kill -0 $laboratory 2>/dev/null || { cat "$OUT.said" >&2; exit 9; }
    sleep 0.05
done
kill -STOP $laboratory
sleep 2.5
kill -KILL $first
wait $first
echo $((first - 1)) >/proc/sys/kernel/ns_last_pid || exit 8
busy & second=$!
[ $first = $second ] || exit 8
kill -CONT $laboratory
wait $laboratory
code=$?
kill -KILL $second
exit $code
"#;
    if !is_root() {
        return skip("only root can choose the number of a process");
    }
    let place = Place::new();
    let out = place.file("profile");
    let mut shell = Command::new("unshare");
    place.settle(&mut shell);
    shell.args(["--pid", "--fork", "--mount-proc", "sh", "-c", SCRIPT, "sh"]);
    let result = said(shell.arg(program()).env("OUT", &out).env("BUSY", "/bin/sh"));
    if [8, 9].contains(&result.code) {
        return skip(&format!("no process can be followed here: {}", result.err));
    }
    let launches = fs::read_to_string(out.join("launches.jsonl")).unwrap();
    assert!(launches.contains(r#""process_ended":true"#), "{launches}");
    assert!(
        launches.matches(r#""mode":"followed""#).count() < 8,
        "{launches}"
    );
    assert!([0, 4].contains(&result.code), "{}", result.err);
}

/// The read-ahead of a loop device, which few use.
fn spare_setting() -> Option<PathBuf> {
    let devices = entries(Path::new("/sys/class/bdi"));
    let last = devices.into_iter().rfind(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("7:"))
    })?;
    Some(last.join("read_ahead_kb")).filter(|path| path.exists() && is_root())
}

/// D19: two runs change one setting at once. The last one to end puts back the first value, whichever began first, and also
/// where one of them was killed together with its guard.
#[test]
fn the_last_user_of_a_setting_puts_the_first_value_back() {
    let Some(setting) = spare_setting() else {
        return skip("only root can change settings, and here of a loop device");
    };
    let value = || fs::read_to_string(&setting).unwrap().trim().to_owned();
    let set = |text: &str| fs::write(&setting, text).unwrap();
    let first = value();
    for first_ends_first in [true, false] {
        let [mut one, mut other] = [Guard::start().unwrap(), Guard::start().unwrap()];
        one.keep(&setting).unwrap();
        set("64");
        other.keep(&setting).unwrap();
        set("32");
        let (before, last) = if first_ends_first {
            (one, other)
        } else {
            (other, one)
        };
        drop(before);
        assert_eq!(value(), "32", "somebody still uses it");
        drop(last);
        assert_eq!(value(), first);
    }
    let name = setting.to_string_lossy().replace('/', "!");
    let register = Path::new("/run/pagewise/settings").join(name);
    assert!(!register.exists(), "the register is clean");
    // A run that was killed with its guard: its journal is there, and nobody holds it.
    let place = Place::new();
    native::worker("c-O3", place.path());
    let undo = folder(&place, "undo", 0o700);
    let journal = undo.join("1-1");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let fields = [
        "pagewise-journal-1",
        boot.trim(),
        "release",
        setting.to_str().unwrap(),
        &first,
    ];
    let text: String = fields
        .iter()
        .map(|field| format!("{}:{field},", field.len()))
        .collect();
    let killed = || {
        fs::write(&journal, &text).unwrap();
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o600)).unwrap();
        let about = fs::metadata(&journal).unwrap();
        let entry = register.join(format!("{}-{}", about.dev(), about.ino()));
        fs::write(entry, journal.to_str().unwrap()).unwrap();
    };
    let put_back = || {
        let helper = native::helper(place.path());
        let status = Command::new(helper).arg("put-back").arg(&undo).status();
        assert!(status.unwrap().success() && !journal.exists());
    };
    let mut living = Guard::start().unwrap();
    living.keep(&setting).unwrap();
    killed();
    set("64");
    drop(living);
    assert_eq!(value(), first, "the dead hold nothing up");
    set("48");
    put_back();
    assert_eq!(value(), "48", "what was put back is left alone");
    set(&first);
    let mut living = Guard::start().unwrap();
    living.keep(&setting).unwrap();
    killed();
    set("64");
    put_back();
    assert_eq!(value(), "64", "somebody still uses it");
    drop(living);
    assert_eq!(value(), first);
    assert!(!register.exists(), "the register is clean");
}

/// Files that a command is asked to write go through no link of another user, with `--force` and without; this user's own
/// links are followed.
#[test]
fn what_is_asked_for_is_not_written_through_a_link_of_another_user() {
    if !is_root() {
        return skip("only root can make a link of another user");
    }
    let place = Place::new();
    let victim = victim(place.path());
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let run = run.to_str().unwrap();
    let open = folder(&place, "open", 0o1777);
    let kept = folder(&place, "kept", 0o755);
    let [file, above] = [open.join("page.html"), open.join("folder")];
    symlink(&victim, &file).unwrap();
    symlink(&kept, &above).unwrap();
    for link in [&file, &above] {
        lchown(link, Some(65_534), Some(65_534)).unwrap();
    }
    let below = above.join("page.html");
    let man = above.join("man");
    let started = above.join("mine.c");
    let commands: Vec<Vec<&str>> = vec![
        vec!["report", run, "--html", file.to_str().unwrap(), "--force"],
        vec!["report", run, "--html", below.to_str().unwrap()],
        vec![
            "report",
            run,
            "--format",
            "csv",
            "--out",
            file.to_str().unwrap(),
            "--force",
        ],
        vec!["doctor", "--bundle", file.to_str().unwrap(), "--force"],
        vec!["man", "--out", man.to_str().unwrap()],
        vec!["bench", "--new", started.to_str().unwrap()],
    ];
    for command in &commands {
        let result = place.run(command);
        assert_eq!(result.code, 1, "{command:?}: {}{}", result.out, result.err);
        assert!(
            result.err.contains("another user can change"),
            "{command:?}: {}",
            result.err
        );
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), SECRET);
    assert_eq!(entries(&kept), [] as [PathBuf; 0]);

    fs::remove_file(&file).unwrap();
    symlink(&victim, &file).unwrap();
    let result = place.run(&["report", run, "--html", file.to_str().unwrap(), "--force"]);
    assert_eq!(result.code, 0, "{}", result.err);
    assert!(fs::read_to_string(&victim).unwrap().contains("<html"));
}

/// A machine of its own as far as locks go, and another user who holds the lock of those who measure: root's run waits and
/// measures. With root's own lock held by another run of root, it is refused.
const TWO_USERS: &str = r#"
mount --bind "$1/id" /etc/machine-id && mount --bind "$1/passwd" /etc/passwd && mount -t tmpfs none /run || exit 77
setpriv --reuid=65534 --regid=65534 --clear-groups flock -xF /etc/machine-id flock -xF /etc/passwd sleep 90 >/dev/null 2>&1 &
while flock -n /etc/machine-id true; do sleep 0.02; done
run() { "$2" run fault/touch@c-O3 --set bytes=1MiB --launches 6 --budget 20s --out "$1/$3"; echo "exit status $?"; }
run "$1" "$2" first
setpriv --reuid=65534 --regid=65534 --clear-groups flock -n /run/pagewise true 2>&1 && echo "another user took it"
flock /run/pagewise sh -c '"$2" run fault/touch@c-O3 --out "$1/second"; echo "exit status $?"' sh "$1" "$2"
kill $!
"#;

#[test]
fn another_users_lock_keeps_root_from_no_run() {
    let place = Place::new();
    fs::write(place.file("id"), "0").unwrap();
    fs::copy("/etc/passwd", place.file("passwd")).unwrap();
    let mut command = Command::new("unshare");
    place.settle(&mut command);
    command
        .args(["-m", "sh", "-c", TWO_USERS, "sh"])
        .arg(place.path())
        .arg(program())
        .env_remove("PAGEWISE_LOCK");
    let Ok(output) = command.stdin(Stdio::null()).output() else {
        return skip("there is no unshare here");
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if output.status.code() == Some(77) || err.contains("unshare:") || err.contains("setpriv:") {
        return skip(&format!("no second user, or no mounts of its own: {err}"));
    }
    let statuses: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("exit status"))
        .collect();
    assert_eq!(statuses, ["exit status 0", "exit status 1"], "{out}{err}");
    assert!(
        err.contains("another user's run is measuring on this machine; waiting for it")
            && err.contains("measuring beside it, which is marked"),
        "{err}"
    );
    assert!(
        err.contains("another run is measuring on this machine, and both would be spoiled"),
        "{err}"
    );
    assert!(!out.contains("took it"), "{out}");
}
