//! Cost by callers: a tree of functions for a screen, a flame graph for the page.

use crate::render::document::{Block, Chart};
use crate::render::escape;
use crate::render::plot::{FlameBox, Plot};
use record::command::{CallStack, CallStacks, MemoryEvent, ProfileSummary};
use std::collections::BTreeMap;

/// Nodes below this share of the total are left out of the tree.
const LEAST: f64 = 0.02;
const LINES: usize = 20;
/// A function that passes this share of its cost on to one other has no line of its own.
const ON_THE_WAY: f64 = 0.97;
/// Share of the total that the named function has at least.
const MAIN: f64 = 0.4;
/// Characters of a function's name on a screen.
const NAME: usize = 52;
/// Boxes of the flame graph that are narrower than this share are left out.
const NARROW: f64 = 0.002;

/// Frames of a stack that count: a tree is walked and freed recursively, and a kept profile may name any number.
const MOST_FRAMES: usize = 512;

#[derive(Default)]
struct CostNode<'a> {
    seconds: f64,
    own_s: f64,
    places: BTreeMap<(&'a str, u32), f64>,
    called: BTreeMap<(&'a str, &'a str), CostNode<'a>>,
}

impl<'a> CostNode<'a> {
    fn new(stacks: &'a CallStacks) -> CostNode<'a> {
        let mut root = CostNode::default();
        for stack in &stacks.stacks {
            let mut node = &mut root;
            node.seconds += stack.weight;
            let frames = stack.frames.iter().take(MOST_FRAMES);
            for frame in frames.filter_map(|&at| stacks.frames.get(at)) {
                node = node
                    .called
                    .entry((&frame.function, &frame.module))
                    .or_default();
                node.seconds += stack.weight;
                *node.places.entry((&frame.file, frame.line)).or_default() += stack.weight;
            }
            node.own_s += stack.weight;
        }
        root
    }

    /// Callees, the dearest first.
    fn called(&self) -> Vec<(String, &CostNode<'a>)> {
        let mut called: Vec<_> = self
            .called
            .iter()
            .map(|((name, module), node)| (label(name, module), node))
            .collect();
        called.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
        called
    }

    /// The dearest line of its source.
    fn place(&self) -> Option<(&'a str, u32)> {
        let most = self
            .places
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(place, _)| *place);
        most.filter(|(file, _)| !file.is_empty())
    }

    fn place_text(&self) -> String {
        self.place().map_or_else(String::new, |(file, line)| {
            format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
        })
    }

    fn lines(&self, total_s: f64, depth: usize, lines: &mut Vec<String>) {
        for (name, node) in self
            .called()
            .into_iter()
            .filter(|(_, node)| node.seconds >= LEAST * total_s)
        {
            let (mut last, mut own, mut end, mut place) = (name, None, node, String::new());
            loop {
                if end.place().is_some_and(|(file, _)| !is_library(file)) {
                    own.get_or_insert_with(|| last.clone());
                    place = end.place_text();
                }
                let next = end
                    .called()
                    .into_iter()
                    .next()
                    .filter(|(_, next)| next.seconds >= ON_THE_WAY * end.seconds);
                let Some(next) = next else { break };
                (last, end) = next;
            }
            let name = match own {
                Some(own) if own != last => format!("{own} › {last}"),
                _ => last,
            };
            let place = if place.is_empty() {
                end.place_text()
            } else {
                place
            };
            let name = cut(&format!("{}{name}", "  ".repeat(depth)));
            let (ms, share) = (1e3 * node.seconds, 100.0 * node.seconds / total_s);
            let line = format!("{ms:>8.1} ms {share:>3.0} % {name:<NAME$} {place}");
            // A name with an end of a line would be a line of the answer.
            lines.push(escape::terminal(line.trim_end()));
            end.lines(total_s, depth + 1, lines);
        }
    }

    fn boxes(&self, total_s: f64, from: f64, depth: usize, flame: &mut Vec<FlameBox>) {
        let mut from = from;
        for (name, node) in self.called() {
            let to = from + node.seconds / total_s;
            if to - from >= NARROW {
                let title = format!("{name} {}: {:.2} ms", node.place_text(), 1e3 * node.seconds);
                flame.push(FlameBox {
                    depth,
                    span: (from, to),
                    name,
                    title,
                });
                node.boxes(total_s, from, depth + 1, flame);
            }
            from = to;
        }
    }
}

