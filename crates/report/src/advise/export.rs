//! Saved advice as source that a program compiles in: a template a language.

use crate::escape::{self, c_literal, comment, rust_literal};
use minijinja::{Environment, Value, syntax::SyntaxConfig, value::Serde};
use record::advice::{Advice, Question, Segment};
use serde_json::json;

/// A C header: the fingerprint as macros, and for each question a function from a size to a way, or NULL.
pub fn c_header(advice: &Advice) -> String {
    source(advice, include_str!("advice.h.jinja"), c_literal)
}

/// A Rust module: the fingerprint, and for each question a constant function from a size to a way.
pub fn rust_module(advice: &Advice) -> String {
    source(advice, include_str!("advice.rs.jinja"), rust_literal)
}

fn source(advice: &Advice, template: &str, quoted: fn(&str) -> String) -> String {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.expect("the usual marks"));
    templates.add_filter("comment", |text: String| comment(&text));
    templates.add_filter("name", |id: String| escape::name(&id).to_ascii_lowercase());
    templates.add_filter("literal", move |value: Value| value.as_str().map_or_else(|| value.to_string(), quoted));
    let segment = |s: &Segment| {
        let gain = format!("{:.2} ({:.2} to {:.2}) of the time of {}", s.ratio, s.at_least, s.at_most, s.over);
        json!({ "from": s.from, "to": s.to, "way": s.way, "gain": gain })
    };
    let question = |(id, question): (&String, &Question)| {
        let segments: Vec<_> = question.agreed().map(segment).collect();
        json!({ "id": id, "does": question.does, "segments": segments })
    };
    let machine = &advice.machine;
    let data = json!({
        "version": advice.version,
        "created": advice.created,
        "machine": [
            ["cpu", machine.cpu], ["microcode", machine.microcode], ["kernel", machine.kernel], ["thp", machine.thp],
            ["glibc", machine.glibc], ["page_bytes", machine.page_bytes]
        ],
        "questions": advice.questions.iter().map(question).collect::<Vec<_>>(),
    });
    templates.render_str(template, Value::from(Serde(data))).expect("a template fits any advice")
}
