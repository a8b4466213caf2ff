mod layout;

use super::*;

#[test]
fn nothing_steers_a_terminal() {
    let hostile = "a\u{1b}[31mb\u{7}\u{202e}c\n\u{9b}d";
    assert_eq!(
        Screen::new(80, false).text(hostile),
        "a\\x1b[31mb\\x07\\u{202e}c\\n\\x9bd"
    );
}

#[test]
fn ascii_is_all_that_an_ascii_terminal_gets() {
    let shown = Screen::new(80, true).text("→ use thp: 4.7× faster, 2.05 µs ±1 %, 4.7–6.0 · ü ¹");
    assert_eq!(
        shown,
        "-> use thp: 4.7x faster, 2.05 us +-1 %, 4.7-6.0 | ? *"
    );
    assert_eq!(Screen::new(10, true).width(), 80);
}
