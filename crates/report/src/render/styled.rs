//! Text with styles. A style is data beside the text, so no character from outside can be one.

use crate::render::escape::lines;

/// Style of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading or an answer.
    Bold,
    /// Green.
    Faster,
    /// Red.
    Slower,
    /// Yellow.
    Open,
}

impl Style {
    /// Its parameter of SGR (ECMA-48).
    fn parameter(self) -> u8 {
        match self {
            Style::Bold => 1,
            Style::Faster => 32,
            Style::Slower => 31,
            Style::Open => 33,
        }
    }
}

/// Text whose parts may have a style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledText {
    spans: Vec<(String, Option<Style>)>,
}

impl StyledText {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> StyledText {
        StyledText {
            spans: vec![(text.into(), Some(style))],
        }
    }

    /// Adds a text behind this one.
    pub fn push(&mut self, more: impl Into<StyledText>) {
        self.spans.extend(more.into().spans);
    }

    /// The texts with an end of line between two of them.
    pub fn joined(texts: impl IntoIterator<Item = StyledText>) -> StyledText {
        let mut joined = StyledText::default();
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                joined.push("\n");
            }
            joined.push(text);
        }
        joined
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.iter().all(|(text, _)| text.is_empty())
    }

    /// The text without styles.
    pub fn plain(&self) -> String {
        self.spans.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Lines for a terminal, escaped as by [`lines`]. The escape sequences of colors are the only ones.
    pub fn shown(&self, has_colors: bool) -> String {
        let mut shown = String::new();
        for (text, style) in &self.spans {
            let style = style.filter(|_| has_colors && !text.is_empty());
            if let Some(style) = style {
                shown += &format!("\u{1b}[{}m", style.parameter());
            }
            shown += &lines(text);
            if style.is_some() {
                shown += "\u{1b}[0m";
            }
        }
        shown
    }
}

impl From<String> for StyledText {
    fn from(text: String) -> StyledText {
        StyledText {
            spans: vec![(text, None)],
        }
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> StyledText {
        text.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn styles_are_around_their_text_and_empty_text_has_none() {
        let mut text = StyledText::new("a", Style::Bold);
        text.push("b\n");
        text.push(StyledText::new("", Style::Faster));
        text.push(StyledText::new("c", Style::Open));
        assert_eq!(
            text.shown(true),
            "\u{1b}[1ma\u{1b}[0mb\n\u{1b}[33mc\u{1b}[0m"
        );
        assert_eq!(
            (text.shown(false), text.plain()),
            ("ab\nc".into(), "ab\nc".into())
        );
    }

    proptest! {
        #[test]
        fn no_text_becomes_an_escape_sequence(
            text in "[\u{e000}-\u{e00f}\u{1b}\u{9b}\u{7f}\\[a-z0-9;mü\n]{0,40}",
            any in any::<String>(),
        ) {
            for text in [text, any] {
                let mut styled = StyledText::new(text.clone(), Style::Slower);
                styled.push(text.clone());
                let is_escaped = !styled.shown(false).contains('\u{1b}');
                prop_assert!(is_escaped);
                let sequences = 2 * usize::from(!text.is_empty());
                prop_assert_eq!(styled.shown(true).matches('\u{1b}').count(), sequences);
                let kept = |sign: &char| ('\u{e000}'..='\u{e00f}').contains(sign);
                prop_assert_eq!(
                    styled.shown(true).chars().filter(kept).count(),
                    2 * text.chars().filter(kept).count()
                );
            }
        }
    }
}
