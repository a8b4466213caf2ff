//! Cuts a source into its top-level items: functions, macros, constants and tables, with the ranges that the clock covers.

/// What a source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Go,
    Java,
}

/// Kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Macro,
    Value,
}

/// One function, macro, constant or table.
#[derive(Debug)]
pub(super) struct Item {
    /// Index of its file.
    pub file: usize,
    /// What it can be called by; an enumeration has many names.
    pub names: Vec<String>,
    /// Byte range in its file, its comment included.
    pub range: (usize, usize),
    /// Where its own words begin, after the comment.
    pub code: usize,
    pub kind: Kind,
    /// Only its own file can name it.
    pub local: bool,
    /// Byte ranges of the bodies of the phases in it.
    pub phases: Vec<(usize, usize)>,
}

/// The text with comments and literals blanked, byte by byte, so that positions stay.
pub(super) fn mask(text: &str, language: Language) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = match rest[0] {
            b'/' if rest.starts_with(b"//") => find(bytes, at, b"\n"),
            b'/' if rest.starts_with(b"/*") => find(bytes, at + 2, b"*/") + 2,
            b'`' if language == Language::Go => find(bytes, at + 1, b"`") + 1,
            quote @ (b'"' | b'\'') => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                end + 1
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.min(bytes.len());
        out[at..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at = end;
    }
    out
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(what.len()).position(|w| w == what).map_or(bytes.len(), |at| from + at)
}

/// Every identifier of a range with its position.
pub(super) fn identifiers(masked: &[u8], range: (usize, usize)) -> Vec<(usize, &str)> {
    let (mut at, mut found) = (range.0, Vec::new());
    while at < range.1 {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let length = masked[at..range.1].iter().take_while(|b| is_word(**b)).count();
        if length > 0 && !masked[at].is_ascii_digit() {
            found.push((at, std::str::from_utf8(&masked[at..at + length]).unwrap_or_default()));
        }
        at += length.max(1);
    }
    found
}

/// The position after the bracket that closes the one at `open`.
fn closed(masked: &[u8], open: usize) -> usize {
    let mut depth = 0i32;
    for (at, byte) in masked.iter().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    masked.len()
}

fn skip_space(masked: &[u8], at: usize) -> usize {
    at + masked[at.min(masked.len())..].iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// The items of one file.
pub(super) fn items(file: usize, text: &str, masked: &[u8], language: Language) -> Vec<Item> {
    let mut found = Vec::new();
    cut(file, text, masked, language, (0, masked.len()), &mut found);
    for item in &mut found {
        item.phases = phases(masked, language, item.range);
    }
    found
}

fn line_end(masked: &[u8], at: usize) -> usize {
    find(masked, at, b"\n")
}

/// Where a preprocessor's line ends, its continuations included.
fn directive_end(masked: &[u8], mut at: usize) -> usize {
    loop {
        let end = line_end(masked, at);
        if end == masked.len() || masked[end - 1] != b'\\' {
            return end;
        }
        at = end + 1;
    }
}

fn cut(file: usize, text: &str, masked: &[u8], language: Language, range: (usize, usize), found: &mut Vec<Item>) {
    let mut at = skip_space(masked, range.0);
    while at < range.1 {
        if masked[at] == b'}' || masked[at] == b';' {
            at = skip_space(masked, at + 1);
            continue;
        }
        let (end, names, inside) = match (language, masked[at]) {
            (Language::C, b'#') => {
                let end = directive_end(masked, at);
                let words = identifiers(masked, (at, end));
                let defines = words.first().is_some_and(|(_, w)| *w == "define") && words.len() > 1;
                (end, if defines { vec![words[1].1.to_owned()] } else { Vec::new() }, None)
            }
            _ => declaration(masked, language, at, range.1),
        };
        match inside {
            Some(inside) => cut(file, text, masked, language, inside, found),
            None => {
                let kind = match masked[end - 1] {
                    _ if masked[at] == b'#' => Kind::Macro,
                    b'}' if names.len() == 1 => Kind::Function,
                    _ => Kind::Value,
                };
                let head = String::from_utf8_lossy(&masked[at..end.min(at + 7)]).into_owned();
                let local =
                    language == Language::C && (["static", "enum", "#"].iter().any(|word| head.starts_with(word)));
                let start = with_comment(text, masked, range.0, at);
                found.push(Item { file, names, range: (start, end), code: at, kind, local, phases: Vec::new() });
            }
        }
        at = skip_space(masked, end);
    }
}

/// The start of the comment that stands right above an item.
fn with_comment(text: &str, masked: &[u8], from: usize, at: usize) -> usize {
    let mut start = masked[..at].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1).max(from.min(at));
    while start > from {
        let above = text[..start - 1].rfind('\n').map_or(0, |p| p + 1);
        let comment = text[above..start - 1].trim();
        let blank = masked[above..start - 1].iter().all(u8::is_ascii_whitespace);
        if above < from || comment.is_empty() || !blank {
            break;
        }
        start = above;
    }
    start
}

type Declared = (usize, Vec<String>, Option<(usize, usize)>);

