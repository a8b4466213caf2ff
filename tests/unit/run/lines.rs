use super::*;

#[test]
fn only_a_c_locale_is_ascii() {
    assert!(is_ascii(Some("C"), false) && is_ascii(Some("POSIX"), true) && is_ascii(None, true));
    assert!(
        !is_ascii(Some("C.UTF-8"), true)
            && !is_ascii(Some("de_DE.UTF-8"), true)
            && !is_ascii(None, false)
    );
}
