use super::*;

#[test]
fn what_would_change_a_worker_is_told_from_the_rest() {
    let all = [
        "LD_PRELOAD",
        "MALLOC_ARENA_MAX",
        "GODEBUG",
        "PATH",
        "HOME",
        "GOPATH",
        "LD_LIBRARY_PATH",
        "JAVA_HOME",
    ];
    let found = among(all.iter().map(|name| ((*name).into(), "x".into())));
    assert_eq!(
        found.into_keys().collect::<Vec<_>>(),
        ["GODEBUG", "LD_PRELOAD", "MALLOC_ARENA_MAX"]
    );
}
