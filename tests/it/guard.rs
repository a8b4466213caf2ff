//! The guard undoes what the journal of this run says and nothing else, whatever a journal, a name or a folder was made to
//! be; and the next command does the same where laboratory and guard were killed together.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use record::folder::RunFolder;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::support::native;
use crate::support::place::{Place, entries};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

const RUN: &str = "20261123T090000Z-0a1b2c3d";

/// Counted fields.
fn counted(fields: &[&str]) -> String {
    fields
        .iter()
        .map(|field| format!("{}:{field},", field.len()))
        .collect()
}

fn first() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    counted(&["pagewise-journal-1", boot.trim()])
}

fn remove(folder: &Path, lead: &str, run: &str) -> String {
    let about = fs::metadata(folder).unwrap();
    let [device, inode] = [about.dev(), about.ino()].map(|number| number.to_string());
    counted(&[
        "remove-named",
        folder.to_str().unwrap(),
        &device,
        &inode,
        lead,
        run,
    ])
}

/// A place with the helper of this build.
struct Guarded {
    place: Place,
    helper: PathBuf,
}

impl Guarded {
    fn new() -> Guarded {
        let place = Place::new();
        native::worker("c-O3", place.path());
        let helper = native::helper(place.path());
        Guarded { place, helper }
    }

    /// Has a guard carry a journal out as a laboratory does that ends by itself. Nobody hears its answer.
    fn carry_out(&self, text: &[u8]) {
        let (path, mut guard) = self.start(text);
        let _ = guard.stdin.take().unwrap().write_all(b"ended");
        assert!(guard.wait().unwrap().success());
        assert!(!path.exists(), "a journal that is carried out is removed");
    }

    /// Starts a guard with a journal.
    fn start(&self, text: &[u8]) -> (PathBuf, Child) {
        let path = self.place.file("journal");
        fs::write(&path, text).unwrap();
        let journal = File::options().read(true).append(true).open(&path).unwrap();
        let mut guard = Command::new(&self.helper);
        guard
            .arg("guard")
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(journal);
        let mut guard = guard.spawn().unwrap();
        drop(guard.stdout.take());
        (path, guard)
    }

    /// A folder with entries: a name that ends with a stroke is a folder's, which has a file in it.
    fn folder(&self, name: &str, names: &[&str]) -> PathBuf {
        let folder = self.place.file(name);
        for name in names {
            match name.strip_suffix('/') {
                Some(name) => {
                    fs::create_dir_all(folder.join(name).join("deeper")).unwrap();
                    fs::write(folder.join(name).join("deeper/file"), "x").unwrap();
                }
                None => {
                    fs::create_dir_all(&folder).unwrap();
                    fs::write(folder.join(name), "x").unwrap();
                }
            }
        }
        folder
    }
}

