//! `pagewise try` on real programs: what is compared, what proves it, and that every way of going wrong has a clear outcome
//! and leaves nothing running. No test asserts a time.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::place::{Place, Said, entries};
use crate::support::skips::{skip, thorough};
use crate::support::waiting::wait_until;
use serde_json::Value;

const FEW: [&str; 3] = ["try", "--pairs", "6"];

fn tried(place: &Place, options: &[&str], command: &[&str]) -> Said {
    place.run(&[&FEW, options, &["--"], command].concat())
}

fn summary(place: &Place, options: &[&str], command: &[&str]) -> Value {
    let said = tried(place, &[options, &["--json"]].concat(), command);
    let value: Value = serde_json::from_str(&said.out)
        .unwrap_or_else(|e| panic!("{e}: {} {}", said.out, said.err));
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/try.schema.json"
    );
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    value
}

fn arm<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let arms = summary["arms"].as_array().unwrap();
    arms.iter()
        .find(|a| a["name"] == name)
        .unwrap_or_else(|| panic!("no arm {name} in {summary:#}"))
}

/// Processes whose command line has this word, which no other test has.
fn running(word: &str) -> usize {
    let line = |folder: &Path| std::fs::read(folder.join("cmdline")).unwrap_or_default();
    let has = |folder: &Path| {
        line(folder)
            .split(|b| *b == 0)
            .any(|w| w == word.as_bytes())
    };
    entries(Path::new("/proc"))
        .iter()
        .filter(|p| has(p))
        .count()
}

#[test]
fn a_setting_is_proved_and_the_try_is_kept() {
    let place = Place::new();
    let all = summary(
        &place,
        &["--with", "no-thp,pin,env:PAGEWISE_TRIED=1"],
        &["sh", "-c", "echo hello"],
    );
    assert_eq!(
        (all["schema"].as_u64(), all["plan"]["kind"].as_str()),
        (Some(7), Some("try"))
    );
    assert_eq!(all["blocks"], 6);
    for name in ["no-thp", "pin", "env:PAGEWISE_TRIED=1"] {
        let of = arm(&all, name);
        assert_eq!(
            (&of["status"], &of["proof"]["took_effect"]),
            (&Value::from("ok"), &Value::from(true)),
            "{of:#}"
        );
        assert_eq!(of["against"]["faults"]["ratio"]["launches"], 6);
    }
    let id = all["plan"]["run"].as_str().unwrap();
    let runs = place.run(&["runs"]);
    assert!(
        runs.out.contains(id) && runs.out.contains("try no-thp pin"),
        "{}",
        runs.out
    );
    let again: Value = serde_json::from_str(&place.run(&["report", id, "--json"]).out).unwrap();
    assert_eq!(again, all);
    let screen = place.run(&["report", id]).out;
    assert!(
        screen.lines().count() <= 30 && screen.contains("A/A check"),
        "{screen}"
    );
}

/// Memory by malloc and by a mapping; five times the work without QUICK; it waits where its last argument says so.
const DEPLOYED: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { BYTES = 32 << 20 };
int main(int argc, char **argv) {
    char *m = malloc(BYTES), *p = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(m, 1, BYTES);
    memset(p, 1, BYTES);
    for (volatile long i = 0, n = getenv("QUICK") ? 40000000 : 200000000; i < n; i++) { }
    if (argc > 1 && !strcmp(argv[argc - 1], "wait")) pause();
    return argv[0] == m;
}
"#;

/// What was said once `quick` won. A machine that others use may leave even five times the work open, which is no error: more
/// pairs bear a quarter of disturbed ones, and a second and a third try follow.
fn won(place: &Place, options: &[&str], program: &str) -> Said {
    let words = [&["try", "--pairs", "24"], options, &["--", program]].concat();
    let mut tries = (0..3).map(|_| place.run(&words));
    let mut said = tries.next().unwrap();
    while said.code == 0 && !said.out.contains("\nAnswers\n  Use quick: at least") {
        said = tries.next().unwrap_or_else(|| panic!("{}", said.out));
    }
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    said
}