/// A function's name; its module where it has none.
pub(super) fn label(function: &str, module: &str) -> String {
    match (function, module) {
        ("", "") => "(code without a file)".to_owned(),
        ("", module) => format!("[{module}]"),
        (name, _) => name.to_owned(),
    }
}

fn cut(name: &str) -> String {
    if name.chars().count() > NAME {
        name.chars().take(NAME - 1).chain(['…']).collect()
    } else {
        name.to_owned()
    }
}

/// True for a line of somebody else's library, as compilers record its place.
fn is_library(file: &str) -> bool {
    ["/rustc/", "/usr/", "./"]
        .iter()
        .any(|start| file.starts_with(start))
        || ["/rustlib/", "/.cargo/registry/", "/library/std/"]
            .iter()
            .any(|part| file.contains(part))
}

/// A function of the user's program with its dearest line.
pub(super) struct MainPlace {
    pub function: String,
    /// Name of the source's file and the line; empty where they are not known.
    line: String,
}

impl MainPlace {
    /// The function and its line.
    pub fn text(&self) -> String {
        if self.line.is_empty() {
            self.function.clone()
        } else {
            format!("{} ({})", self.function, self.line)
        }
    }
}

/// The innermost function of the user's own that has most of the cost of these events: with lines, otherwise outside of the C
/// library.
pub(super) fn main_place(
    summary: &ProfileSummary,
    takes_part: impl Fn(MemoryEvent) -> bool,
) -> Option<MainPlace> {
    // Samples of the kernel's time alone have work that is no page fault.
    let tables = [summary.costliest_stacks(), summary.kernel_stacks.as_ref()];
    let stacks = tables.into_iter().flatten().find_map(|table| {
        let taken = table.stacks.iter().filter(|stack| takes_part(stack.event));
        let stacks: Vec<CallStack> = taken.cloned().collect();
        let frames = table.frames.clone();
        (!stacks.is_empty()).then_some(CallStacks { frames, stacks })
    })?;
    let root = CostNode::new(&stacks);
    let (mut node, mut named, mut own) = (&root, None, None);
    while let Some(((name, module), next)) = node
        .called
        .iter()
        .max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
    {
        if next.seconds < MAIN * root.seconds {
            break;
        }
        node = next;
        let is_named = !name.is_empty()
            && !["libc.", "libc-", "ld-"]
                .iter()
                .any(|start| module.starts_with(start));
        let place = || MainPlace {
            function: escape::terminal(&cut(&label(name, module))),
            line: escape::terminal(&node.place_text()),
        };
        if is_named || named.is_none() {
            named = Some(place());
        }
        if node.place().is_some_and(|(file, _)| !is_library(file)) {
            own = Some(place());
        }
    }
    own.or(named)
}

/// The tree for a screen, and the flame graph for a page.
pub(super) fn blocks(summary: &ProfileSummary) -> Vec<Block> {
    let Some(stacks) = summary.costliest_stacks() else {
        return Vec::new();
    };
    let root = CostNode::new(stacks);
    let mut lines = Vec::new();
    root.lines(root.seconds, 0, &mut lines);
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!(
            "({more} more: pagewise report {} --format folded)",
            summary.plan.run
        ));
    }
    let mut flame = Vec::new();
    root.boxes(root.seconds, 0.0, 0, &mut flame);
    let is_sampled = summary
        .kernel_stacks
        .as_ref()
        .is_some_and(|sampled| std::ptr::eq(sampled, stacks));
    let what = if is_sampled {
        "Kernel time"
    } else {
        "Page faults"
    };
    let caption =
        format!("{what} by callers, the outermost function on top; a box is as wide as its share");
    vec![
        Block::text(format!(
            "{what} by function, with all that it calls, in CPU time of a run:"
        )),
        Block::Code(lines.join("\n")),
        Block::Chart(Chart {
            caption,
            plot: Plot::Flame(flame),
            legend: Vec::new(),
        }),
    ]
}
