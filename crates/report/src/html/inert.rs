//! Nothing that a record holds may steer a browser, or a reader's eyes.

use crate::inert::is_steering;

/// A text whose control characters, and those that turn the direction of writing or cannot be seen, are question marks.
/// Ends of lines are spaces. It is not yet escaped.
pub(super) fn text(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\t' => ' ',
        c if is_steering(c) => '?',
        c => c,
    };
    text.trim_end_matches('\n').chars().map(plain).collect()
}

/// A text for the inside of an element or of a quoted attribute.
pub(super) fn escaped(raw: &str) -> String {
    let mut shown = String::with_capacity(raw.len());
    for sign in text(raw).chars() {
        match sign {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            c => shown.push(c),
        }
    }
    shown
}

/// JSON on one line for the inside of a `script` element: the same value, without a character that could end the
/// element, begin a
/// comment, steer what shows it or be taken for the end of a line.
pub(super) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            c if is_steering(c) || ['<', '>', '&'].contains(&c) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// A word for an `id`: small letters, digits and hyphens, and never empty.
pub(super) fn id(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let id: String = text.chars().take(60).map(plain).collect();
    if id.starts_with(|c: char| c.is_ascii_lowercase()) { id } else { format!("part-{id}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_shown_as_a_question_mark() {
        assert_eq!(escaped("a\u{1b}[2J\u{202e}<b>\"'&\rc\nd\n"), "a?[2J?&lt;b&gt;&quot;&#39;&amp;?c d");
    }

    #[test]
    fn json_stays_the_same_value_and_cannot_end_its_element() {
        let value = "</script><!--\u{2028}\u{2029}\u{7f}&\\ü";
        let text = json(&serde_json::to_string(value).unwrap());
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }

    #[test]
    fn ids_are_words() {
        assert_eq!((id("fault"), id("Ü/../\"x"), id("")), ("fault".into(), "part-------x".into(), "part-".into()));
    }
}
