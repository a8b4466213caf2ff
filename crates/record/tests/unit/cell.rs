use super::*;

#[test]
fn selectors_are_read_in_all_their_lengths() {
    let one = Selector::parse("fault/touch@c-O3").unwrap();
    assert_eq!(
        (one.method.as_deref(), one.worker.as_deref()),
        (Some("touch"), Some("c-O3"))
    );
    assert_eq!(Selector::parse("fault/*@go").unwrap().method, None);
    assert_eq!(
        Selector::parse("message/udp@c-O3+java-25")
            .unwrap()
            .worker
            .unwrap(),
        "c-O3+java-25"
    );
    for wrong in ["", "/touch", "fault/", "fault/touch@", "@c-O3"] {
        assert!(Selector::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn two_sides_threads_processes_and_a_load_keep_each_other_company() {
    let cell = |worker: &str, key: &str, value: &str| Cell {
        experiment: "fault".into(),
        method: "touch".into(),
        worker: worker.into(),
        parameters: BTreeMap::from([(key.to_owned(), value.to_owned())]),
    };
    assert!(cell("c-O3+c-O3", "bytes", "64").has_company());
    for (key, value) in [("threads", "2"), ("processes", "2"), ("load", "25%")] {
        assert!(cell("c-O3", key, value).has_company(), "{key}");
    }
    for (key, value) in [("threads", "1"), ("load", "0"), ("bytes", "4096")] {
        assert!(!cell("c-O3", key, value).has_company(), "{key}");
    }
}

#[test]
fn settings_are_split_at_commas_but_paths_are_not() {
    let parsed = |text: &str| parse_setting(text, |key| key == "file");
    assert_eq!(parsed("bytes=1MiB,2MiB").unwrap().1.len(), 2);
    assert_eq!(parsed("file=/tmp/a,b").unwrap().1, ["/tmp/a,b"]);
    assert!(parsed("bytes").is_err() && parsed("bytes=1,,2").is_err());
}
