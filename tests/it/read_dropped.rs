//! Dropping everybody's page cache, in a turn of its own: whatever else runs at that moment loses its pages too, and a reader
//! whose own program must come from the disk again is rightly distrusted.

use std::fs;

use crate::support::reading::{run_json, run_json_within};
use crate::support::skips::thorough;
use crate::support::turns;

#[test]
fn dropping_everybodys_cache_needs_permission_and_is_proved() {
    if !thorough() {
        return;
    }
    let _turn = turns::without_page_cache();
    let home = tempfile::tempdir().unwrap();
    // A folder in the build's own place: temporary folders may lie in memory, where no file is ever cold.
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let own = disk.path().join("own");
    fs::write(&own, vec![1_u8; 300_000]).unwrap();
    let file = format!("file={}", own.display());
    let what = [
        "read/read",
        "read/mmap",
        "--set",
        &file,
        "--set",
        "cache=dropped",
        "--set",
        "consume=sum",
    ];
    for cell in run_json(home.path(), &what)["cells"].as_array().unwrap() {
        assert_eq!(cell["status"], "refused", "{cell:#}");
        let reason = crate::support::place::reason(cell);
        assert!(
            reason.contains("everybody's page cache") && reason.contains("--allow-system-changes"),
            "{reason}"
        );
    }
    // To empty the cache of a machine that others use takes its time.
    let allowed = run_json_within(
        home.path(),
        "90s",
        &[&what[..], &["--allow-system-changes"]].concat(),
    );
    for cell in allowed["cells"].as_array().unwrap() {
        let reason = crate::support::place::reason(cell);
        match cell["status"].as_str().unwrap() {
            "skipped" => assert!(
                reason.contains("only root") || reason.contains("tmpfs"),
                "{reason}"
            ),
            "refused" => assert!(reason.contains("tmpfs cannot be cold"), "{reason}"),
            // Somebody else's reading of the device may cost a cell its trust; what was dropped is dropped all the same.
            "ok" | "untrusted" => {
                assert_eq!(
                    cell["proofs"]["resident_before_bytes"]["max"].as_u64(),
                    Some(0),
                    "{cell:#}"
                );
                assert!(
                    cell["proofs"]["device_bytes"]["min"].as_u64().unwrap() >= 300_000,
                    "{cell:#}"
                );
            }
            other => panic!("{other}: {reason}"),
        }
    }
}
