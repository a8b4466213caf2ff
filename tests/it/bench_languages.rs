//! `bench` in other languages: the worked examples of examples/bench, a target of cargo bench, and Python's decorator.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, cell, is_measured, program, said};
use crate::support::skips::{skip, thorough};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/bench")
        .join(name)
}

/// Runs a compiler; false where it is not installed.
fn compiled(place: &Place, command: &mut Command) -> bool {
    let name = command.get_program().to_string_lossy().into_owned();
    match command
        .env("HOME", place.file("home"))
        .env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache/go"))
        .output()
    {
        Err(_) => {
            skip(&format!("{name} is not installed"));
            false
        }
        Ok(output) => {
            assert!(
                output.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            true
        }
    }
}

/// Measures functions; their run is kept in the folder `run`.
fn measured(place: &Place, what: &str, functions: &[&str]) {
    let run = place.file("run");
    let result = said(&mut place.command(&[
        "bench",
        what,
        "--launches",
        "3",
        "--budget",
        "60s",
        "--json",
        "--out",
        run.to_str().unwrap(),
    ]));
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    for function in functions {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        // A busy machine may disturb it; it ran, and came to the same as the others.
        let reason = crate::support::place::reason(cell);
        assert!(
            is_measured(cell) && !reason.contains("digest"),
            "{function}: {reason} {}",
            result.err
        );
    }
}

/// The functions of a library that this compiler makes.
fn library(compiler: &str, arguments: &[&str], source: &str, functions: &[&str]) {
    let place = Place::new();
    let library = place.file("libmine.so");
    let mut command = Command::new(compiler);
    command.args(arguments).arg(&library).arg(example(source));
    if compiled(&place, &mut command) {
        measured(
            &place,
            &format!("{}:{}", library.display(), functions.join(",")),
            functions,
        );
    }
}

#[test]
fn functions_in_cpp_are_measured() {
    library(
        "g++",
        &["-O2", "-shared", "-fPIC", "-o"],
        "mine.cpp",
        &["push_back", "reserve"],
    );
}

/// A copy of an example, which is measured by its own marks; its source is kept and shown with the lines that were timed.
fn marked(name: &str, compiler: &str, functions: [&str; 2], timed: &str) {
    let place = Place::new();
    if Command::new(compiler).arg("version").output().is_err() {
        return skip(&format!("{compiler} is not installed"));
    }
    let file = place.file(name);
    std::fs::copy(example(name), &file).unwrap();
    measured(&place, file.to_str().unwrap(), &functions);
    let run = place.file("run");
    let shown = said(&mut place.command(&["show", run.to_str().unwrap()]));
    let is_timed = |line: &str| line.starts_with('>') && line.contains(timed);
    assert!(
        shown.code == 0 && shown.out.lines().any(is_timed),
        "{}{}",
        shown.out,
        shown.err
    );
}

#[test]
fn functions_in_rust_are_measured() {
    let timed = "filled(Vec::with_capacity";
    marked("mine.rs", "rustc", ["grow", "reserve"], timed);
}

#[test]
fn functions_in_java_are_measured() {
    if !thorough() {
        return;
    }
    marked("Mine.java", "javac", ["grow", "reserve"], "all.add(i)");
}

/// By each of the ends that a name of a C++ file may have: kept, shown, and rebuilt as a baseline.
#[test]
fn the_source_of_a_cpp_file_is_kept_shown_and_rebuilt() {
    let place = Place::new();
    if Command::new("c++").arg("--version").output().is_err() {
        return skip("c++ is not installed");
    }
    let text = "#include <pagewise.h>\n#include <vector>\nBENCH(grow) {\n    std::vector<int> all;\n    PHASE(\"fill\") {\n        \
                for (int i = 0; i < 1000; i++) all.push_back(i);\n    }\n    RESULT(all.size());\n}\n";
    for end in ["cpp", "cc", "cxx", "C"] {
        let (file, run) = (place.file(&format!("mine.{end}")), place.file(end));
        std::fs::write(&file, text).unwrap();
        let bench = |more: &[&str]| {
            let words = ["bench", file.to_str().unwrap(), "--budget", "1s"];
            said(&mut place.command(&[&words[..], more].concat()))
        };
        let result = bench(&["--out", run.to_str().unwrap()]);
        assert!(
            run.join(format!("functions.{end}")).is_file(),
            "{}",
            result.err
        );
        let shown = place.run(&["show", run.to_str().unwrap()]);
        assert!(
            shown
                .out
                .contains(">         for (int i = 0; i < 1000; i++)"),
            "{end}: {}{}",
            shown.out,
            shown.err
        );
        if end == "cpp" {
            let run = run.to_str().unwrap();
            let gate = ["--gate", "counts", "--rebuild", "--against", run];
            let result = bench(&gate);
            assert!(
                matches!(result.code, 0 | 3),
                "{} {}",
                result.out,
                result.err
            );
        }
    }
}

/// A file of the bytes that a parameter says, with the protocol's pattern of seed 7; its word at 64 KiB is known.
#[test]
fn inputs_are_made_in_go_java_and_python() {
    let files = [
        (
            "input.go",
            "go",
            "package main\n\nimport (\n\t\"encoding/binary\"\n\t\"os\"\n\t\"pagewise\"\n)\n\n\
             var _ = pagewise.Param(\"data\", \"100000B,256KiB\")\n\n\
             func BenchmarkRead(b *pagewise.B) {\n\tpath := b.Input(\"data\", 7)\n\tb.Begin(\"read\")\n\
             \tall, err := os.ReadFile(path)\n\tb.End()\n\
             \tif err != nil || len(all) != b.Value(\"data\") || binary.LittleEndian.Uint64(all[65536:]) != 0xe88f1224e5c1f6ef {\n\
             \t\tb.Fatal(\"wrong content\")\n\t}\n}\n",
        ),
        (
            "Input.java",
            "javac",
            "import java.nio.ByteBuffer;\nimport java.nio.ByteOrder;\nimport java.nio.file.Files;\nimport java.nio.file.Path;\n\
             @pagewise.Param({\"data=100000B,256KiB\"})\nclass Input {\n@pagewise.Bench\n\
             static void Read(pagewise.Run run) throws Exception {\nPath path = Path.of(run.input(\"data\", 7));\nbyte[] all;\n\
             try (var phase = run.phase(\"read\")) { all = Files.readAllBytes(path); }\n\
             long word = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getLong(65536);\n\
             if (all.length != run.value(\"data\") || word != 0xe88f1224e5c1f6efL) throw new Exception(\"wrong content\");\n}\n}\n",
        ),
        (
            "input.py",
            "python3",
            "import pagewise\n\npagewise.param(\"data\", \"100000B,256KiB\")\n\n\n@pagewise.bench\ndef Read(run):\n    \
             path = run.input(\"data\", 7)\n    with run.phase(\"read\"):\n        with open(path, \"rb\") as file:\n            \
             data = file.read()\n    assert len(data) == run.value(\"data\")\n    \
             assert int.from_bytes(data[65536:65544], \"little\") == 0xe88f1224e5c1f6ef\n",
        ),
    ];
    for (name, program, text) in files {
        let place = Place::new();
        if Command::new(program).arg("--help").output().is_err() {
            skip(&format!("{program} is not installed"));
            continue;
        }
        let (file, run) = (place.file(name), place.file("run"));
        std::fs::write(&file, text).unwrap();
        let words = ["bench", file.to_str().unwrap(), "--launches", "3", "--json"];
        let kept = ["--budget", "60s", "--out", run.to_str().unwrap()];
        let result = said(&mut place.command(&[&words[..], &kept].concat()));
        let summary: Value =
            serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{name}: {}", result.err));
        for bytes in ["100000", "262144"] {
            let cell = cell(&summary, "bench/Read@own", &[("data", bytes)]);
            assert!(is_measured(cell), "{name} {bytes}: {cell}");
        }
        let left = crate::support::place::entries(&place.file("tmp"));
        assert!(left.is_empty(), "{name} leaves {left:?}");
    }
}

/// What a phase reads comes from the device; a file that lies in memory skips its function.
#[test]
fn files_are_cold_in_go_java_and_python() {
    let kept = format!("/dev/shm/pagewise-cold-{}", std::process::id());
    std::fs::write(&kept, vec![7; 1 << 20]).unwrap();
    // A file's head, and its function, which is there twice.
    let files = [
        (
            "cold.go",
            "go",
            "package main\n\nimport (\n\t\"os\"\n\t\"pagewise\"\n)\n",
            "\nfunc BenchmarkNAME(b *pagewise.B) {\n\tb.Cold(\"PATH\")\n\tb.Begin(\"read\")\n\tall, _ := os.ReadFile(\"PATH\")\n\
             \tb.End()\n\tb.Result(len(all))\n}\n",
            "",
        ),
        (
            "Cold.java",
            "javac",
            "import java.nio.file.*;\nclass Cold {\n",
            "@pagewise.Bench\nstatic long NAME(pagewise.Run run) throws Exception {\nrun.cold(\"PATH\");\n\
             try (var phase = run.phase(\"read\")) { return Files.readAllBytes(Path.of(\"PATH\")).length; }\n}\n",
            "}\n",
        ),
        (
            "cold.py",
            "python3",
            "import pagewise\n",
            "\n\n@pagewise.bench\ndef NAME(run):\n    run.cold(\"PATH\")\n    with run.phase(\"read\"):\n        \
             with open(\"PATH\", \"rb\") as file:\n            return len(file.read())\n",
            "",
        ),
    ];
    for (name, program, head, function, tail) in files {
        let place = Place::new();
        if Command::new(program).arg("--help").output().is_err()
            || program == "javac" && !thorough()
        {
            skip(&format!("{program} is not installed, or takes long"));
            continue;
        }
        let (file, data) = (place.file(name), place.file("data.bin"));
        std::fs::write(&data, vec![7; 1 << 20]).unwrap();
        let with = |name: &str, path: &str| function.replace("NAME", name).replace("PATH", path);
        let functions = with("Disk", data.to_str().unwrap()) + &with("Memory", &kept);
        std::fs::write(&file, [head, &functions, tail].concat()).unwrap();
        let words = ["bench", file.to_str().unwrap(), "--launches", "3", "--json"];
        let result = said(&mut place.command(&[&words[..], &["--budget", "30s"]].concat()));
        let summary: Value =
            serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{name}: {}", result.err));
        let in_memory = cell(&summary, "bench/Memory@own", &[]);
        let reason = crate::support::place::reason(in_memory);
        assert!(
            in_memory["status"] == "skipped" && reason.contains("tmpfs cannot be cold"),
            "{name}: {in_memory} {}",
            result.err
        );
        let on_disk = cell(&summary, "bench/Disk@own", &[]);
        let is_in_memory = on_disk["status"] == "skipped";
        assert!(
            is_in_memory || is_measured(on_disk),
            "{name}: {on_disk} {}",
            result.err
        );
    }
    std::fs::remove_file(kept).unwrap();
}

/// A main of the file's own, a panic, a benchmark of package testing, and a file that marks nothing.
#[test]
fn files_of_other_languages_are_taken_as_they_are() {
    let place = Place::new();
    let files = [
        (
            "taken.rs",
            "rustc",
            "#[pagewise::bench]\nfn good() -> u64 { (0..1000).map(std::hint::black_box).sum() }\n#[pagewise::bench]\n\
             fn wrong() { panic!(\"no data\") }\nfn main() { println!(\"its own {}\", good()) }\n",
            "panic: no data",
        ),
        (
            "taken.go",
            "go",
            "package list\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestNone(t *testing.T) { t.Log() }\n\nfunc Benchmark_good(b *testing.B) {\n\tfor i := 0; i < b.N; \
             i++ {\n\t\tfmt.Print(\"no transcript\")\n\t}\n}\n\nfunc Benchmark_wrong(b *testing.B) {\n\tpanic(\"no data\")\n}\n\nfunc main() { }\n",
            "panic: no data",
        ),
        (
            "Taken.java",
            "javac",
            "package some.where;\npublic class Taken {\n    @pagewise.Bench\n    public static void good() {\n        System.out.print(\"no \
             transcript\");\n    }\n    @pagewise.Bench\n    public static void wrong() {\n        throw new IllegalStateException(\"no \
             data\");\n    }\n    public static void main(String[] arguments) { }\n}\n",
            "IllegalStateException: no data",
        ),
    ];
    for (name, compiler, text, failure) in files {
        if Command::new(compiler).arg("version").output().is_err() {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        if compiler == "javac" && !thorough() {
            continue;
        }
        let file = place.file(name);
        std::fs::write(&file, text).unwrap();
        let bench = |file: &Path| {
            let file = file.to_str().unwrap().to_owned();
            said(&mut place.command(&["bench", &file, "--budget", "1s", "--json"]))
        };
        let result = bench(&file);
        let summary: Value =
            serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
        let good = cell(&summary, "bench/good@own", &[]);
        let wrong = cell(&summary, "bench/wrong@own", &[]).to_string();
        assert!(
            is_measured(good) && wrong.contains(failure),
            "{name}: {good} {wrong} {}",
            result.err
        );
        std::fs::write(
            &file,
            text.replace("pagewise::bench", "inline")
                .replace("func Benchmark", "func Other")
                .replace("@pagewise.Bench", ""),
        )
        .unwrap();
        let result = bench(&file);
        assert!(
            result.code == 1 && result.err.contains("has no function to measure"),
            "{name}: {}",
            result.err
        );
    }
}

#[test]
fn functions_in_zig_are_measured() {
    if Command::new("zig").arg("version").output().is_err() {
        return skip("zig is not installed");
    }
    let place = Place::new();
    let file = place.file("mine.zig");
    std::fs::copy(example("mine.zig"), &file).unwrap();
    measured(&place, file.to_str().unwrap(), &["grow", "reserve"]);
    let run = place.file("run");
    let report = said(&mut place.command(&["report", run.to_str().unwrap()])).out;
    assert!(
        report.contains("mine.zig") && !report.contains("mine.zig.so"),
        "{report}"
    );
    let source = said(&mut place.command(&["show", run.to_str().unwrap()])).out;
    assert!(source.contains(">     fill(16);"), "{source}");
}

/// A phase may have the name that is usual for a function without one.
#[test]
fn a_phase_of_its_own_may_be_called_run() {
    let files = [
        (
            "mine.go",
            "go",
            "package main\n\nimport \"pagewise\"\n\nfunc BenchmarkSum(b *pagewise.B) {\n\tx := 0\n\tb.Begin(\"run\")\n\tfor i := 0; \
             i < 1000; i++ {\n\t\tx += i\n\t}\n\tb.End()\n\tb.Result(x)\n}\n",
        ),
        (
            "mine.py",
            "python3",
            "import pagewise\n\n\n@pagewise.bench\ndef Sum(run):\n    with run.phase(\"run\"):\n        x = sum(range(1000))\n    return x\n",
        ),
    ];
    for (name, program, text) in files {
        let place = Place::new();
        if Command::new(program).arg("--help").output().is_err() {
            skip(&format!("{program} is not installed"));
            continue;
        }
        let file = place.file(name);
        std::fs::write(&file, text).unwrap();
        measured(&place, file.to_str().unwrap(), &["Sum"]);
    }
}

#[test]
fn functions_in_go_are_measured() {
    if !thorough() {
        return;
    }
    marked("mine.go", "go", ["Grow", "Reserve"], "append(all, i)");
}

#[test]
fn functions_in_python_are_measured_by_the_decorator() {
    if !thorough() {
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("there is no python3");
    }
    let place = Place::new();
    let script = place.file("mine.py");
    std::fs::copy(example("mine.py"), &script).unwrap();
    measured(&place, script.to_str().unwrap(), &["joined", "added"]);
    assert!(
        !place.file("__pycache__").exists(),
        "compiled code is left beside the script"
    );
    std::fs::write(
        &script,
        "import pagewise\n\n\n@pagewise.bench\ndef wrong():\n    raise ValueError('no\\tdata')\n",
    )
    .unwrap();
    let result = said(&mut place.command(&[
        "bench",
        script.to_str().unwrap(),
        "--budget",
        "1s",
        "--json",
    ]));
    assert!(
        result.out.contains("ValueError: no data"),
        "{}{}",
        result.out,
        result.err
    );
}

#[test]
fn a_target_of_cargo_bench_is_measured_and_tested() {
    let place = Place::new();
    let cargo = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        place.settle(&mut command);
        command
            .args(words)
            .arg("--manifest-path")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("consumers/pagewise-bench/Cargo.toml"));
        command
            .arg("--target-dir")
            .arg(place.file("target"))
            .arg("--offline")
            .arg("--quiet")
            .env("PAGEWISE", program());
        command
    };
    let home = std::env::var_os("HOME").unwrap_or_default();
    let rustup =
        std::env::var_os("RUSTUP_HOME").unwrap_or_else(|| Path::new(&home).join(".rustup").into());
    let mut measured = cargo(&["bench", "--bench", "vectors"]);
    let result = said(measured.env("RUSTUP_HOME", &rustup).args([
        "--",
        "--launches",
        "3",
        "--budget",
        "60s",
        "--json",
        "--set",
        "elements=1000",
    ]));
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    for function in ["grow", "reserve"] {
        let cell = cell(
            &summary,
            &format!("bench/{function}@own"),
            &[("elements", "1000")],
        );
        assert!(is_measured(cell), "{function}: {}", cell["reason"]);
    }
    let tested = said(cargo(&["test", "--benches"]).env("RUSTUP_HOME", &rustup));
    assert!(
        tested.code == 0 && tested.out.contains("test grow ... ok"),
        "{}{}",
        tested.out,
        tested.err
    );
}
