//! Call stacks of a profile in the formats of other programs: folded lines, pprof's protocol buffer, Firefox Profiler's JSON.

use super::places::label;
use crate::render::escape;
use anyhow::Result;
use indexmap::IndexSet;
use minijinja::{Environment, value::Serde};
use record::command::{CallFrame, CallStack, CallStacks};
use serde_json::json;
use std::io::Write;

/// A format of call stacks.
pub struct StackFormat {
    pub name: &'static str,
    pub about: &'static str,
    /// True for bytes that are no text.
    pub is_binary: bool,
    pub write: fn(&CallStacks, &mut dyn Write) -> Result<()>,
}

/// The formats that `report --format` writes of a profile.
pub const STACK_FORMATS: [StackFormat; 3] = [
    StackFormat {
        name: "folded",
        about: "a profile's call stacks with their cost in nanoseconds, for flame graphs",
        is_binary: false,
        write: folded,
    },
    StackFormat {
        name: "pprof",
        about: "the same as pprof's protocol buffer, for go tool pprof and speedscope",
        is_binary: true,
        write: pprof,
    },
    StackFormat {
        name: "firefox",
        about: "the same as JSON for profiler.firefox.com",
        is_binary: false,
        write: firefox,
    },
];
/// Firefox Profiler's file around the tables of stacks.
const FIREFOX: &str = include_str!("firefox.jinja");

fn frames<'a>(
    stacks: &'a CallStacks,
    stack: &'a CallStack,
) -> impl DoubleEndedIterator<Item = (usize, &'a CallFrame)> {
    stack
        .frames
        .iter()
        .filter_map(|&at| Some((at, stacks.frames.get(at)?)))
}

fn folded(stacks: &CallStacks, out: &mut dyn Write) -> Result<()> {
    for stack in &stacks.stacks {
        let mut line: Vec<String> = frames(stacks, stack)
            .map(|(_, frame)| label(&frame.function, &frame.module).replace([';', '\n'], ":"))
            .collect();
        if line.is_empty() {
            line.push("(callers not known)".to_owned());
        }
        writeln!(
            out,
            "{} {:.0}",
            escape::terminal(&line.join(";")),
            1e9 * stack.weight
        )?;
    }
    Ok(())
}

fn varint(message: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// A protocol buffer's message of numbers by field (protobuf.dev/programming-guides/encoding).
fn numbers(fields: impl IntoIterator<Item = (usize, usize)>) -> Vec<u8> {
    let mut message = Vec::new();
    fields
        .into_iter()
        .flat_map(|(field, value)| [field << 3, value])
        .for_each(|number| varint(&mut message, number));
    message
}

fn put(message: &mut Vec<u8>, field: usize, bytes: &[u8]) {
    varint(message, field << 3 | 2);
    varint(message, bytes.len());
    message.extend(bytes);
}

/// `Profile` of github.com/google/pprof/proto/profile.proto: a location and a function a frame, numbered from 1.
fn pprof(stacks: &CallStacks, out: &mut dyn Write) -> Result<()> {
    let mut texts = IndexSet::from(["", "cpu", "nanoseconds"].map(str::to_owned));
    let mut profile = Vec::new();
    put(&mut profile, 1, &numbers([(1, 1), (2, 2)]));
    for stack in &stacks.stacks {
        let locations = frames(stacks, stack).rev().map(|(at, _)| (1, at + 1));
        put(
            &mut profile,
            2,
            &numbers(locations.chain([(2, (1e9 * stack.weight) as usize)])),
        );
    }
    for (at, frame) in (1..).zip(&stacks.frames) {
        // Readers of the format print its texts as they are.
        let [name, file] = [label(&frame.function, &frame.module), frame.file.clone()]
            .map(|text| texts.insert_full(escape::terminal(&text)).0);
        let mut location = numbers([(1, at)]);
        put(
            &mut location,
            4,
            &numbers([(1, at), (2, frame.line as usize)]),
        );
        put(&mut profile, 4, &location);
        put(
            &mut profile,
            5,
            &numbers([(1, at), (2, name), (3, name), (4, file)]),
        );
    }
    for text in &texts {
        put(&mut profile, 6, text.as_bytes());
    }
    Ok(out.write_all(&profile)?)
}

/// A function is a name in a file, a node a frame below the node of its callers.
fn firefox(stacks: &CallStacks, out: &mut dyn Write) -> Result<()> {
    let (mut texts, mut files) = (IndexSet::new(), IndexSet::new());
    let (mut functions, mut nodes) = (IndexSet::new(), IndexSet::new());
    let mut calls = Vec::new();
    for frame in &stacks.frames {
        let name = texts.insert_full(label(&frame.function, &frame.module)).0;
        let file = (!frame.file.is_empty())
            .then(|| files.insert_full(texts.insert_full(frame.file.clone()).0).0);
        let function = functions.insert_full((name, file)).0;
        calls.push((function, (frame.line > 0).then_some(frame.line)));
    }
    let mut samples = Vec::new();
    for stack in &stacks.stacks {
        let mut innermost = None;
        for (at, _) in frames(stacks, stack) {
            innermost = Some(nodes.insert_full((innermost, at)).0);
        }
        samples.push((innermost, 1e3 * stack.weight));
    }
    let mut templates = Environment::new();
    templates.set_formatter(|out, _, value| {
        Ok(out.write_str(&escape::json(&json!(value).to_string()))?)
    });
    let tables = json!({
        "texts": Vec::from_iter(texts), "files": Vec::from_iter(files), "functions": Vec::from_iter(functions),
        "frames": calls, "nodes": Vec::from_iter(nodes), "samples": samples,
    });
    Ok(out.write_all(templates.render_str(FIREFOX, Serde(tables))?.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::command::MemoryEvent;

    #[test]
    fn no_name_of_a_frame_steers_in_any_format() {
        for text in [
            "\u{9b}31m",
            "\u{202e}x\u{2028}",
            "a;b\nc 7",
            "\u{1b}[2J\"\\",
            "\u{e001}x",
        ] {
            let frame = |function: &str, module: &str| CallFrame {
                function: function.into(),
                file: text.into(),
                line: 3,
                module: module.into(),
            };
            let stack = CallStack {
                frames: vec![0, 1],
                event: MemoryEvent::Heap,
                weight: 0.5,
            };
            let stacks = CallStacks {
                frames: vec![frame(text, text), frame("", text)],
                stacks: vec![stack],
            };
            for format in &STACK_FORMATS {
                let mut bytes = Vec::new();
                (format.write)(&stacks, &mut bytes).unwrap();
                let shown = String::from_utf8_lossy(&bytes).into_owned();
                // Lengths and tags of a protocol buffer are controls; none of its texts is.
                let steers = |sign: char| {
                    let is_framing = format.is_binary && sign < '\u{80}' && sign != '\u{1b}';
                    sign != '\n' && !is_framing && escape::is_steering(sign)
                };
                assert!(!shown.contains(steers), "{}: {shown:?}", format.name);
                match format.name {
                    "folded" => assert_eq!(shown.lines().count(), 1, "{shown:?}"),
                    "firefox" => {
                        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
                        assert_eq!(read["shared"]["stringArray"][0], text);
                    }
                    _ => {}
                }
            }
        }
    }
}
