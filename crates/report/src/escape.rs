//! Text from outside, made harmless for its destination, a function each. A record or a file name may hold anything.

use serde::Serialize;
use std::fmt::Write;

/// True for a character that steers a screen or deceives: controls, bidirectional or invisible ones, line separators.
pub fn is_steering(sign: char) -> bool {
    is_ignorable(sign)
        || matches!(sign, '\u{2028}'..='\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
        || sign.is_control()
}

/// True for a character that is not drawn: Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt).
fn is_ignorable(sign: char) -> bool {
    matches!(sign, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
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

/// A word for a POSIX shell with the value `text`. It is in quotes where it needs them; characters that steer, but for ends of
/// lines and tabs, are written by their numbers.
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let inside = replaced(text, |word, sign| match sign {
        '\'' => word.push_str("'\\''"),
        sign if sign != '\n' && sign != '\t' && is_steering(sign) => {
            word.push_str("'\"$(printf '");
            for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(word, "\\{byte:03o}");
            }
            word.push_str("')\"'");
        }
        sign => word.push(sign),
    });
    format!("'{inside}'")
}

/// An assignment for `Environment=` of systemd, in quotes, with the value `text`: systemd reads escapes of C, and replaces what
/// follows a percent sign. Nothing where systemd takes no such value: control characters other than ends of lines and tabs.
pub fn systemd(name: &str, text: &str) -> Option<String> {
    let refused = |sign: char| sign.is_control() && sign != '\n' && sign != '\t';
    if !is_variable(name) || text.contains(refused) {
        return None;
    }
    let value = replaced(text, |value, sign| {
        let _ = match sign {
            '"' | '\\' => write!(value, "\\{sign}"),
            '%' => value.write_str("%%"),
            '\n' => value.write_str("\\n"),
            '\t' => value.write_str("\\t"),
            sign if is_steering(sign) => write!(value, "\\U{:08x}", u32::from(sign)),
            sign => value.write_char(sign),
        };
    });
    Some(format!("\"{name}={value}\""))
}

/// An assignment for `ENV` of a Dockerfile, in quotes, with the value `text`. Nothing where a Dockerfile has no way to write it:
/// characters that steer.
pub fn dockerfile(name: &str, text: &str) -> Option<String> {
    let is_held = is_variable(name) && !text.contains(is_steering);
    let value = replaced(text, |value, sign| {
        if matches!(sign, '"' | '\\' | '$') {
            value.push('\\');
        }
        value.push(sign);
    });
    is_held.then(|| format!("{name}=\"{value}\""))
}

/// True for a name of a variable that a shell, systemd and a Dockerfile take: ASCII letters, digits and underscores.
pub fn is_variable(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| plain(c) && !c.is_ascii_digit()) && text.chars().all(plain)
}

/// The rest of a line that begins with a number sign, in a shell script, a Dockerfile or a file of systemd. It ends there and
/// does not go on in the next line.
pub fn number_sign(text: &str) -> String {
    let line = terminal(text);
    if line.ends_with('\\') {
        line + "."
    } else {
        line
    }
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
