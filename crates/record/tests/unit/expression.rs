use super::*;
use proptest::prelude::*;

struct Fixed;
impl Values for Fixed {
    fn number(&self, name: &str) -> Option<i128> {
        match name {
            "bytes" => Some(5 << 20),
            "page_bytes" => Some(4096),
            "huge_page_bytes" => Some(2 << 20),
            "first-touch.minor_faults" => Some(258),
            "first-touch.wall_ns" => Some(1000),
            _ => None,
        }
    }
    fn word(&self, name: &str) -> Option<&str> {
        (name == "release").then_some("free")
    }
}

fn check(text: &str) -> Holding {
    Law::parse(text).unwrap().check(&Fixed)
}

#[test]
fn laws_follow_the_usual_precedence() {
    let tail = "first-touch.minor_faults == bytes / huge_page_bytes + bytes % huge_page_bytes / page_bytes";
    assert_eq!(check(tail), Holding::Holds);
    assert_eq!(
        check("first-touch.minor_faults == 2 * (100 + 29)"),
        Holding::Holds
    );
    assert!(matches!(
        check("first-touch.minor_faults == 2"),
        Holding::Broken(_)
    ));
}

#[test]
fn conditions_decide_whether_a_law_is_asked() {
    assert_eq!(check("release=dontneed: bytes == 1"), Holding::NotAsked);
    assert_eq!(
        check("release=free & bytes >= 6000000: bytes == 1"),
        Holding::NotAsked
    );
    assert!(matches!(
        check("release=free & bytes>=4096: bytes == 1"),
        Holding::Broken(_)
    ));
}

#[test]
fn an_operand_that_was_not_recorded_breaks_the_law() {
    assert_eq!(
        check("ghost == 0"),
        Holding::Broken("ghost == 0: ghost was not recorded".into())
    );
    assert!(matches!(check("bytes / 0 == 1"), Holding::Broken(_)));
}

#[test]
fn laws_on_times_are_levels() {
    assert!(Law::parse("first-touch.wall_ns <= 3").unwrap().is_level());
    assert!(Law::parse("8 * foreign_bytes <= bytes").unwrap().is_level());
    assert!(!Law::parse("bytes <= 3").unwrap().is_level());
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "", "1 ==", "== 1", "1 = 1", "1 == 1 1", "(1 == 1", "a ! b", "1 + == 2",
    ] {
        assert!(Law::parse(text).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,40}") {
        let _ = Law::parse(&text);
        let _ = Expression::parse(&text);
    }
}
