use super::*;

const LINE: &str = "method\tfault\ttouch\trole=method\tsummary=One.\tphases=map unmap\tkeys=bytes:size release:free|cold\
    \tlaws=map.minor_faults == 0\tcalls=map:mmap,madvise\tmemory=2 * bytes\tisolation=own\tpreload=libx.so\tpackage=x";

#[test]
fn a_method_line_is_read_whole() {
    let method = Method::parse(LINE).unwrap();
    assert_eq!(
        (method.role, method.isolation),
        (Role::Method, Isolation::Own)
    );
    assert_eq!(method.calls["map"], ["mmap", "madvise"]);
    assert_eq!(method.heading(), Heading::parse(LINE).unwrap());
    assert!(Heading::parse(&LINE.replace("role=method", "role=king")).is_err());
    assert_eq!(*method.laws, *Method::parse_known(LINE).unwrap().laws);
    assert!(
        Method::parse(&LINE.replace("faults ==", "faults")).is_err(),
        "a law that is none"
    );
    assert_eq!(method.preload, Some(("libx.so".into(), "x".into())));
    assert_eq!(
        method
            .key("release")
            .unwrap()
            .normalise("release", "free", 2)
            .unwrap(),
        "free"
    );
}

#[test]
fn who_has_helpers_is_told_by_its_calls() {
    let calls = |calls: &str| {
        Method::parse(&LINE.replace("map:mmap,madvise", calls))
            .unwrap()
            .has_helpers()
    };
    assert!(calls("map:io_uring_enter") && calls("map:mmap,pread64+"));
    assert!(!calls("map:mmap,madvise"));
}

#[test]
fn values_are_checked_by_kind() {
    let method = Method::parse(LINE).unwrap();
    let error = method
        .key("release")
        .unwrap()
        .normalise("release", "fre", 2)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "release=fre is not one of free, cold; did you mean \"free\"?"
    );
    assert_eq!(
        KeyKind::Size.normalise("bytes", "64KiB", 2).unwrap(),
        "65536"
    );
    assert_eq!(KeyKind::Count.normalise("threads", "N", 7).unwrap(), "7");
    assert!(KeyKind::Count.normalise("threads", "0", 7).is_err());
}
