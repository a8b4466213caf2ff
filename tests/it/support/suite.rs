//! The conformance suite over an experiment.

use super::sides::pagewise;
use super::skips::thorough;

/// All methods of an experiment conform, and these at least; where tests are to be short, these alone are checked.
pub fn conforms(experiment: &str, must_name: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let what = if thorough() {
        &[experiment][..]
    } else {
        must_name
    };
    let output = pagewise(&place, &[&["check"], what].concat())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && !text.contains("REJECTED"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for name in must_name {
        assert!(text.contains(name), "{name} is not in {text}");
    }
}
