//! Runs in a notebook: the lines of docs/notebook.md in pandas, polars and DuckDB, and the Python module of the wheel, by the
//! Python that is here: rows and summaries of a kept run, a run of its own, and errors.

use std::path::Path;
use std::process::Command;

use crate::support::place::{Place, Said, program, said};
use crate::support::readers;
use crate::support::skips::skip;

/// What Python prints for this source, with the module and the program in its paths.
fn python(place: &Place, source: &str) -> Option<Said> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3");
    if Command::new("python3").arg("--version").output().is_err() {
        skip("there is no Python here: the module is not tried");
        return None;
    }
    place.settle(&mut python);
    let folder = place.file("bin");
    let _ = std::fs::create_dir(&folder);
    let _ = std::os::unix::fs::symlink(program(), folder.join("pagewise"));
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    python
        .args(["-c", source])
        .env("PATH", path)
        .env("PYTHONPATH", root.join("packaging/python"));
    Some(said(&mut python))
}

#[test]
fn a_kept_run_is_rows_and_a_summary() {
    let place = Place::new();
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let run = run.display();
    let source = format!(
        "import pagewise, json\nrows = pagewise.rows('{run}')\nassert len(rows) > 3 and any(row['wall_ns_per_unit'] for row in rows), rows[:1]\n\
         summary = pagewise.summary('{run}')\nprint(len(summary['cells']), sorted({{row['method'] for row in rows}}))\n\
         try:\n    pagewise.rows('nonesuch')\nexcept pagewise.Error as error:\n    print(error)\n"
    );
    let Some(result) = python(&place, &source) else {
        return;
    };
    assert_eq!(result.code, 0, "{}", result.err);
    assert!(
        result.out.contains("touch") && result.out.contains("nonesuch"),
        "{}",
        result.out
    );
}

#[test]
fn a_run_is_measured_and_read() {
    let place = Place::new();
    let source = "import pagewise\nname = pagewise.measure('fault/touch', 'fault/populate', budget='2s', set={'bytes': '64KiB'})\n\
                  rows = pagewise.rows(name)\nprint(name, {row['experiment'] for row in rows})\n";
    let Some(result) = python(&place, source) else {
        return;
    };
    assert_eq!(result.code, 0, "{}", result.err);
    assert!(result.out.contains("{'fault'}"), "{}", result.out);
}

/// Runs a cell of a notebook, and prints what its last line is worth.
const CELL: &str = "import sys
lines = sys.stdin.read().strip().splitlines()
names = {}
exec('\\n'.join(lines[:-1]), names)
value = eval(lines[-1], names)
print('' if value is None else value)
";

#[test]
fn the_pages_lines_load_a_run_into_pandas_polars_and_duckdb() {
    let Some(python) = readers::frames() else {
        return;
    };
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = root.join("tests/fixtures/runs/ordinary");
    for format in ["csv", "ndjson"] {
        let out = place.file(&format!("run.{format}"));
        let words = ["report", run.to_str().unwrap(), "--format", format, "--out"];
        let written = place.run(&[&words[..], &[out.to_str().unwrap()]].concat());
        assert_eq!(written.code, 0, "{}", written.err);
    }
    let shared = "pagewise-amd-epyc-6.18.44-2026-11-23.json.gz";
    std::fs::copy(root.join("gallery/shared").join(shared), place.file(shared)).unwrap();
    let page = include_str!("../../docs/notebook.md");
    // Each heading has one cell; that of the wheel's module has two, of which the last reads a shared file.
    for (heading, method) in [
        ("pandas", "populate"),
        ("polars", "populate"),
        ("DuckDB", "populate"),
        ("The module", "mmap"),
    ] {
        let (_, text) = page.split_once(&format!("\n## {heading}")).unwrap();
        let text = text.split("\n## ").next().unwrap();
        let cell = text.rsplit("```python\n").next().unwrap();
        let cell = cell.split("```").next().unwrap();
        let mut command = Command::new(&python);
        command
            .args(["-c", CELL])
            .current_dir(place.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, cell.as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{heading}: {err}");
        assert!(out.contains(method), "{heading}: {out}");
    }
}
