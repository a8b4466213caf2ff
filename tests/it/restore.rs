//! The `restore` methods, driven by the laboratory. No test asserts a time.

use crate::support::sides::conforms;

#[test]
fn every_native_method_conforms() {
    conforms("restore", &["restore/copy@c-O0", "restore/file-private@c-O3", "restore/fork-clone@c-O3"]);
}
