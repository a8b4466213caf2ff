//! Hostile text is harmless in every destination, and text that harms nobody stays as it is.

use pagewise_report::escape::{self, is_steering};
use proptest::prelude::*;

/// Text of characters that mean something to a terminal, a browser, a spreadsheet or a compiler, and any others.
fn hostile() -> impl Strategy<Value = String> {
    let sharp = prop::sample::select(
        "\u{0}\u{7}\u{8}\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{200e}\u{202e}\u{2066}\u{2028}\u{feff}\u{e0041}<>&\"'=+-@*/\\?`|[]()#!$%{},;:_~9a ü"
            .chars()
            .collect::<Vec<char>>(),
    );
    let whole = prop::sample::select(vec![
        "*/",
        "??/",
        "</script>",
        "]]>",
        "www.",
        "\r\n",
        "=cmd|",
        "-->",
    ]);
    let (one, many) = (sharp.prop_map(String::from), whole.prop_map(str::to_owned));
    let part = prop_oneof![4 => one, 2 => many, 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

#[test]
fn what_is_not_drawn_is_named() {
    for sign in "\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180f}\u{200b}\u{2060}\u{2800}\u{3164}\u{fe0f}\u{ffa0}\u{fff3}\u{1bca0}\u{1d173}\u{e0100}\u{e0fff}".chars() {
        let named = format!("x\\u{{{:x}}}y", u32::from(sign));
        assert_eq!(escape::terminal(&format!("x{sign}y")), named);
    }
}

/// The bytes that a C compiler makes of a literal without trigraphs.
fn c_value(literal: &str) -> Vec<u8> {
    let inside = literal
        .strip_prefix('"')
        .and_then(|l| l.strip_suffix('"'))
        .expect("quotes around it");
    let (mut bytes, mut rest) = (Vec::new(), inside.as_bytes());
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b, c, after @ ..]) => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                after
            }
            (b'\\', [escaped, after @ ..]) => {
                bytes.push(*escaped);
                after
            }
            (b'"', _) => panic!("{literal} ends early"),
            (byte, after) => {
                bytes.push(*byte);
                after
            }
        };
    }
    bytes
}

proptest! {
    #[test]
    fn no_destination_gets_a_character_that_steers(text in hostile()) {
        let one_line = [
            escape::terminal(&text), escape::html(&text), escape::html_id(&text), escape::markdown(&text),
            escape::csv(&text), escape::label(&text), escape::name(&text), escape::c_literal(&text),
        ];
        for shown in one_line {
            prop_assert_eq!(shown.chars().find(|c| is_steering(*c)), None);
        }
        prop_assert!(!escape::lines(&text).chars().any(|c| is_steering(c) && c != '\n' && c != '\t'));
        prop_assert_eq!(escape::terminal(&escape::terminal(&text)), escape::terminal(&text));
    }

    #[test]
    fn nothing_is_markup_or_a_formula(text in hostile()) {
        let html = escape::html(&text);
        prop_assert!(!html.contains(['<', '>', '"', '\'']));
        let markdown = escape::markdown(&text);
        prop_assert!(!markdown.replace(": ", "").contains(['<', '@', ':']) && !markdown.to_lowercase().contains("www."));
        let bare = markdown.replace("\\\\", "").replace("\\[", "").replace("\\]", "").replace("\\|", "").replace("\\`", "");
        prop_assert!(!bare.contains(['[', ']', '|', '`']));
        let csv = escape::csv(&text);
        let inside = csv.strip_prefix('"').and_then(|c| c.strip_suffix('"'));
        // A spreadsheet judges the value, in which a doubled quote is one.
        let value = inside.map_or_else(|| csv.clone(), |i| i.replace("\"\"", "\""));
        prop_assert!(!value.starts_with(['=', '+', '-', '@', '\t', '\r']));
        prop_assert!(inside.map_or(!csv.contains(['"', ',']), |i| !i.replace("\"\"", "").contains('"')));
        let label = escape::label(&text).replace("\\\\", "").replace("\\\"", "");
        prop_assert!(!label.contains(['"', '\\']));
        let plain = |(n, c): (usize, char)| c == '_' || c.is_ascii_alphabetic() || n > 0 && c.is_ascii_digit();
        prop_assert!(escape::name(&text).chars().enumerate().all(plain));
    }

    #[test]
    fn literals_and_json_keep_their_value(text in hostile()) {
        let literal = escape::c_literal(&text);
        prop_assert!(!literal.contains("??"));
        prop_assert_eq!(c_value(&literal), text.as_bytes());
        let json = escape::json(&serde_json::to_string(&text).unwrap());
        prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &text);
        let script = escape::script_json(&serde_json::to_string(&text).unwrap());
        prop_assert_eq!(serde_json::from_str::<String>(&script).unwrap(), text);
        prop_assert!(!script.contains(['<', '>', '&']) && !(json + &script).chars().any(is_steering));
    }
}

#[test]
fn steering_characters_appear_by_their_number() {
    assert_eq!(
        escape::terminal("a\u{1b}[31mb\u{7}\u{202e}c\n\u{9b}d\u{feff}µ"),
        "a\\x1b[31mb\\x07\\u{202e}c\\n\\x9bd\\u{feff}µ"
    );
    assert_eq!(escape::lines("a\n\tb\u{1b}"), "a\n\tb\\x1b");
    assert_eq!(
        escape::html("a\u{1b}<b>\"'&\rc\nd\n"),
        "a\\x1b&lt;b&gt;&quot;&#39;&amp;\\rc d"
    );
}

#[test]
fn each_destination_has_its_own_quotes() {
    assert_eq!(escape::csv("a,b"), "\"a,b\"");
    assert_eq!(escape::csv("say \"so\","), "\"say \"\"so\"\",\"");
    assert_eq!(escape::csv("=1+2"), "\"'=1+2\"");
    assert_eq!(escape::csv("\t=1"), "\"'\\t=1\"");
    assert_eq!(escape::label("\"} 1\n\\"), "\\\"} 1\\\\n\\\\");
    assert_eq!(
        escape::markdown("a|b <i>*c*</i> @all"),
        "a\\|b &lt;i&gt;\\*c\\*&lt;/i&gt; &#64;all"
    );
    assert_eq!(
        escape::c_literal("a\"\\?ü\0"),
        "\"a\\\"\\\\\\?\\303\\274\\000\""
    );
    assert_eq!(
        (
            escape::html_id("fault"),
            escape::html_id("Ü/../\"x"),
            escape::html_id("")
        ),
        ("fault".into(), "part-------x".into(), "part-".into())
    );
    assert_eq!(
        (
            escape::name("copy-first"),
            escape::name("9"),
            escape::name("")
        ),
        ("copy_first".into(), "_9".into(), "_".into())
    );
}

#[test]
fn plain_text_stays_as_it_is() {
    let plain = "fault/thp@c-O3 takes 0.25 (0.24–0.26), 4.7× faster · µs";
    assert_eq!(escape::terminal(plain), plain);
    assert_eq!(escape::html(plain), plain);
}
