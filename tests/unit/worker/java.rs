use super::*;

fn installation(version: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("bin")).unwrap();
    std::fs::write(home.path().join("bin/java"), "").unwrap();
    std::fs::write(
        home.path().join("release"),
        format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n"),
    )
    .unwrap();
    home
}

#[test]
fn a_jdk_is_known_by_its_release_file() {
    for (version, feature) in [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("26-ea", 26)] {
        let home = installation(version);
        assert_eq!(jdk(home.path()).unwrap().feature, feature);
        assert_eq!(
            jdk(&home.path().join("bin/java")).unwrap().home,
            home.path().canonicalize().unwrap()
        );
    }
    assert!(jdk(Path::new("/nonexistent")).is_err());
    assert!(jdk(installation("soon").path()).is_err());
}

#[test]
fn newer_sources_are_for_newer_jdks_only() {
    let newer = |feature| {
        sources(feature)
            .filter(|(path, _)| !path.starts_with("src/"))
            .count()
    };
    assert_eq!(newer(17), 0);
    assert!(newer(25) > 0 && sources(17).count() > 5);
}

#[test]
fn what_a_jdk_lacks_is_told() {
    assert_eq!(
        lacks("java-17", "java-22"),
        Some(Cause::OldJdk {
            needed: 22,
            have: 17
        })
    );
    assert_eq!(lacks("java-25", "java-22"), None);
    assert_eq!(lacks("c-O3", "huge-pages"), None);
}
