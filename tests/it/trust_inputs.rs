//! Files that tell a command what to do: whose they are, what they may say, and how much of them is read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use crate::support::place::Place;
use crate::support::skips::skip;

const SETTING: &str = "name = \"x\"\ntitle = \"x\"\nproof = [\"environment\"]\n";

/// A settings file decides what the measured program loads, so it is only taken where nobody else can write it.
#[test]
fn a_settings_file_of_another_user_is_not_obeyed() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can make a file of another user");
    }
    let place = Place::new();
    let file = place.file("home/theirs.toml");
    fs::write(&file, format!("{SETTING}[env]\nA = \"1\"\n")).unwrap();
    let words = [
        "try",
        "--with",
        file.to_str().unwrap(),
        "--pairs",
        "1",
        "--",
        "/bin/true",
    ];
    chown(&file, Some(65_534), Some(65_534)).unwrap();
    let theirs = place.run(&words);
    assert_eq!(theirs.code, 1, "{}", theirs.out);
    assert!(
        theirs.err.contains("another user can change"),
        "{}",
        theirs.err
    );
    chown(&file, Some(0), Some(0)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(place.run(&words).code, 1);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let own = place.run(&words);
    assert_eq!(own.code, 0, "{}", own.err);
}

#[test]
fn a_settings_file_names_no_library_by_a_variable_of_the_loader() {
    let place = Place::new();
    let file = place.file("home/loads.toml");
    for name in ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"] {
        fs::write(&file, format!("{SETTING}[env]\n{name} = \"/tmp/x.so\"\n")).unwrap();
        let result = place.run(&["try", "--with", file.to_str().unwrap(), "--", "/bin/true"]);
        assert_eq!(result.code, 1, "{}", result.out);
        assert!(result.err.contains("preload"), "{}", result.err);
    }
}

/// TOML of twelve megabytes took 600 MB.
#[test]
fn files_of_the_user_that_no_user_writes_are_refused_by_their_size() {
    let place = Place::new();
    let file = place.file("home/long.toml");
    fs::write(&file, "[[a]]\n".repeat(2_000_000)).unwrap();
    let file = file.to_str().unwrap();
    for words in [
        &["claims", "--file", file, "list"][..],
        &["try", "--with", file, "--", "/bin/true"],
        &[
            "list",
            "--experiments",
            place.file("home").to_str().unwrap(),
        ],
    ] {
        let result = place.run(words);
        assert_eq!(result.code, 1, "{words:?}: {}", result.out);
        assert!(
            result.err.lines().count() == 1 && result.err.contains("long.toml"),
            "{words:?}: {}",
            result.err
        );
    }
}

#[test]
fn a_home_that_depends_on_the_current_folder_is_refused() {
    let place = Place::new();
    let mut command = place.command(&["try", "--pairs", "1", "--", "/bin/true"]);
    command.env("HOME", "home").env_remove("XDG_DATA_HOME");
    let result = crate::support::place::said(&mut command);
    assert_eq!(result.code, 1, "{}", result.out);
    assert!(
        result.err.contains("HOME is not an absolute path: home"),
        "{}",
        result.err
    );
}

/// With `sudo -E`, HOME may be another user's: what is kept and saved there is not taken for this user's.
#[test]
fn what_another_users_home_has_is_not_read_as_ones_own() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can have another user's home");
    }
    let place = Place::new();
    let home = place.file("theirs");
    let store = home.join(".local/share/pagewise/runs");
    fs::create_dir_all(&store).unwrap();
    fs::create_dir_all(home.join(".config/pagewise")).unwrap();
    fs::write(home.join(".config/pagewise/advice.json"), "{}").unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o777)).unwrap();
    for below in [
        home.clone(),
        home.join(".config"),
        home.join(".config/pagewise"),
    ] {
        chown(&below, Some(65_534), Some(65_534)).unwrap();
    }
    for (words, code) in [
        (&["runs"][..], 0),
        (&["report", "last"], 1),
        (&["advise"], 1),
    ] {
        let mut command = place.command(words);
        command
            .env("HOME", &home)
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME");
        let result = crate::support::place::said(&mut command);
        assert_eq!(result.code, code, "{words:?}: {}", result.err);
        assert!(
            result.err.contains("another user can change"),
            "{words:?}: {}{}",
            result.out,
            result.err
        );
    }
}
