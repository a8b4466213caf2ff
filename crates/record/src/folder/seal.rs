//! Seals: a changed byte is noticed. A JSON file carries the SHA-256 of its other lines; a line of a journal that of
//! itself and of the
//! line before it, so that lines that were swapped, doubled or taken out are noticed too.

use sha2::{Digest, Sha256};

/// Hex digits of a line's seal; a whole file's has all 64.
const LINE_DIGITS: usize = 16;

/// SHA-256 of the parts, in hex.
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A pretty-printed JSON object with its seal as its first field.
pub fn sealed_json(pretty: &str) -> String {
    let rest = pretty.strip_prefix("{\n").unwrap_or(pretty);
    format!("{{\n  \"seal\": \"{}\",\n{rest}", sha256_hex(&[rest.as_bytes()]))
}

/// What a sealed JSON file held before it was sealed; `None` where it is not as it was written.
pub fn opened_json(text: &str) -> Option<String> {
    let (seal, rest) = text.strip_prefix("{\n  \"seal\": \"")?.split_once("\",\n")?;
    (seal == sha256_hex(&[rest.as_bytes()])).then(|| format!("{{\n{rest}"))
}

/// The seal of a journal's line that follows one with the seal `before`.
pub fn line_seal(before: &str, json: &str) -> String {
    let mut seal = sha256_hex(&[before.as_bytes(), json.as_bytes()]);
    seal.truncate(LINE_DIGITS);
    seal
}

/// A journal's line, without its end.
pub fn sealed_line(before: &str, json: &str) -> String {
    let rest = json.strip_prefix('{').unwrap_or(json);
    format!("{{\"seal\":\"{}\",{rest}", line_seal(before, json))
}

/// A line's seal as it stands there, and the JSON that was sealed.
pub fn split_line(line: &str) -> Option<(&str, String)> {
    let (seal, rest) = line.strip_prefix("{\"seal\":\"")?.split_once("\",")?;
    Some((seal, format!("{{{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_back_and_what_was_changed_does_not() {
        let pretty = "{\n  \"a\": 1\n}\n";
        let sealed = sealed_json(pretty);
        assert_eq!(opened_json(&sealed).as_deref(), Some(pretty));
        for i in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[i] ^= 1;
            assert!(String::from_utf8(bytes).ok().and_then(|text| opened_json(&text)).is_none(), "byte {i}");
        }
    }

    #[test]
    fn a_line_holds_only_behind_the_line_that_it_was_written_behind() {
        let first = sealed_line("start", "{\"n\":1}");
        let (seal, json) = split_line(&first).unwrap();
        assert_eq!((seal, json.as_str()), (line_seal("start", "{\"n\":1}").as_str(), "{\"n\":1}"));
        assert_ne!(line_seal(seal, "{\"n\":2}"), line_seal("start", "{\"n\":2}"));
    }
}
