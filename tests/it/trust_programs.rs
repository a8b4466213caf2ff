//! Programs, libraries, headers and caches that another user can change, or that stand in the current folder: none is
//! started, loaded, obeyed or removed.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::{Place, Said, said};
use crate::support::skips::{skip, thorough};
use crate::trust::{NOBODY, give_away, is_root, refused};

/// Programs that Pagewise starts by itself.
const STARTED: [&str; 7] = ["cc", "go", "java", "javac", "python3", "rustc", "strace"];

/// Writes a script that leaves a mark.
fn plant(program: &Path, mark: &Path) {
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(program, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn plant_all(folder: &Path, mark: &Path) {
    STARTED
        .iter()
        .for_each(|name| plant(&folder.join(name), mark));
}

/// What was printed, without its line breaks.
fn shown(result: &Said) -> String {
    result.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// Ends after so many seconds: code 137.
fn within(seconds: &str, place: &Place, words: &[&str]) -> Command {
    let line = place.command(words);
    let mut command = Command::new("timeout");
    place.settle(&mut command);
    command
        .args(["-s", "KILL", seconds])
        .arg(line.get_program())
        .args(line.get_args());
    command
}

/// Two functions in C; the file includes the header by its name in quotes, and one of its own.
const FUNCTIONS: &str = "#include \"pagewise.h\"\n#include \"mine.h\"\nBASELINE(a) { PHASE(\"p\") { BUMP; } }\nBENCH(b) { PHASE(\"p\") { BUMP; } }\n";

/// D6: neither a relative nor an empty part of PATH, nor a relative JAVA_HOME.
#[test]
fn programs_of_the_current_folder_are_not_started() {
    let place = Place::new();
    let (here, mark) = (place.file("home/here"), place.file("mark"));
    plant_all(&here, &mark);
    plant(&here.join("jdk/bin/java"), &mark);
    std::fs::write(here.join("mine.h"), "#define BUMP (void)0\n").unwrap();
    std::fs::write(here.join("mine.c"), FUNCTIONS).unwrap();
    for parts in [
        format!(".:{}", path()),
        format!(":{}", path()),
        format!("../here:{}", path()),
    ] {
        let verbs: [&[&str]; 2] = [&["doctor"], &["bench", "mine.c", "--dry-run"]];
        for words in verbs {
            let mut command = place.command(words);
            command
                .current_dir(&here)
                .env("PATH", &parts)
                .env("JAVA_HOME", "jdk");
            let result = said(&mut command);
            assert!(
                !mark.exists(),
                "{words:?} with PATH {parts} ran a planted program"
            );
            assert_eq!(result.code, 0, "{}{}", result.out, result.err);
            if words[0] == "doctor" {
                let shown = shown(&result);
                assert!(shown.contains("JAVA_HOME (jdk)"), "{shown}");
                assert!(shown.contains("PATH"), "{shown}");
            }
        }
    }
}

/// D6: an absolute part of PATH that another user can change, and another user's file in one that nobody else can change.
#[test]
fn programs_that_another_user_can_change_are_not_started() {
    let place = Place::new();
    let (open, theirs, file, mark) = (
        place.file("open"),
        place.file("theirs"),
        place.file("file"),
        place.file("mark"),
    );
    for folder in [&open, &theirs, &file] {
        plant_all(folder, &mark);
    }
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut folders = vec![open];
    if is_root() {
        give_away(&theirs);
        STARTED.iter().for_each(|name| give_away(&file.join(name)));
        folders.extend([theirs, file]);
    }
    for folder in folders {
        let parts = format!("{}:{}", folder.display(), path());
        let result = said(place.command(&["doctor"]).env("PATH", &parts));
        assert!(!mark.exists(), "a program of {} ran", folder.display());
        assert_eq!(result.code, 0, "{}", result.err);
        // Nothing else is left, and the reason is named.
        let alone = said(
            place
                .command(&["doctor"])
                .env("PATH", &folder)
                .env_remove("JAVA_HOME"),
        );
        let shown = shown(&alone);
        assert!(
            !mark.exists() && shown.contains("another user can change"),
            "{shown}"
        );
    }
}

/// D1: a file of the current folder names the compiler that rustup starts.
#[test]
fn a_toolchain_file_of_the_current_folder_is_not_obeyed() {
    let rustc = Command::new("sh")
        .args(["-c", "readlink -f $(command -v rustc)"])
        .output();
    let rustc = String::from_utf8_lossy(&rustc.unwrap().stdout).into_owned();
    if !rustc.trim().ends_with("rustup") {
        return skip("rustc is none of rustup's here");
    }
    let place = Place::new();
    let (here, mark) = (place.file("home/here"), place.file("mark"));
    plant(&here.join("evil/bin/rustc"), &mark);
    let text = format!("[toolchain]\npath = \"{}\"\n", here.join("evil").display());
    std::fs::write(here.join("rust-toolchain.toml"), text).unwrap();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let mut command = place.command(&["doctor"]);
    for (name, below) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        command.env(
            name,
            std::env::var_os(name).unwrap_or(home.join(below).into()),
        );
    }
    let result = said(command.current_dir(&here));
    assert!(!mark.exists(), "the compiler of a file in the folder ran");
    assert!(
        result.code == 0 && shown(&result).contains("rustc 1."),
        "{}",
        result.out
    );
}

/// D28: a go.mod of the current folder makes `go version` fetch a toolchain, and a silent proxy never answers.
#[test]
fn a_module_of_the_current_folder_fetches_no_toolchain() {
    if Command::new("go").arg("version").output().is_err() {
        return skip("there is no Go toolchain here");
    }
    let place = Place::new();
    let here = place.file("home/here");
    std::fs::create_dir(&here).unwrap();
    std::fs::write(
        here.join("go.mod"),
        "module x\n\ngo 1.99.0\n\ntoolchain go1.99.0\n",
    )
    .unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let mut command = within("300", &place, &["doctor"]);
    command
        .current_dir(&here)
        .env(
            "GOPROXY",
            format!("http://{}", silent.local_addr().unwrap()),
        )
        .env("GOSUMDB", "off")
        .env("GOTOOLCHAIN", "auto");
    let result = said(&mut command);
    assert!(silent.accept().is_err(), "go asked the proxy");
    assert!(
        result.code == 0 && shown(&result).contains("go version go1."),
        "{}",
        result.out
    );
}

/// D30: a worker whose list never ends, or never begins.
#[test]
fn a_list_without_end_is_ended() {
    let place = Place::new();
    let (endless, silent) = (place.file("endless"), place.file("silent"));
    std::fs::write(&endless, "#!/bin/sh\nexec yes method\n").unwrap();
    std::fs::write(&silent, "#!/bin/sh\nsleep 1000\n").unwrap();
    let check = |program: &Path, seconds: &str, part: &str| {
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = program.to_str().unwrap();
        for words in [&["--worker", program, "list"][..], &["bench", program]] {
            refused(&said(&mut within(seconds, &place, words)), part);
        }
    };
    check(&endless, "25", "it printed more than 16 MiB");
    if thorough() {
        check(&silent, "60", "it gave no answer within 30 s");
    }
}

/// D27: a library of the current folder is neither executed by the search nor preloaded.
#[test]
fn libraries_of_the_current_folder_are_not_loaded() {
    let place = Place::new();
    let (here, mark) = (place.file("home/here"), place.file("mark"));
    std::fs::create_dir(&here).unwrap();
    let code = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) void f(void) {{ open(\"{}\", O_CREAT, 0600); }}\n",
        mark.display()
    );
    std::fs::write(here.join("evil.c"), code).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libjemalloc.so.2", "evil.c"])
        .current_dir(&here)
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skip("there is no C compiler here");
    }
    for folders in [".", ":/usr/lib", "/usr/lib;.", here.to_str().unwrap()] {
        if folders.starts_with('/') && !folders.contains(';') {
            if !is_root() {
                continue;
            }
            give_away(&here);
        }
        let mut command = place.command(&[
            "try",
            "--pairs",
            "1",
            "--with",
            "jemalloc",
            "--",
            "/bin/true",
        ]);
        said(command.current_dir(&here).env("LD_LIBRARY_PATH", folders));
        assert!(
            !mark.exists(),
            "a library was loaded with LD_LIBRARY_PATH {folders}"
        );
    }
}

/// Another user's files beside the user's own in a folder like /tmp.
fn in_a_shared_folder(file: &str, text: &str, planted: &[(&str, String)]) -> (Place, PathBuf) {
    let place = Place::new();
    let shared = place.file("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    for (name, planted) in planted {
        std::fs::write(shared.join(name), planted).unwrap();
        if rustix::process::geteuid().is_root() {
            give_away(&shared.join(name));
        }
    }
    std::fs::write(shared.join("mine.h"), "#define BUMP (void)0\n").unwrap();
    std::fs::write(shared.join(file), text).unwrap();
    (place, shared)
}

fn benched(place: &Place, shared: &Path, file: &str) -> Said {
    said(
        place
            .command(&["bench", file, "--dry-run"])
            .current_dir(shared),
    )
}

/// D2: the carried header is taken, whatever stands beside the file.
#[test]
fn a_neighbours_header_is_not_compiled() {
    let planted = ("pagewise.h", "#error planted\n".to_owned());
    let (place, shared) = in_a_shared_folder("mine.c", FUNCTIONS, &[planted]);
    let result = benched(&place, &shared, "mine.c");
    assert_eq!(result.code, 0, "{}{}", result.out, result.err);
    if is_root() {
        give_away(&shared.join("mine.h"));
        let result = benched(&place, &shared, "mine.c");
        assert!(
            result.code == 1 && result.err.contains("mine.h"),
            "{}",
            result.err
        );
    }
}

/// D2: a module of Python's library is Python's.
#[test]
fn a_neighbours_module_is_not_imported() {
    let mark = std::env::temp_dir().join(format!("pagewise-mark-{}", std::process::id()));
    let script = "import pagewise\nimport struct\nimport mmap\nimport colorsys\n\n@pagewise.bench\ndef a(b):\n    pass\n";
    let planted = ["struct.py", "mmap.py", "colorsys.py"].map(|name| {
        (
            name,
            format!("open({:?}, 'w').close()\n", mark.display().to_string()),
        )
    });
    let (place, shared) = in_a_shared_folder("mine.py", script, &planted);
    if !place.run(&["list", "fault"]).out.contains("python-") {
        return skip("there is no CPython here");
    }
    benched(&place, &shared, "mine.py");
    let ran = std::fs::remove_file(&mark).is_ok();
    assert!(!ran, "a module of another user was imported");
}

/// D2: a library beside the user's own would be loaded before the system's.
#[test]
fn libraries_beside_the_users_own_are_not_loaded() {
    let (place, shared) = in_a_shared_folder("f.c", "void f(void) {}\n", &[]);
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libf.so", "f.c"])
        .current_dir(&shared)
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skip("there is no C compiler here");
    }
    refused(
        &benched(&place, &shared, "./libf.so:f"),
        "libraries beside it would be loaded first",
    );
}

/// A link of another user.
fn link(target: &Path, link: &Path) {
    symlink(target, link).unwrap();
    let nobody: u32 = NOBODY.parse().unwrap();
    lchown(link, Some(nobody), Some(nobody)).unwrap();
}

/// D3: with the cache folder of another user nothing of root's is removed or used, and one sentence says so.
#[test]
fn the_cache_of_another_user_is_not_swept() {
    if !is_root() {
        return;
    }
    for depth in ["", "workers", "workers/0123456789abcdef"] {
        let place = Place::new();
        let (cache, victim) = (place.file("cache"), place.file("victim"));
        let left = "workers/0123456789abcdef/built-precious/file";
        let file = victim.join(left.strip_prefix(depth).unwrap().trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::set_permissions(
            file.parent().unwrap(),
            std::fs::Permissions::from_mode(0o700),
        )
        .unwrap();
        std::fs::write(&file, "").unwrap();
        let planted = cache.join("pagewise").join(depth);
        let planted = PathBuf::from(planted.to_str().unwrap().trim_end_matches('/'));
        std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
        give_away(&cache);
        link(&victim, &planted);
        for words in [&["show", "fault/touch"][..], &["doctor"]] {
            let result = said(place.command(words).env("XDG_CACHE_HOME", &cache));
            assert!(
                file.exists(),
                "{words:?} removed a folder of root's below {depth:?}"
            );
            assert_eq!(result.code, 0, "{}", result.err);
            assert_eq!(
                result.err.matches("the cache is not used").count(),
                1,
                "{}",
                result.err
            );
        }
        assert!(
            crate::support::place::entries(&victim).len() == 1,
            "something was made behind the link"
        );
    }
}

/// D3: what lies behind another user's XDG_RUNTIME_DIR is no journal of root's.
#[test]
fn files_behind_the_runtime_folder_of_another_user_stay() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (roots, runtime) = (place.file("roots"), place.file("theirs"));
    let secret = roots.join("pagewise/secret");
    std::fs::create_dir_all(secret.parent().unwrap()).unwrap();
    std::fs::write(&secret, "key").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    link(&roots, &runtime);
    let result = said(place.command(&["runs"]).env("XDG_RUNTIME_DIR", &runtime));
    assert_eq!(result.code, 0, "{}", result.err);
    assert!(secret.exists(), "a file of root's was removed");
}

/// D6: the user's own order finds its program as the shell does, but for another user's file in the current folder.
#[test]
fn a_measured_command_is_the_users_own() {
    let place = Place::new();
    let (here, mark) = (place.file("home/here"), place.file("mark"));
    plant(&here.join("order"), &mark);
    let run = || {
        let mut command = place.command(&["try", "--pairs", "1", "--", "order", "true"]);
        said(
            command
                .current_dir(&here)
                .env("PATH", format!(".:{}", path())),
        )
    };
    let result = run();
    assert!(mark.exists(), "{}", result.err);
    std::fs::remove_file(&mark).unwrap();
    if is_root() {
        give_away(&here.join("order"));
        refused(&run(), "write ./order to run it");
        assert!(!mark.exists(), "another user's program ran");
    }
}