/// Bytes of a process in huge pages, once it waits.
fn huge_bytes(pid: u32) -> u64 {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    wait_until("it waits", || {
        read("comm").trim() == "deployed" && read("status").contains("State:\tS")
    });
    let huge = read("smaps_rollup").lines().find_map(|line| {
        line.strip_prefix("AnonHugePages:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()
    });
    huge.unwrap_or(0u64) << 10
}

#[test]
fn what_won_is_deployed_by_the_lines_that_are_written() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    if !std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
        .unwrap_or_default()
        .contains("[madvise]")
    {
        return skip("transparent huge pages are not on madvise");
    }
    let (source, program) = (place.file("deployed.c"), place.file("deployed"));
    std::fs::write(&source, DEPLOYED).unwrap();
    assert!(
        Command::new("gcc")
            .args(["-O1", "-o"])
            .args([&program, &source])
            .status()
            .unwrap()
            .success()
    );
    let setting = place.file("quick.toml");
    let text = "name = \"quick\"\ntitle = \"less work\"\nside_effects = \"none\"\nadvise_mappings = true\nproof = [\"huge\"]\n\
        tunables = \"glibc.malloc.hugetlb=1\"\nenv = { QUICK = \"100 %\" }\n";
    std::fs::write(&setting, text).unwrap();
    let folder = place.file("policy");
    let options = [
        "--with",
        setting.to_str().unwrap(),
        "--emit",
        folder.to_str().unwrap(),
    ];
    let said = won(&place, &options, program.to_str().unwrap());
    assert!(
        said.out
            .contains("export GLIBC_TUNABLES=glibc.malloc.hugetlb=1"),
        "{}",
        said.out
    );
    let whole = 60 << 20;
    let mut by_script = Command::new(folder.join("run.sh"))
        .arg(&program)
        .arg("wait")
        .spawn()
        .unwrap();
    let huge = huge_bytes(by_script.id());
    by_script.kill().unwrap();
    by_script.wait().unwrap();
    assert!(huge >= whole, "{huge} bytes in huge pages by run.sh");
    let mut by_shell = Command::new("sh");
    by_shell
        .current_dir(&folder)
        .args(["-c", ". ./environment.sh; exec \"$0\" wait"])
        .arg(&program);
    let mut by_shell = by_shell.spawn().unwrap();
    let huge = huge_bytes(by_shell.id());
    by_shell.kill().unwrap();
    by_shell.wait().unwrap();
    assert!(
        huge >= whole,
        "{huge} bytes in huge pages by environment.sh"
    );
    // As systemd reads a drop-in (systemd.exec(5)): quotes around, and a percent sign twice.
    let unit = std::fs::read_to_string(folder.join("systemd.conf")).unwrap();
    let variables = unit.lines().filter_map(|line| {
        line.strip_prefix("Environment=\"")?
            .strip_suffix('"')?
            .split_once('=')
    });
    let variables: Vec<(String, String)> = variables
        .map(|(n, v)| (n.to_owned(), v.replace("%%", "%")))
        .collect();
    assert!(
        variables
            .iter()
            .any(|(name, value)| name == "QUICK" && value == "100 %"),
        "{unit}"
    );
    let mut by_unit = Command::new(&program)
        .arg("wait")
        .env_clear()
        .envs(variables)
        .spawn()
        .unwrap();
    let huge = huge_bytes(by_unit.id());
    by_unit.kill().unwrap();
    by_unit.wait().unwrap();
    assert!(huge >= whole, "{huge} bytes in huge pages by the drop-in");
    let recipe = std::fs::read_to_string(folder.join("Dockerfile")).unwrap();
    assert!(
        recipe.contains("COPY ") && recipe.contains("ENV LD_PRELOAD=\"/usr/local/lib/"),
        "{recipe}"
    );
    assert!(recipe.contains("# Side effect: none."), "{recipe}");
    assert!(unit.contains("\n[Service]\nEnvironment="), "{unit}");
    let files: Vec<_> = crate::support::place::entries(&folder)
        .iter()
        .map(|path| path.file_name().unwrap().to_owned())
        .collect();
    assert!(
        files.len() == 5 && !files.contains(&"no-thp.c".into()),
        "{files:?}"
    );
    let again = tried(&place, &options, &[program.to_str().unwrap()]);
    assert!(
        again.code == 1 && again.err.contains("policy"),
        "{}",
        again.err
    );
}

