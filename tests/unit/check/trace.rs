use super::*;

const TRACE: &str = "10 write(-1, \"phase map\", 9) = -1 EBADF (Bad file descriptor)\n10 mmap(NULL, 4096) = 0x7f\n\
    11 futex(0x1) = 0\n11 <... futex resumed>) = 0\n\
    10 write(-1, \"end map\", 7) = -1 EBADF\n10 getrusage(RUSAGE_SELF) = 0\n\
    10 write(-1, \"phase unmap\", 11) = -1 EBADF\n10 write(-1, \"end unmap\", 9) = -1 EBADF\n";

fn method(calls: &str) -> Method {
    Method::parse(&format!(
        "method\tx\ty\tphases=map unmap\tkeys=\tcalls={calls}"
    ))
    .unwrap()
}

#[test]
fn only_what_the_marking_thread_does_between_marks_counts() {
    let calls = parse(TRACE);
    assert_eq!(
        calls["map"],
        BTreeSet::from(["futex+".to_owned(), "mmap".to_owned()])
    );
    assert!(calls["unmap"].is_empty());
}

#[test]
fn a_mark_may_be_a_path_and_the_last_round_counts() {
    let looked = "10 newfstatat(AT_FDCWD, \"/pagewise-mark/phase map\", 0x7f) = -1 ENOENT\n10 openat(3) = 4\n\
        10 stat(\"/pagewise-mark/end map\", 0x7f) = -1 ENOENT\n";
    assert_eq!(parse(looked)["map"], BTreeSet::from(["openat".to_owned()]));
    assert_eq!(
        parse(&format!("{looked}{TRACE}"))["map"],
        parse(TRACE)["map"]
    );
}

#[test]
fn undeclared_and_unmade_calls_are_named() {
    let calls = parse(TRACE);
    assert_eq!(compare(&method("map:mmap"), &calls), None);
    assert_eq!(compare(&method("map:mmap,brk?"), &calls), None);
    assert_eq!(compare(&method("map:mmap,futex+"), &calls), None);
    let of_others = compare(&method("map:mmap+"), &calls).unwrap();
    assert!(
        of_others.contains("does not make the system call mmap in a thread"),
        "{of_others}"
    );
    assert!(
        compare(&method(""), &calls)
            .unwrap()
            .contains("makes the system call mmap")
    );
    let handled = parse(&TRACE.replacen("10 mmap", "10 rt_sigreturn({mask=[]}) = 0\n10 mmap", 1));
    assert_eq!(compare(&method("map:mmap"), &handled), None);
    assert!(
        compare(&method("map:mmap unmap:munmap"), &calls)
            .unwrap()
            .contains("does not make the system call munmap")
    );
}
