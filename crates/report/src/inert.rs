//! Text that steers nothing: what a record holds may have been written by anybody.

/// Whether a character could steer what shows it: control characters, and those that are not seen or turn the
/// direction of writing.
pub fn is_steering(sign: char) -> bool {
    let unseen =
        matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    unseen || sign.is_control() || matches!(sign, '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// The text with a question mark in place of each character that could steer what shows it.
pub fn inert(text: &str) -> String {
    text.chars().map(|sign| if is_steering(sign) { '?' } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left() {
        assert_eq!(inert("a\u{1b}[31mb\u{7}\u{202e}c\n\u{9b}d\u{feff}µ"), "a?[31mb??c??d?µ");
    }
}
