//! The Python module of the wheel, by the Python that is here: rows and summaries of a kept run, a run of its own, and errors.

use std::path::Path;
use std::process::Command;

use crate::support::place::{Place, Said, program, said};
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