/// Complaints of systemd about a drop-in, apart from its own age; none where there is no systemd.
fn complaints(place: &Place, drop_in: &Path) -> String {
    let units = place.file("units");
    std::fs::create_dir_all(units.join("deployed.service.d")).unwrap();
    std::fs::write(
        units.join("deployed.service"),
        "[Unit]\nDescription=deployed\n[Service]\nExecStart=/bin/true\n",
    )
    .unwrap();
    std::fs::copy(drop_in, units.join("deployed.service.d/pagewise.conf")).unwrap();
    let path = format!("{}:", units.display());
    let verify = Command::new("systemd-analyze")
        .args(["verify", "deployed.service"])
        .env("SYSTEMD_UNIT_PATH", path)
        .output();
    let Ok(verify) = verify else {
        return String::new();
    };
    let said = String::from_utf8_lossy(&verify.stderr).into_owned();
    said.lines()
        .filter(|line| line.contains("pagewise.conf") && !line.contains("'MemoryTHP'"))
        .collect()
}

#[test]
fn lines_of_every_kind_are_deployed() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let program = built(&place, "deployed", DEPLOYED, &["-O1"]).expect("gcc builds");
    let (setting, folder) = (place.file("quick.toml"), place.file("policy"));
    let text = "name = \"quick\"\ntitle = \"less work\"\nno_thp = true\ncpus = \"last\"\narguments = [\"a word\"]\n\
        proof = [\"thp-disabled\"]\njava_options = \"-XX:+UseTransparentHugePages\"\n\
        tunables = \"glibc.malloc.hugetlb=1\"\nenv = { QUICK = \"a \\\"b\\\" $c %d\" }\n";
    std::fs::write(&setting, text).unwrap();
    won(
        &place,
        &[
            "--with",
            setting.to_str().unwrap(),
            "--emit",
            folder.to_str().unwrap(),
        ],
        &program,
    );
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let built = Command::new("cc")
        .current_dir(&folder)
        .args(["-o", "no-thp", "no-thp.c"])
        .status();
    assert!(built.unwrap().success(), "{}", file("no-thp.c"));
    let mut by_script = Command::new(folder.join("run.sh"))
        .arg(&program)
        .arg("wait")
        .spawn()
        .unwrap();
    let huge = huge_bytes(by_script.id());
    let of_process =
        |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", by_script.id())).unwrap();
    let [status, words, variables] = ["status", "cmdline", "environ"].map(of_process);
    by_script.kill().unwrap();
    by_script.wait().unwrap();
    let cpu = file("systemd.conf")
        .lines()
        .find_map(|line| line.strip_prefix("CPUAffinity=").map(str::to_owned))
        .unwrap();
    assert!(
        huge == 0 && status.contains("THP_enabled:\t0"),
        "malloc asks for huge pages, and {huge} bytes are in them: {status}"
    );
    assert!(
        status.contains(&format!("Cpus_allowed_list:\t{cpu}\n")),
        "{cpu}: {status}"
    );
    assert_eq!(words, format!("{program}\0a word\0wait\0"));
    assert!(
        variables
            .split('\0')
            .any(|variable| variable == "QUICK=a \"b\" $c %d"),
        "{variables}"
    );
    assert_eq!(complaints(&place, &folder.join("systemd.conf")), "");
    let java = Command::new("java")
        .current_dir(&folder)
        .args(["@jvm.options", "-XX:+PrintFlagsFinal", "-version"])
        .output();
    if let Ok(java) = java {
        let flags = String::from_utf8_lossy(&java.stdout).into_owned();
        let flag = flags
            .lines()
            .find(|line| line.contains(" UseTransparentHugePages "))
            .unwrap_or_default();
        assert!(
            flag.contains("= true"),
            "{flag} {}",
            String::from_utf8_lossy(&java.stderr)
        );
    }
}

