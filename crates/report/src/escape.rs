//! Text from outside, made harmless for its destination, a function each. A record or a file name may hold anything.

use serde::Serialize;
use std::fmt::Write;

/// True for a character that steers a screen or deceives: controls, bidirectional or invisible ones, line separators.
pub fn is_steering(sign: char) -> bool {
    let unseen = matches!(sign, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}');
    unseen || sign.is_control()
}

fn push_visible(shown: &mut String, sign: char) {
    let _ = match sign {
        '\n' => shown.write_str("\\n"),
        '\r' => shown.write_str("\\r"),
        '\t' => shown.write_str("\\t"),
        c if is_steering(c) && u32::from(c) < 0x100 => write!(shown, "\\x{:02x}", u32::from(c)),
        c if is_steering(c) => write!(shown, "\\u{{{:x}}}", u32::from(c)),
        c => shown.write_char(c),
    };
}

fn replaced(text: &str, mut push: impl FnMut(&mut String, char)) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|sign| push(&mut shown, sign));
    shown
}

/// One line for a terminal: steering characters appear as `\n`, `\x1b` or `\u{202e}`.
pub fn terminal(text: &str) -> String {
    replaced(text, push_visible)
}

/// Several lines for a terminal: ends of lines and tabs stay, other steering characters appear as by [`terminal`].
pub fn lines(text: &str) -> String {
    replaced(text, |shown, sign| {
        if matches!(sign, '\n' | '\t') {
            shown.push(sign)
        } else {
            push_visible(shown, sign)
        }
    })
}

/// Marks of styles in a rendered text (private use in Unicode), each with what a terminal takes for it.
const STYLES: [(char, &str); 5] = [
    ('\u{e000}', "\u{1b}[0m"),
    ('\u{e001}', "\u{1b}[1m"),
    ('\u{e002}', "\u{1b}[32m"),
    ('\u{e003}', "\u{1b}[31m"),
    ('\u{e004}', "\u{1b}[33m"),
];

/// Style of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading or an answer.
    Bold = 1,
    /// Green.
    Faster = 2,
    /// Red.
    Slower = 3,
    /// Yellow.
    Open = 4,
}

pub(crate) fn marked(text: &str, style: Style) -> String {
    format!("{}{text}{}", STYLES[style as usize].0, STYLES[0].0)
}

/// Several lines for a terminal with colors: as by [`lines`], with the styles of [`marked`] parts.
pub fn styled(text: &str) -> String {
    STYLES
        .iter()
        .fold(lines(text), |text, (mark, code)| text.replace(*mark, code))
}

fn json_without(text: &str, forbidden: impl Fn(char) -> bool) -> String {
    replaced(text, |shown, sign| {
        if forbidden(sign) {
            for unit in sign.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(sign);
        }
    })
}

/// JSON text of the same value without steering characters. Ends of lines stay.
pub fn json(text: &str) -> String {
    json_without(text, |sign| sign != '\n' && is_steering(sign))
}

/// JSON of a value on indented lines, as by [`json`], with a last end of line.
pub fn pretty_json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(json(&serde_json::to_string_pretty(value)?) + "\n")
}

/// JSON text on one line for the inside of a `script` element: the same value, unable to end the element or begin a comment.
pub fn script_json(text: &str) -> String {
    json_without(text, |sign| {
        is_steering(sign) || ['<', '>', '&'].contains(&sign)
    })
}

/// Text for the inside of an HTML element or a quoted attribute. Ends of lines and tabs are spaces.
pub fn html(text: &str) -> String {
    replaced(text.trim_end_matches('\n'), |shown, sign| match sign {
        '\n' | '\t' => shown.push(' '),
        '&' => shown.push_str("&amp;"),
        '<' => shown.push_str("&lt;"),
        '>' => shown.push_str("&gt;"),
        '"' => shown.push_str("&quot;"),
        '\'' => shown.push_str("&#39;"),
        sign => push_visible(shown, sign),
    })
}

/// The value of an `id` in HTML: at most 65 small letters, digits and hyphens; never empty.
pub fn html_id(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let id: String = text.chars().take(60).map(plain).collect();
    if id.starts_with(|c: char| c.is_ascii_lowercase()) {
        id
    } else {
        format!("part-{id}")
    }
}

/// Text without markup for Markdown as GitHub and GitLab show it: no HTML, no links, no mentions.
pub fn markdown(text: &str) -> String {
    let inert = replaced(&terminal(text), |shown, sign| match sign {
        '<' => shown.push_str("&lt;"),
        '>' => shown.push_str("&gt;"),
        '&' => shown.push_str("&amp;"),
        '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '$' => {
            shown.extend(['\\', sign])
        }
        '@' => shown.push_str("&#64;"),
        ':' => shown.push_str("&#58;"),
        // GitHub makes a link of a host name that begins with www.
        '.' if shown.len() > 2
            && shown.as_bytes()[shown.len() - 3..].eq_ignore_ascii_case(b"www") =>
        {
            shown.push_str("&#46;")
        }
        other => shown.push(other),
    });
    // A colon before a space begins no address.
    inert.replace("&#58; ", ": ")
}

/// A text field of RFC 4180. An apostrophe keeps a spreadsheet from reading a formula.
pub fn csv(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    let text = format!("{formula}{}", terminal(text));
    if text.contains(['"', ',', '\'']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// The value of an OpenMetrics or Prometheus label, without its quotes.
pub fn label(text: &str) -> String {
    terminal(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// A name of a label, a function or a macro: ASCII letters, digits and underscores; it does not begin with a digit.
pub fn name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = text.chars().map(plain).collect();
    if name.starts_with(|c: char| !c.is_ascii_digit()) {
        name
    } else {
        format!("_{name}")
    }
}

/// Text for a comment of C or Rust, on one line, which it cannot end.
pub fn comment(text: &str) -> String {
    let mut before = ' ';
    replaced(&terminal(text), |shown, sign| {
        if matches!((before, sign), ('*', '/') | ('/', '*') | ('?', '?')) {
            shown.push(' ');
        }
        before = sign;
        // A line that ends with a backslash goes on in the next.
        shown.push(if sign == '\\' { '|' } else { sign });
    })
}

/// A string literal of C with the value `text` in UTF-8.
pub fn c_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        let _ = match byte {
            // A question mark may begin a trigraph.
            b'"' | b'\\' | b'?' => write!(literal, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(literal, "{}", char::from(byte)),
            other => write!(literal, "\\{other:03o}"),
        };
    }
    literal + "\""
}

/// A string literal of Rust with the value `text`, in ASCII.
pub fn rust_literal(text: &str) -> String {
    format!("\"{}\"", text.escape_default())
}
