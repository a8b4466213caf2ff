use super::*;

#[test]
fn the_setting_is_the_word_in_brackets() {
    assert_eq!(chosen("always [madvise] never\n"), Some("madvise"));
    assert_eq!(chosen("always"), None);
}