#[test]
fn what_does_not_take_effect_has_no_figures() {
    let place = Place::new();
    // A program without malloc cannot be helped by it, and one that is linked statically loads no library.
    let source = place.file("static.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let program = place.file("static");
    let built = Command::new("gcc")
        .args(["-static", "-o"])
        .args([&program, &source])
        .status();
    assert!(built.is_ok_and(|s| s.success()), "gcc links statically");
    let library = place.file("nothing.so");
    let built = Command::new("gcc")
        .args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"])
        .arg(&library)
        .status();
    assert!(built.is_ok_and(|s| s.success()));
    let setting = place.file("nothing.toml");
    let text = format!("name = \"nothing\"\ntitle = \"a library\"\npreload = [{library:?}]\n");
    std::fs::write(&setting, text).unwrap();
    let setting = setting.to_str().unwrap();
    let of_static = summary(&place, &["--with", setting], &[program.to_str().unwrap()]);
    assert_eq!(
        arm(&of_static, "nothing")["status"],
        "no-effect",
        "{of_static:#}"
    );
    assert!(
        arm(&of_static, "nothing")["against"]
            .as_object()
            .unwrap()
            .is_empty()
    );
    let of_shell = summary(&place, &["--with", setting], &["sh", "-c", "true; true"]);
    assert_eq!(arm(&of_shell, "nothing")["status"], "ok", "{of_shell:#}");
}

#[test]
fn changed_output_and_other_ends_are_failures() {
    let place = Place::new();
    let all = summary(
        &place,
        &["--with", "env:CHANGED=1", "--with", "env:FAILED=1"],
        &["sh", "-c", "echo $CHANGED; [ -z \"$FAILED\" ]"],
    );
    let changed = arm(&all, "env:CHANGED=1");
    assert!(
        changed["status"] == "failed" && changed["failure"]["word"] == "output-changed",
        "{changed:#}"
    );
    let failed = arm(&all, "env:FAILED=1");
    assert_eq!(
        (&failed["failure"]["word"], &failed["failure"]["code"]),
        (&Value::from("exit"), &Value::from(1)),
        "{failed:#}"
    );
    // What failed is not run again.
    assert_eq!(
        (
            changed["runs"].as_u64(),
            arm(&all, "unchanged")["runs"].as_u64()
        ),
        (Some(0), Some(6))
    );
}

#[test]
fn piped_input_is_kept_and_given_to_every_run() {
    let place = Place::new();
    let words = [
        &FEW[..],
        &[
            "--input",
            "-",
            "--json",
            "--",
            "sh -c 'read word; test $word = piped'",
            "cat",
        ],
    ]
    .concat();
    let mut command = place.command(&words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"piped\n").unwrap();
    let all: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&arm(&all, "cat")["status"], &all["blocks"]),
        (&Value::from("ok"), &Value::from(6)),
        "{all:#}"
    );
    let words = [&FEW[..], &["--", "true"]].concat();
    let said = crate::support::place::said(place.command(&words).stdin(Stdio::piped()));
    assert!(said.err.contains("--input -"), "{}", said.err);
}

