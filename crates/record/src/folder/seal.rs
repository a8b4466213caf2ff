//! Seals, which show a changed byte. A JSON file carries the SHA-256 of its other lines; a line of a journal that of
//! itself and of the line before it, so that swapped, doubled or missing lines show too.

use crate::hash::sha256_hex;
use anyhow::Result;
use serde_json::Value;

/// Hex digits of a line's seal; a whole file's has all 64.
const LINE_DIGITS: usize = 16;
/// First bytes of a sealed JSON file.
const HEAD: &[u8] = b"{\n  \"seal\": \"";

/// A pretty-printed JSON object with its seal as its first field. The seal covers `cover` too, which is not written.
pub fn sealed_json(cover: &str, pretty: &str) -> String {
    let rest = pretty.strip_prefix("{\n").unwrap_or(pretty);
    format!(
        "{{\n  \"seal\": \"{}\",\n{rest}",
        sha256_hex(&[cover.as_bytes(), rest.as_bytes()])
    )
}

/// Takes the seal out of a sealed JSON file and returns the JSON; `None` if the file or `cover` changed.
pub fn opened_json<'a>(cover: &str, bytes: &'a mut [u8]) -> Option<&'a [u8]> {
    let seal = bytes.strip_prefix(HEAD)?.get(..64)?.to_vec();
    let rest = HEAD.len() + seal.len() + 3;
    let sound = bytes.get(rest - 3..rest)? == b"\",\n"
        && seal == sha256_hex(&[cover.as_bytes(), &bytes[rest..]]).as_bytes();
    if !sound {
        return None;
    }
    bytes[rest - 1] = b'{';
    Some(&bytes[rest - 1..])
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

/// A line's written seal, and the JSON that was sealed.
pub fn split_line(line: &str) -> Option<(&str, String)> {
    let (seal, rest) = line.strip_prefix("{\"seal\":\"")?.split_once("\",")?;
    Some((seal, format!("{{{rest}")))
}

// Layout of a run's JSON files: every field on a line of its own, and every element of a list. Laid out fully, most of a
// summary would be white space; on one line, nobody could read it or see what differs.

/// A JSON object as text: a line for each field, but for a list or an object of several a line for each of what it holds.
pub fn one_a_line(value: &Value) -> Result<String> {
    let Value::Object(fields) = value else {
        return Ok(serde_json::to_string(value)? + "\n");
    };
    let mut lines = Vec::new();
    for (name, value) in fields {
        let name = serde_json::to_string(name)?;
        lines.push(match value {
            Value::Array(elements) if elements.iter().any(|element| element.is_object()) => {
                let lines: Vec<String> = elements
                    .iter()
                    .map(|element| format!("    {element}"))
                    .collect();
                format!("  {name}: [\n{}\n  ]", lines.join(",\n"))
            }
            Value::Object(entries) if !entries.is_empty() => {
                let entry = |(name, entry): (&String, &Value)| {
                    Ok(format!("    {}: {entry}", serde_json::to_string(name)?))
                };
                let lines: Vec<String> = entries.iter().map(entry).collect::<Result<_>>()?;
                format!("  {name}: {{\n{}\n  }}", lines.join(",\n"))
            }
            other => format!("  {name}: {other}"),
        });
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_or_another_cover_shows() {
        let sealed = sealed_json("c", "{\n  \"a\": 1\n}\n").into_bytes();
        assert_eq!(
            opened_json("c", &mut sealed.clone()),
            Some(&b"{  \"a\": 1\n}\n"[..])
        );
        assert_eq!(opened_json("d", &mut sealed.clone()), None);
        for i in 0..sealed.len() {
            let mut bytes = sealed.clone();
            bytes[i] ^= 1;
            assert_eq!(opened_json("c", &mut bytes), None, "byte {i}");
            assert_eq!(
                opened_json("c", &mut sealed[..i].to_vec()),
                None,
                "cut at {i}"
            );
        }
    }

    #[test]
    fn a_line_holds_only_behind_the_line_before_it() {
        let first = sealed_line("start", "{\"n\":1}");
        let (seal, json) = split_line(&first).unwrap();
        assert_eq!(
            (seal, json.as_str()),
            (line_seal("start", "{\"n\":1}").as_str(), "{\"n\":1}")
        );
        assert_ne!(
            line_seal(seal, "{\"n\":2}"),
            line_seal("start", "{\"n\":2}")
        );
    }

    mod layout {
        use super::*;

        #[test]
        fn fields_and_elements_have_lines_and_come_back() {
            let value = serde_json::json!({ "a": 1.5, "\"b": [{ "c": [1, 2] }, {}], "d": { "e": {} }, "f": [1, 2], "g": {} });
            let text = one_a_line(&value).unwrap();
            let lines = [
                "{",
                "  \"a\": 1.5,",
                "  \"\\\"b\": [",
                "    {\"c\":[1,2]},",
                "    {}",
                "  ],",
                "  \"d\": {",
                "    \"e\": {}",
                "  },",
                "  \"f\": [1,2],",
                "  \"g\": {}",
                "}",
            ];
            assert_eq!(text.lines().collect::<Vec<_>>(), lines);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
