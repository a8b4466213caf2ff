use super::*;

#[test]
fn a_changed_added_or_missing_file_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    put(&folder, "a/b", b"text").unwrap();
    folder
        .write(DIGESTS, digests(&folder, "").unwrap().as_bytes())
        .unwrap();
    assert!(verified(&folder).is_some());
    put(&folder, "a/b", b"test").unwrap();
    assert!(verified(&folder).is_none());
    put(&folder, "a/b", b"text").unwrap();
    put(&folder, "c", b"").unwrap();
    assert!(verified(&folder).is_none());
    folder.remove("c").unwrap();
    assert!(verified(&folder).is_some());
    folder.remove("a").unwrap();
    assert!(verified(&folder).is_none());
}