#[test]
fn commands_are_compared_and_exported() {
    let place = Place::new();
    let file = place.file("hyperfine.json");
    let options = ["--export-hyperfine", file.to_str().unwrap()];
    let all = summary(
        &place,
        &options,
        &["head -c 10 /dev/zero", "head -c 20 /dev/zero"],
    );
    assert!(
        all["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|n| n["code"] == "outputs-differ"),
        "{all:#}"
    );
    let exported: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let results = exported["results"].as_array().unwrap();
    assert_eq!(
        (results.len(), results[1]["command"].as_str()),
        (2, Some("head -c 20 /dev/zero"))
    );
    assert_eq!(results[0]["times"].as_array().unwrap().len(), 6);
    assert!(
        results[0]["exit_codes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|c| c == 0)
    );
}

#[test]
fn what_goes_wrong_has_a_clear_outcome_and_leaves_nothing() {
    let place = Place::new();
    let reason = |command: &[&str], options: &[&str]| {
        let said = tried(&place, options, command);
        assert_eq!(said.code, 4, "{} {}", said.out, said.err);
        said.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(reason(&["sh -c 'kill -SEGV $$'"], &[]).contains("SIGSEGV"));
    assert!(
        reason(&["sh -c 'echo oops >&2; exit 3'"], &[])
            .contains("exit code 3; --ignore-failure measures it all the same: oops")
    );
    assert!(reason(&["sleep 61.0625"], &["--time-limit", "200ms"]).contains("--time-limit"));
    assert!(reason(&["setsid sleep 62.0625 & true"], &[]).contains("left 1 process running"));
    assert!(
        reason(&["for i in $(seq 1000); do sleep 63.0625 & done"], &[])
            .contains("left 1000 processes running")
    );
    assert!(reason(&["read line </dev/tty"], &[]).contains("/dev/tty"));
    assert!(reason(&["no-such-program --x | cat; exit 127"], &[]).contains("exit code 127"));
    for word in ["61.0625", "62.0625", "63.0625"] {
        wait_until("nothing is left", || running(word) == 0);
    }
    let wrong = |words: &[&str], what: &str| {
        let said = place.run(words);
        assert!(
            said.code == 1 && said.err.contains(what) && said.err.lines().count() == 1,
            "{}",
            said.err
        );
    };
    wrong(&["try", "--", "no-such-program"], "no-such-program");
    wrong(
        &["try", "--with", "thb", "--", "true"],
        "did you mean \"thp\"",
    );
    wrong(&["try", "--with", "thp"], "nothing to try");
    wrong(&["try", "--input", "/no/such", "--", "true"], "/no/such");
    wrong(&["try", "--prepare", "false", "--", "true"], "--prepare");
}

#[test]
fn a_try_that_is_killed_ends_its_command_and_can_be_completed() {
    let place = Place::new();
    let out = place.file("try");
    let name = out.to_str().unwrap();
    let marker = place.file("slow");
    std::fs::write(&marker, "").unwrap();
    // It waits only as long as the marker is there.
    let line = format!("[ ! -e {} ] || sleep 64.0625", marker.display());
    for signal in ["-INT", "-KILL"] {
        let _ = std::fs::remove_dir_all(&out);
        let mut child = place.command(&["try", "--pairs", "6", "--out", name, "--", &line]);
        let mut child = child
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the command runs", || running("64.0625") > 0);
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        child.wait().unwrap();
        wait_until("the command is gone", || running("64.0625") == 0);
    }
    std::fs::remove_file(&marker).unwrap();
    let said = place.run(&["try", "--resume", name, "--json", "--", &line]);
    let all: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    assert_eq!((said.code, all["blocks"].as_u64()), (0, Some(6)));
}

/// A program from a C source; `None` where the compiler cannot make it.
fn built(place: &Place, name: &str, source: &str, flags: &[&str]) -> Option<String> {
    let (file, program) = (place.file(&format!("{name}.c")), place.file(name));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("gcc")
        .args(["-O1", "-o"])
        .args([&program, &file])
        .args(flags)
        .output();
    done.is_ok_and(|d| d.status.success())
        .then(|| program.to_str().unwrap().to_owned())
}

#[test]
fn unusual_programs_are_tried() {
    let place = Place::new();
    let status = |options: &[&str], command: &str, wanted: &str| {
        let said = place.run(
            &[
                &["try", "--pairs", "1", "--json"],
                options,
                &["--with", "env:TRIED=1", "--", command],
            ]
            .concat(),
        );
        let of: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
        assert_eq!(
            (said.code, arm(&of, "env:TRIED=1")["status"].as_str()),
            (0, Some(wanted)),
            "{command}: {of:#}"
        );
    };
    status(&[], "exec 0<&- 1>&- 2>&-; true", "ok");
    // It takes the variable away again, so that there is nothing to measure.
    status(&[], "env -i /bin/true", "no-effect");
    status(&[], "head -c 1100000000 /dev/zero", "ok");
    status(&["--discard-output"], "head -c 1100000000 /dev/zero", "ok");
    status(
        &[],
        "for i in $(seq 1000); do true & done; wait; exit 0",
        "ok",
    );
    let owner = place.file("owner");
    assert!(
        Command::new("install")
            .args(["-m", "4755", "/bin/true"])
            .arg(&owner)
            .status()
            .unwrap()
            .success()
    );
    status(&[], owner.to_str().unwrap(), "ok");
    let start = "void _start(void) { __asm__(\"int $0x80\" : : \"a\"(1), \"b\"(0)); }";
    match built(
        &place,
        "narrow",
        start,
        &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie"],
    ) {
        Some(narrow) => status(&[], &narrow, "ok"),
        None => skip("the compiler makes no programs of 32 bits"),
    }
}

/// The runs of a program whose time in the kernel is sampled.
fn sampled(place: &Place, program: &str) -> Vec<Value> {
    let all = summary(place, &["--sample-kernel"], &[program]);
    let folder = place
        .file("data/pagewise/runs")
        .join(all["plan"]["run"].as_str().unwrap());
    let text = std::fs::read_to_string(folder.join("launches.jsonl")).unwrap();
    let runs = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    runs.filter(|run| run["block"].as_i64().unwrap() >= 0)
        .collect()
}

/// The share of CPU time spent in the kernel, and that of the samples, where there are any.
fn kernel_shares(run: &Value) -> (f64, Option<f64>) {
    let share =
        |of: &Value, user: &str, kernel: &str| Some((of[user].as_f64()?, of[kernel].as_f64()?));
    let (user, kernel) = share(run, "user_us", "system_us").unwrap();
    let seen =
        share(&run["split"], "user", "kernel").map(|(user, kernel)| kernel / (user + kernel));
    (kernel / (user + kernel), seen)
}

#[test]
fn user_and_kernel_time_are_told_apart_by_samples() {
    let place = Place::new();
    let head = "#include <fcntl.h>\n#include <time.h>\n#include <unistd.h>\nstatic char block[1 << 16];\nint main(void) {\n\
                int zero = open(\"/dev/zero\", O_RDONLY); struct timespec t; do { ";
    let tail = "clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); } while (!t.tv_sec && t.tv_nsec < 100000000); return zero < 0; }\n";
    let calm = "for (volatile int i = 0; i < 1000000; i++); ";
    let calls = "for (int i = 0; i < 100; i++) if (read(zero, block, sizeof block) < 0) return 1; ";
    let program = |name: &str, work: &str| {
        built(&place, name, &format!("{head}{work}{tail}"), &[]).expect("gcc")
    };
    let (calm, calls) = (
        sampled(&place, &program("calm", calm)),
        sampled(&place, &program("calls", calls)),
    );
    // Single runs may meet the other tests: the middle one tells.
    let middle = |runs: &[Value]| {
        let mut shares: Vec<f64> = runs.iter().map(|run| kernel_shares(run).0).collect();
        shares.sort_by(f64::total_cmp);
        shares[shares.len() / 2]
    };
    assert!(
        middle(&calm) < 0.2 && middle(&calls) > 0.8,
        "{} and {}",
        middle(&calm),
        middle(&calls)
    );
    if !crate::profile::may_follow() {
        return skip("perf_event_open is not permitted here");
    }
    for run in calm.iter().chain(&calls) {
        let (told, seen) = kernel_shares(run);
        assert!((told - seen.unwrap()).abs() < 1e-3, "{run:#}");
        // A tenth of a second has two hundred samples of 500 µs.
        let samples =
            run["split"]["user"].as_u64().unwrap() + run["split"]["kernel"].as_u64().unwrap();
        assert!((100..500).contains(&samples), "{run:#}");
    }
    // Processes that end before their first sample are left to the ticks.
    let many = place.file("many");
    std::fs::write(
        &many,
        "#!/bin/sh\nfor i in $(seq 100); do /bin/true; done\n",
    )
    .unwrap();
    assert!(
        Command::new("chmod")
            .arg("+x")
            .arg(&many)
            .status()
            .unwrap()
            .success()
    );
    let many = sampled(&place, many.to_str().unwrap());
    assert!(
        many.iter()
            .all(|run| run["split"]["started"].as_u64().unwrap() >= 100),
        "{many:#?}"
    );
    let by_samples = many.iter().filter(|run| {
        let (told, seen) = kernel_shares(run);
        seen.is_some_and(|seen| (told - seen).abs() < 1e-3)
    });
    assert!(by_samples.count() < many.len() / 2, "{many:#?}");
}

#[test]
fn a_variable_whose_value_has_colons_is_seen() {
    let place = Place::new();
    // glibc cuts it in pieces in the program's own memory.
    let value = "env:GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.top_pad=0";
    let all = summary(&place, &["--with", value], &["/bin/true"]);
    assert_eq!(arm(&all, value)["proof"]["took_effect"], true, "{all:#}");
    let path = "env:PATH=/usr/bin:/bin";
    assert_eq!(
        arm(&summary(&place, &["--with", path], &["/bin/true"]), path)["status"],
        "ok"
    );
}

#[test]
fn every_run_finds_what_was_prepared_for_it() {
    let place = Place::new();
    let (input, line) = (
        place.file("input"),
        format!("echo prepared >> {}", place.file("count").display()),
    );
    std::fs::write(&input, "some words\n").unwrap();
    let input = input.to_str().unwrap();
    let all = summary(
        &place,
        &[
            "--input",
            input,
            "--evict",
            input,
            "--prepare",
            &line,
            "--warmup",
            "2",
        ],
        &["cat"],
    );
    let of = arm(&all, "control (A/A)");
    assert_eq!(
        (&of["status"], of["runs"].as_u64()),
        (&Value::from("ok"), Some(6)),
        "{of:#}"
    );
    // Two arms, six blocks, two warm-ups.
    assert_eq!(
        std::fs::read_to_string(place.file("count"))
            .unwrap()
            .lines()
            .count(),
        16
    );
    let rows = place
        .run(&[
            "report",
            all["plan"]["run"].as_str().unwrap(),
            "--format",
            "ndjson",
        ])
        .out;
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        assert_eq!(row["output_bytes"].as_f64(), Some(11.0), "{row:#}");
    }
    let wrong = place.run(&["try", "--evict", "/no/such", "--", "true"]);
    assert!(
        wrong.code == 1 && wrong.err.contains("/no/such"),
        "{}",
        wrong.err
    );
}

/// It maps 64 MiB by itself, without malloc, and touches them.
const MAPS: &str = r#"
#include <sys/mman.h>
int main(void) {
    volatile char *p = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 64 << 20; i += 4096) p[i] = 1;
    return 0;
}
"#;

#[test]
fn thp_makes_mappings_huge_that_malloc_knows_nothing_of() {
    let place = Place::new();
    let program = built(&place, "maps", MAPS, &[]).expect("gcc builds");
    let all = summary(&place, &["--with", "thp"], &[&program]);
    let thp = arm(&all, "thp");
    let rule =
        std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if !rule.contains("[madvise]") {
        return skip("every mapping has huge pages anyway, or none has");
    }
    assert_eq!(
        (&thp["status"], &thp["proof"]["took_effect"]),
        (&Value::from("ok"), &Value::from(true)),
        "{thp:#}"
    );
    let seen = thp["proof"]["seen"].to_string();
    let [preloaded, huge] = [0, 1].map(|at| &thp["proof"]["seen"][at]);
    assert_eq!(
        (&preloaded["library"], &preloaded["mapped"]),
        (&Value::from("pagewise-advise.so"), &Value::from(1)),
        "{seen}"
    );
    assert_eq!(huge["bytes"], 64 << 20, "{seen}");
    assert!(
        thp["against"]["faults"]["ratio"]["high"].as_f64().unwrap() < 0.5,
        "{thp:#}"
    );
    // One that is linked statically takes no library, and says so by its faults.
    let program = built(&place, "alone", MAPS, &["-static"]).expect("gcc links statically");
    assert_eq!(
        arm(&summary(&place, &["--with", "thp"], &[&program]), "thp")["status"],
        "no-effect"
    );
}
