use super::*;

#[test]
fn both_ways_open_files_below_and_refuse_links_and_ways_out() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("a")).unwrap();
    std::fs::write(place.path().join("a/f"), "x").unwrap();
    std::os::unix::fs::symlink("a", place.path().join("link")).unwrap();
    std::os::unix::fs::symlink("a/f", place.path().join("file")).unwrap();
    let folder = std::fs::File::open(place.path()).unwrap();
    for way in [open, by_component] {
        let tried = |name: &str| {
            way(
                folder.as_fd(),
                Path::new(name),
                OFlags::RDONLY,
                Mode::empty(),
            )
        };
        assert!(tried("a/f").is_ok() && tried("a").is_ok());
        for name in [
            "link/f",
            "file",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "none",
            "",
        ] {
            assert!(tried(name).is_err(), "{name}");
        }
    }
}
