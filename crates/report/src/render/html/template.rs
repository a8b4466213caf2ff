//! The template with what it carries: style, script, and the data as JSON.

use super::chart::MARKS;
use crate::render::{document::Document, escape};
use minijinja::{AutoEscape, Environment, Value, context, value::Serde};
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const BLOCKS: &str = include_str!("blocks.html");
pub(crate) const STYLE: &str = include_str!("page.css");
/// Script of the page: sorting, toggles, tooltips.
pub(super) const SCRIPT: &str = include_str!("page.js");
/// The most bytes of JSON that a page carries.
const MOST_DATA: usize = 4 << 20;

/// Templates of which every text is escaped where it goes into the page.
pub(crate) fn environment(templates: &[(&'static str, &'static str)]) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // The one place through which every text passes: nothing can be forgotten to be escaped.
    environment.set_formatter(|out, _, value| {
        let text = value.to_string();
        out.write_str(&if value.is_safe() {
            text
        } else {
            escape::html(&text)
        })?;
        Ok(())
    });
    environment.add_filter("id", |text: String| escape::html_id(&text));
    for (name, text) in templates {
        environment
            .add_template(name, text)
            .expect("the template is well formed");
    }
    environment
}

/// The page as text. It carries `data` as JSON, for programs; nothing where that is null.
pub fn page(document: &Document, data: serde_json::Value) -> String {
    let environment = environment(&[("page.html", PAGE), ("blocks.html", BLOCKS)]);
    // Programs find what is left out of a page in `summary.json`.
    let data = Some(data)
        .filter(|data| !data.is_null())
        .map(|data| data.to_string())
        .filter(|text| text.len() <= MOST_DATA)
        .map(|text| escape::script_json(&text));
    let document = &super::bound::bounded(document);
    let page = environment
        .get_template("page.html")
        .expect("added just now");
    let rendered = page.render(context! {
        page => Value::from(Serde(document)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        style_hash => hash(STYLE),
        script_hash => hash(SCRIPT),
        marks => MARKS,
        data => data.map(Value::from_safe_string),
    });
    rendered.expect("the template names only what a document has")
}

/// SHA-256 in base64, by which the page allows itself this style and this script and no other.
pub(crate) fn hash(text: &str) -> Value {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text);
    let digits = |three: &[u8]| -> String {
        let bits = three
            .iter()
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        let digit = |place: usize| {
            if place > three.len() {
                '='
            } else {
                char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63])
            }
        };
        (0..4).map(digit).collect()
    };
    Value::from_safe_string(digest.chunks(3).map(digits).collect())
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn hashes_are_those_of_the_standard_tools() {
        // printf abc | openssl dgst -sha256 -binary | base64
        assert_eq!(
            hash("abc").to_string(),
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        );
    }
}