/// One declaration: its end, its names, and the inside of a type whose members are items themselves.
fn declaration(masked: &[u8], language: Language, start: usize, limit: usize) -> Declared {
    let mut at = start;
    let mut assigned = false;
    while at < limit {
        match masked[at] {
            b';' => return (at + 1, value_names(masked, language, (start, at)), None),
            b'\n' if language == Language::Go => return (at, value_names(masked, language, (start, at)), None),
            b'=' => assigned = true,
            b'{' => {
                let end = closed(masked, at);
                let head = identifiers(masked, (start, at));
                let is_type = head.iter().any(|(_, w)| ["class", "record", "interface", "enum"].contains(w));
                if language == Language::Java && is_type && !assigned {
                    return (end, Vec::new(), Some((at + 1, end - 1)));
                }
                let before = masked[..at].iter().rposition(|b| !b.is_ascii_whitespace()).unwrap_or(0);
                let function = match language {
                    Language::C => masked[before] == b')',
                    Language::Go => head.first().is_some_and(|(_, w)| *w == "func"),
                    Language::Java => head.iter().any(|(p, w)| masked[p + w.len()] == b'('),
                };
                if function && !assigned {
                    return (end, function_name(masked, language, (start, at)).into_iter().collect(), None);
                }
                if language == Language::C && !assigned && head.iter().any(|(_, w)| *w == "enum") {
                    let names = identifiers(masked, (at, end)).into_iter().map(|(_, w)| w.to_owned()).collect();
                    return (find(masked, end, b";") + 1, names, None);
                }
                at = end;
                continue;
            }
            b'(' | b'[' => {
                at = closed(masked, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (limit, Vec::new(), None)
}

/// The name of a function by what stands before its body.
fn function_name(masked: &[u8], language: Language, head: (usize, usize)) -> Option<String> {
    let words = identifiers(masked, head);
    let called = |p: &usize, w: &str| masked.get(p + w.len()) == Some(&b'(');
    let mut candidates = words.iter().filter(|(p, w)| called(p, w) && *w != "__attribute__" && *w != "format");
    match language {
        Language::C => {
            // Attributes come first, and their arguments lie deeper.
            let top = |p: usize| {
                let depth =
                    masked[head.0..p].iter().fold(0i32, |d, b| d + i32::from(*b == b'(') - i32::from(*b == b')'));
                depth == 0
            };
            candidates.find(|(p, _)| top(*p)).map(|(_, w)| (*w).to_owned())
        }
        Language::Go | Language::Java => {
            let receiver = |w: &str| w == "func";
            candidates.find(|(_, w)| !receiver(w)).map(|(_, w)| (*w).to_owned())
        }
    }
}

/// What a declaration that is no function defines: a variable, a table, a constant, or what a macro makes of its first word.
fn value_names(masked: &[u8], language: Language, range: (usize, usize)) -> Vec<String> {
    let words = identifiers(masked, range);
    let first = words.first().map_or("", |(_, w)| *w);
    if ["typedef", "struct", "union", "extern", "import", "package", "type"].contains(&first)
        && !masked[range.0..range.1].contains(&b'=')
    {
        return Vec::new();
    }
    let byte = |p: &usize, w: &str| masked[skip_space(masked, p + w.len()).min(masked.len() - 1)];
    if language == Language::C && words.len() > 1 && first.to_uppercase() == first && byte(&words[0].0, first) == b'(' {
        return vec![words[1].1.to_owned()];
    }
    if language == Language::Go {
        // `var x = …` and the lines of `const ( … )`
        if words.len() < 2 || byte(&words[0].0, first) != b'(' {
            return words.get(1).map(|(_, w)| (*w).to_owned()).into_iter().collect();
        }
        let starts_line =
            |p: usize| masked[..p].iter().rev().take_while(|b| **b != b'\n').all(|b| b.is_ascii_whitespace());
        return words.iter().filter(|(p, _)| *p > range.0 && starts_line(*p)).map(|(_, w)| (*w).to_owned()).collect();
    }
    let prototype = words.iter().any(|(p, w)| byte(p, w) == b'(') && !masked[range.0..range.1].contains(&b'=');
    let defined = words.iter().find(|(p, w)| matches!(byte(p, w), b'=' | b'[' | b';' | b','));
    if prototype { Vec::new() } else { defined.map(|(_, w)| (*w).to_owned()).into_iter().collect() }
}

/// The bodies of phases within a range.
fn phases(masked: &[u8], language: Language, range: (usize, usize)) -> Vec<(usize, usize)> {
    let openers: &[&str] = match language {
        Language::C => &["PHASE", "PARALLEL_PHASE", "SERIES_PHASE"],
        Language::Go => &["begin", "beginParallel"],
        Language::Java => &["phase"],
    };
    let opens = |p: usize, w: &str| openers.contains(&w) && masked.get(p + w.len()) == Some(&b'(');
    let opened = identifiers(masked, range).into_iter().filter(|(p, w)| opens(*p, w));
    let body = |(p, w): (usize, &str)| {
        let after = closed(masked, p + w.len());
        if language == Language::Go {
            // Only the stopwatch's braces are calls on a slot that an `end()` follows.
            let ends = [b".end()".as_slice(), b".endSeries()"].map(|call| find(masked, after, call));
            let end = ends[0].min(ends[1]);
            let of_slot = p > 1 && masked[p - 1] == b'.' && end < range.1;
            return of_slot.then(|| (after, masked[..end].iter().rposition(|b| *b == b'\n').unwrap_or(end)));
        }
        let open = find(masked, after.saturating_sub(1), b"{");
        (open < range.1 && masked[p - 1] != b'_').then(|| (open + 1, closed(masked, open) - 1))
    };
    let defines = |p: usize| {
        let line = masked[..p].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1);
        masked[line..p].starts_with(b"#define")
    };
    opened.filter(|(p, _)| !defines(*p)).filter_map(body).collect()
}
