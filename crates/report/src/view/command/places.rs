//! Cost by callers: a tree of functions for a screen, a flame graph for the page.

use crate::render::document::{Block, Chart};
use crate::render::escape;
use crate::render::plot::{FlameBox, Plot};
use record::command::{CallStack, CallStacks, MemoryEvent, ProfileSummary};
use std::collections::BTreeMap;

/// Nodes below this share of the total are left out of the whole tree, and its lines.
const LEAST: f64 = 0.02;
const LINES: usize = 20;
/// The same shares of the tree of a few lines: the first by which it has room.
const SHARES: [f64; 5] = [LEAST, 0.05, 0.1, 0.2, 0.4];
/// A function that passes this share of its cost on to one other has no line of its own.
const ON_THE_WAY: f64 = 0.97;
/// Share of the total that the named function has at least.
const MAIN: f64 = 0.4;
/// Characters of a function's name on a screen, at most and at least.
const NAME: usize = 52;
const LEAST_NAME: usize = 24;
/// Characters of a name and its place: a line has 80, of which an indent, the time and the share take the others.
const ROOM: usize = 58;
/// Beginning of the names of Go's own functions, which are in the user's program.
const GO_RUNTIME: &str = "runtime.";
/// Boxes of the flame graph that are narrower than this share are left out.
const NARROW: f64 = 0.002;

/// Frames of a stack that count: a tree is walked and freed recursively, and a kept profile may name any number.
const MOST_FRAMES: usize = 512;