fn names(folder: &Path) -> Vec<String> {
    entries(folder)
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn only_names_of_the_run_are_removed() {
    let guarded = Guarded::new();
    let own = [
        format!("pagewise-{RUN}/"),
        format!("pagewise-{RUN}-3.socket"),
        format!("pagewise-{RUN}.x"),
    ];
    let others = [
        format!("pagewise-{RUN}0"),
        format!("pagewise-{RUN}_"),
        "pagewise-".to_owned(),
        "else".to_owned(),
    ];
    let all: Vec<&str> = own.iter().chain(&others).map(String::as_str).collect();
    let folder = guarded.folder("shared", &all);
    guarded.carry_out((first() + &remove(&folder, "", RUN)).as_bytes());
    let mut expected = others.to_vec();
    expected.sort();
    assert_eq!(names(&folder), expected);
}

/// The kernel closes the files of a killed laboratory before it kills its workers, which may make a name meanwhile.
#[test]
fn a_name_that_a_worker_makes_after_the_laboratory_was_killed_is_removed_too() {
    let guarded = Guarded::new();
    let [early, late] = ["1", "2"].map(|slot| format!("pagewise-{RUN}-{slot}"));
    let folder = guarded.folder("shared", &[&early]);
    let (_, mut guard) = guarded.start((first() + &remove(&folder, "", RUN)).as_bytes());
    drop(guard.stdin.take());
    wait_until("what was there is removed", || {
        !folder.join(&early).exists()
    });
    fs::write(folder.join(&late), "x").unwrap();
    assert!(guard.wait().unwrap().success());
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn more_actions_than_a_table_would_hold_are_carried_out() {
    let guarded = Guarded::new();
    let all: Vec<String> = (0..600).map(|n| format!("pagewise-r{n}")).collect();
    let folder = guarded.folder(
        "shared",
        &all.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let actions: String = (0..600)
        .map(|n| remove(&folder, "", &format!("r{n}")))
        .collect();
    guarded.carry_out((first() + &actions).as_bytes());
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn a_journal_that_was_made_to_do_harm_does_none() {
    let guarded = Guarded::new();
    let name = format!("pagewise-{RUN}");
    let long = "x".repeat(65);
    let folder = guarded.folder(
        "shared",
        &[&name, "victim", "pagewise-", &format!("pagewise-{long}")],
    );
    let victim = folder.join("victim");
    let victim = victim.to_str().unwrap();
    let (shared, elsewhere) = (
        folder.to_str().unwrap(),
        guarded.folder("elsewhere", &[&name]),
    );
    let about = fs::metadata(&elsewhere).unwrap();
    let [device, inode] = [about.dev(), about.ino()].map(|number| number.to_string());
    let cut = remove(&folder, "", RUN);
    let harmful = [
        remove(&folder, "", ""),
        remove(&folder, "", "*"),
        remove(&folder, "", "../shared/victim"),
        remove(&folder, "", &long),
        remove(&folder, "", &format!("{RUN}\nundo unlink {victim}")),
        remove(&folder, "vict", RUN),
        remove(&folder, "../", RUN),
        counted(&["remove-named", shared, &device, &inode, "", RUN]),
        counted(&["remove-named", shared, "", "", "", RUN]),
        counted(&["restore", victim, "overwritten"]),
        counted(&[
            "restore",
            &format!("/proc/sys/vm/../../..{victim}"),
            "overwritten",
        ]),
        counted(&[
            "restore",
            &format!("/sys/fs/cgroup/../../..{victim}"),
            "-memory",
        ]),
        counted(&["remove-cgroup", shared, &name]),
        counted(&["remove-cgroup", "/sys/fs/cgroup", "../../../tmp"]),
        counted(&["unlink", victim]),
        format!("undo unlink {victim}\n"),
        cut[..cut.len() - 1].to_owned(),
        cut.replacen("12:", "99999:", 1),
        cut.replacen("12:", "-1:", 1),
        cut.replacen("12:", "18446744073709551628:", 1),
        cut.replacen("remove-named", "remove-name\0", 1),
    ];
    let before = (names(&folder), names(&elsewhere));
    for action in &harmful {
        for text in [
            first() + action,
            action.clone(),
            counted(&["pagewise-journal-2", "x"]) + action,
        ] {
            guarded.carry_out(text.as_bytes());
            assert_eq!((names(&folder), names(&elsewhere)), before, "{action:?}");
            assert_eq!(fs::read_to_string(victim).unwrap(), "x", "{action:?}");
        }
    }
    guarded.carry_out((first() + &cut).as_bytes());
    assert!(!folder.join(&name).exists() && elsewhere.join(&name).exists());
}

#[test]
fn no_link_is_followed_wherever_it_stands() {
    let guarded = Guarded::new();
    let victims = guarded.folder("victims", &["kept/"]);
    let folder = guarded.folder("shared", &["else"]);
    symlink(&victims, folder.join(format!("pagewise-{RUN}"))).unwrap();
    fs::create_dir(folder.join(format!("pagewise-{RUN}-1"))).unwrap();
    symlink(&victims, folder.join(format!("pagewise-{RUN}-1/inside"))).unwrap();
    // A folder that was swapped for a link to another one after it was noted.
    let noted = guarded.folder("noted", &["else"]);
    let action = remove(&noted, "", RUN);
    fs::rename(&noted, guarded.place.file("moved")).unwrap();
    let target = guarded.folder("target", &[&format!("pagewise-{RUN}")]);
    symlink(&target, &noted).unwrap();
    guarded.carry_out((first() + &remove(&folder, "", RUN) + &action).as_bytes());
    assert_eq!(names(&folder), ["else"]);
    assert!(
        victims.join("kept/deeper/file").exists()
            && target.join(format!("pagewise-{RUN}")).exists()
    );
}

#[test]
fn entries_of_another_user_stay() {
    let guarded = Guarded::new();
    let folder = guarded.folder(
        "shared",
        &[&format!("pagewise-{RUN}"), &format!("pagewise-{RUN}-1/")],
    );
    let other = folder.join(format!("pagewise-{RUN}"));
    if std::os::unix::fs::chown(&other, Some(65534), None).is_err() {
        skip("no file can be given to another user: not root");
        return;
    }
    guarded.carry_out((first() + &remove(&folder, "", RUN)).as_bytes());
    assert_eq!(names(&folder), [format!("pagewise-{RUN}")]);
}

/// Journals below the runtime folder of a place, as another command finds them.
fn left_journal(place: &Place, name: &str, text: &str, mode: u32) -> PathBuf {
    let folder = place.file("runtime/pagewise");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let mut file = File::create(folder.join(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    folder.join(name)
}

#[test]
fn a_journal_that_was_left_is_carried_out_by_the_next_command_unless_its_run_lives_or_it_is_not_trusted()
 {
    let guarded = Guarded::new();
    let place = &guarded.place;
    let folder = guarded.folder(
        "shared",
        &[
            "pagewise-left",
            "pagewise-lives",
            "pagewise-open",
            "pagewise-other-boot",
        ],
    );
    let text = |run: &str| first() + &remove(&folder, "", run);
    let left = left_journal(place, "1", &text("left"), 0o600);
    let lives = left_journal(place, "2", &text("lives"), 0o600);
    let open = left_journal(place, "3", &text("open"), 0o622);
    let boot = counted(&["pagewise-journal-1", "another"]) + &remove(&folder, "", "other-boot");
    let boot = left_journal(place, "4", &boot, 0o600);
    let held = File::open(&lives).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let list = || {
        let mut command = place.command(&["list", "fault"]);
        command.env("XDG_RUNTIME_DIR", place.file("runtime"));
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
    };
    list();
    assert_eq!(
        names(&folder),
        ["pagewise-lives", "pagewise-open", "pagewise-other-boot"]
    );
    assert!(!left.exists() && lives.exists() && open.exists() && boot.exists());
    drop(held);
    list();
    assert_eq!(names(&folder), ["pagewise-open", "pagewise-other-boot"]);
}

/// The lock of a journal is free before the workers of a killed laboratory have ended.
#[test]
fn a_name_that_is_made_while_a_left_journal_is_carried_out_is_removed_too() {
    let guarded = Guarded::new();
    let [early, late] = ["1", "2"].map(|slot| format!("pagewise-{RUN}-{slot}"));
    let folder = guarded.folder("shared", &[&early]);
    let text = first() + &remove(&folder, "", RUN);
    let journal = left_journal(&guarded.place, "1", &text, 0o600);
    let mut put_back = Command::new(&guarded.helper)
        .arg("put-back")
        .arg(journal.parent().unwrap())
        .spawn()
        .unwrap();
    wait_until("what was there is removed", || {
        !folder.join(&early).exists()
    });
    fs::write(folder.join(&late), "x").unwrap();
    assert!(put_back.wait().unwrap().success());
    assert_eq!(names(&folder), Vec::<String>::new());
    assert!(!journal.exists());
}

#[test]
fn a_kept_run_whose_name_was_made_to_do_harm_is_refused() {
    let place = Place::new();
    let words = [
        "run",
        "share/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--launches",
        "1",
        "--budget",
        "1s",
    ];
    let out = place.file("home/run");
    let made = place.run(&[&words[..], &["--out", out.to_str().unwrap()]].concat());
    assert!([0, 4].contains(&made.code), "{}", made.err);
    let victim = place.file("victim");
    fs::write(&victim, "x").unwrap();
    for name in [
        format!("x\nundo unlink {}\nundo rmdir /x", victim.display()),
        String::new(),
        "../x".to_owned(),
    ] {
        let folder = RunFolder::open(out.to_str().unwrap(), place.path()).unwrap();
        let mut plan: Value = folder.read_sealed("plan.json").unwrap();
        plan["run"] = Value::from(name.as_str());
        folder.write_sealed("plan.json", &plan).unwrap();
        let resumed = place.run(&["run", "--resume", out.to_str().unwrap(), "--launches", "2"]);
        wait_until("its guard has ended", || {
            entries(&place.file("tmp")).is_empty()
        });
        assert!(victim.exists(), "{name:?}");
        let sentence = resumed.err.starts_with("pagewise: ") && resumed.err.lines().count() == 1;
        assert!(
            resumed.code == 1 && sentence,
            "{name:?}: {} {}",
            resumed.code,
            resumed.err
        );
    }
}
