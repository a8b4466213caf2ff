use super::*;

fn program(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), content).unwrap();
    folder.join(name)
}

#[test]
fn a_version_is_read_from_the_name_behind_all_links() {
    let place = tempfile::tempdir().unwrap();
    let bin = place.path().join("bin");
    program(&bin, "python3.12", b"\x7fELF");
    std::os::unix::fs::symlink("python3.12", bin.join("python3")).unwrap();
    let found = python(&bin.join("python3")).unwrap();
    assert_eq!(
        (found.version, &found.program),
        ((3, 12), &bin.join("python3"))
    );
    assert_eq!(python(place.path()).unwrap(), found);
    assert!(python(&place.path().join("none")).is_err());
}

#[test]
fn scripts_of_version_managers_are_passed_over() {
    let place = tempfile::tempdir().unwrap();
    let (shims, real) = (place.path().join("shims"), place.path().join("real"));
    program(&shims, "python3", b"#!/bin/sh\nexec other\n");
    let wanted = program(&real, "python3", b"\x7fELF");
    assert_eq!(in_folders([shims.clone(), real].into_iter()), Some(wanted));
    assert_eq!(in_folders([shims].into_iter()), None);
}

#[test]
fn what_is_too_old_or_missing_says_what_it_needs() {
    let old = Python {
        program: "/usr/bin/python3.7".into(),
        version: (3, 7),
    };
    assert!(
        start(Some(&old))
            .unwrap_err()
            .to_string()
            .contains("needs Python 3.8 or newer, and this is 3.7")
    );
    assert!(start(None).unwrap_err().to_string().contains("--python"));
    assert!(standing(Some(&old)).contains("3.8"));
}

#[test]
fn every_method_has_its_source() {
    let list = carried::source("workers/python/methods.tsv").unwrap();
    for line in list.lines() {
        let source = line
            .split('\t')
            .find_map(|field| field.strip_prefix("source="))
            .unwrap();
        assert!(carried::source(source).is_some(), "{line}");
    }
}
