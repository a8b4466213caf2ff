//! Call stacks of a profile in the formats of other programs: folded lines and pprof's protocol buffer.

use super::places::label;
use anyhow::Result;
use record::command::{CallFrame, CallStack, CallStacks};
use std::io::Write;

type WriteStacks = fn(&CallStacks, &mut dyn Write) -> Result<()>;

/// Formats by name, with what they hold.
pub const STACK_FORMATS: [(&str, &str, WriteStacks); 2] = [
    ("folded", "a profile's call stacks with their cost in nanoseconds, for flame graphs", folded),
    ("pprof", "the same as pprof's protocol buffer, for go tool pprof and speedscope", pprof),
];

fn frames<'a>(stacks: &'a CallStacks, stack: &'a CallStack) -> impl DoubleEndedIterator<Item = (usize, &'a CallFrame)> {
    stack.frames.iter().filter_map(|&at| Some((at, stacks.frames.get(at)?)))
}

fn folded(stacks: &CallStacks, out: &mut dyn Write) -> Result<()> {
    for stack in &stacks.stacks {
        let name = |frame: &CallFrame| label(&frame.function, &frame.module).replace([';', '\n'], ":");
        let mut line: Vec<String> = frames(stacks, stack).map(|(_, frame)| name(frame)).collect();
        if line.is_empty() {
            line.push("(callers not known)".to_owned());
        }
        writeln!(out, "{} {:.0}", crate::escape::terminal(&line.join(";")), 1e9 * stack.weight)?;
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
    fields.into_iter().flat_map(|(field, value)| [field << 3, value]).for_each(|number| varint(&mut message, number));
    message
}

fn put(message: &mut Vec<u8>, field: usize, bytes: &[u8]) {
    varint(message, field << 3 | 2);
    varint(message, bytes.len());
    message.extend(bytes);
}

/// `Profile` of github.com/google/pprof/proto/profile.proto: a location and a function a frame, numbered from 1.
fn pprof(stacks: &CallStacks, out: &mut dyn Write) -> Result<()> {
    let mut texts: Vec<String> = ["", "cpu", "nanoseconds"].map(str::to_owned).into();
    let mut index = |text: String| {
        texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        })
    };
    let mut profile = Vec::new();
    put(&mut profile, 1, &numbers([(1, 1), (2, 2)]));
    for stack in &stacks.stacks {
        let locations = frames(stacks, stack).rev().map(|(at, _)| (1, at + 1));
        put(&mut profile, 2, &numbers(locations.chain([(2, (1e9 * stack.weight) as usize)])));
    }
    for (at, frame) in (1..).zip(&stacks.frames) {
        let (name, file) = (index(label(&frame.function, &frame.module)), index(frame.file.clone()));
        let mut location = numbers([(1, at)]);
        put(&mut location, 4, &numbers([(1, at), (2, frame.line as usize)]));
        put(&mut profile, 4, &location);
        put(&mut profile, 5, &numbers([(1, at), (2, name), (3, name), (4, file)]));
    }
    texts.iter().for_each(|text| put(&mut profile, 6, text.as_bytes()));
    Ok(out.write_all(&profile)?)
}