/// A function of the tree with its cost.
struct TreeRow {
    seconds: f64,
    share: f64,
    /// Indented by its depth.
    name: String,
    place: String,
}

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
            let mut caller = None;
            for frame in frames.filter_map(|&at| stacks.frames.get(at)) {
                let name = (frame.function.as_str(), frame.module.as_str());
                // A function that calls itself is one node, however deep it goes.
                if caller == Some(name) && !name.0.is_empty() {
                    continue;
                }
                caller = Some(name);
                node = node.called.entry(name).or_default();
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

    /// Rows of the functions that have at least this share of the total, callers before callees.
    fn rows(&self, total_s: f64, least: f64, depth: usize, rows: &mut Vec<TreeRow>) {
        for (name, node) in self
            .called()
            .into_iter()
            .filter(|(_, node)| node.seconds >= least * total_s)
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
            rows.push(TreeRow {
                seconds: node.seconds,
                share: node.seconds / total_s,
                name: format!("{}{name}", "  ".repeat(depth)),
                place,
            });
            end.rows(total_s, least, depth + 1, rows);
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

fn cut(name: &str, most: usize) -> String {
    if name.chars().count() > most {
        name.chars().take(most - 1).chain(['…']).collect()
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
    place_where(summary, |_, stack| takes_part(stack.event))
}

/// The same of these events where a system call of this name caused them; of all where no stack has its function.
pub(super) fn place_of_call(
    summary: &ProfileSummary,
    events: &[MemoryEvent],
    call: &str,
) -> Option<MainPlace> {
    let is_event = |stack: &CallStack| events.contains(&stack.event);
    let is_of_call = |table: &CallStacks, stack: &CallStack| {
        let mut frames = stack.frames.iter().filter_map(|&at| table.frames.get(at));
        !call.is_empty() && frames.any(|f| f.function.trim_start_matches('_') == call)
    };
    place_where(summary, |table, stack| {
        is_event(stack) && is_of_call(table, stack)
    })
    .or_else(|| place_where(summary, |_, stack| is_event(stack)))
}

fn place_where(
    summary: &ProfileSummary,
    takes_part: impl Fn(&CallStacks, &CallStack) -> bool,
) -> Option<MainPlace> {
    // Samples of the kernel's time alone have work that is no page fault.
    let tables = [summary.costliest_stacks(), summary.kernel_stacks.as_ref()];
    let stacks = tables.into_iter().flatten().find_map(|table| {
        let taken = table.stacks.iter().filter(|stack| takes_part(table, stack));
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
        let is_runtime = name.starts_with(GO_RUNTIME);
        let is_named = !name.is_empty()
            && !is_runtime
            && !["libc.", "libc-", "ld-"]
                .iter()
                .any(|start| module.starts_with(start));
        let place = || MainPlace {
            function: escape::terminal(&cut(&label(name, module), NAME)),
            line: escape::terminal(&node.place_text()),
        };
        if is_named || named.is_none() {
            named = Some(place());
        }
        if !is_runtime && node.place().is_some_and(|(file, _)| !is_library(file)) {
            own = Some(place());
        }
    }
    own.or(named)
}

/// Rows as lines that a screen of 80 columns has room for, with all places below each other.
fn lines(rows: &[TreeRow]) -> Vec<String> {
    let longest = |text: fn(&TreeRow) -> &str| {
        let lengths = rows.iter().map(|row| text(row).chars().count());
        lengths.max().unwrap_or(0)
    };
    let room = ROOM.saturating_sub(longest(|row| row.place.as_str()) + 1);
    let name = longest(|row| row.name.as_str()).min(room.clamp(LEAST_NAME, NAME));
    let line = |row: &TreeRow| {
        let (ms, share) = (1e3 * row.seconds, 100.0 * row.share);
        let text = cut(&row.name, name);
        let line = format!("{ms:>8.1} ms {share:>3.0} % {text:<name$} {}", row.place);
        // A name with an end of a line would be a line of the answer.
        escape::terminal(line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// The largest functions: as many as a few lines have room for.
fn short_tree(root: &CostNode, most: usize) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    for least in SHARES {
        rows.clear();
        root.rows(root.seconds, least, 0, &mut rows);
        if rows.len() <= most {
            break;
        }
    }
    rows.truncate(most);
    rows
}

/// Name of the cost that a tree divides.
fn cost_name(summary: &ProfileSummary, stacks: &CallStacks) -> &'static str {
    let sampled = summary.kernel_stacks.as_ref();
    if sampled.is_some_and(|sampled| std::ptr::eq(sampled, stacks)) {
        "Kernel time"
    } else {
        "Page faults"
    }
}

/// A tree of so many lines for a screen, and the flame graph for a page.
pub(super) fn blocks(summary: &ProfileSummary, most: usize) -> Vec<Block> {
    let Some(stacks) = summary.costliest_stacks() else {
        return Vec::new();
    };
    let root = CostNode::new(stacks);
    let mut flame = Vec::new();
    root.boxes(root.seconds, 0.0, 0, &mut flame);
    let what = cost_name(summary, stacks);
    let caption =
        format!("{what} by callers, the outermost function on top; a box is as wide as its share");
    vec![
        Block::text(format!(
            "{what} by function, with all that it calls, in CPU time of a run:"
        )),
        Block::Code(lines(&short_tree(&root, most)).join("\n")),
        Block::Chart(Chart {
            caption,
            plot: Plot::Flame(flame),
            legend: Vec::new(),
        }),
    ]
}

/// The tree with smaller functions, where one of so many lines has not all of them.
pub(super) fn whole_tree(summary: &ProfileSummary, most: usize) -> Vec<Block> {
    let Some(stacks) = summary.costliest_stacks() else {
        return Vec::new();
    };
    let root = CostNode::new(stacks);
    let mut rows = Vec::new();
    root.rows(root.seconds, LEAST, 0, &mut rows);
    if rows.len() <= most {
        return Vec::new();
    }
    let more = rows.len().saturating_sub(LINES);
    rows.truncate(LINES);
    let mut lines = lines(&rows);
    if more > 0 {
        lines.push(format!(
            "({more} more: pagewise report {} --format folded)",
            summary.plan.run
        ));
    }
    let what = cost_name(summary, stacks);
    vec![
        Block::text(format!("{what} by function, also smaller ones:")),
        Block::Code(lines.join("\n")),
    ]
}
