//! Kinds of node: those that have the same processor, kernel, settings and memory.

use super::gathered::Node;
use record::machine::environment::{Environment, size};
use record::outliers::KindFacts;
use record::shared::{SharedMachine, SharedRun};
use std::collections::BTreeMap;

/// The facts by which nodes are of one kind, unless others are asked for. What a control group or a process sets is not
/// among these: by that a node is odd, not of another kind.
pub const BY: [&str; 13] = [
    "architecture",
    "clocksource",
    "cpu",
    "cpus",
    "free_page_reporting",
    "governor",
    "hypervisor",
    "kernel",
    "memory",
    "microcode",
    "page",
    "pagewise",
    "thp",
];

/// Facts that a shared run lacks.
pub const UNSHARED: [&str; 2] = ["clocksource", "microcode"];

/// Nodes whose memory differs by no more are of one kind: kernels and firmware keep a little more or less of it.
const MEMORY_TOLERANCE: f64 = 0.04;

/// Facts by which a node is known.
pub fn facts(environment: &Environment, version: &str) -> KindFacts {
    let mut facts = environment.headline();
    facts.retain(|name, _| BY.contains(&name.as_str()) && name != "memory");
    let cpus = environment.cpu.online.map(|count| count.to_string());
    for (name, fact) in [
        ("cpus", cpus),
        ("microcode", environment.cpu.microcode.clone()),
        ("pagewise", Some(version.to_owned())),
    ] {
        let fact = fact.unwrap_or_else(|| "unknown".to_owned());
        facts.insert(name.to_owned(), fact);
    }
    KindFacts {
        facts,
        memory_bytes: environment.memory.total_bytes,
    }
}

/// The same facts of a shared run, as far as it has them.
pub(super) fn shared_facts(run: &SharedRun) -> KindFacts {
    let SharedMachine {
        architecture,
        cpus,
        kernel,
        memory_gib,
        page_bytes,
        ..
    } = &run.machine;
    let unknown = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
    let reports = if run.machine.reports_free_pages {
        "on"
    } else {
        "off"
    };
    let facts = [
        ("architecture", architecture.clone()),
        ("cpu", run.machine.processor()),
        ("cpus", cpus[0].to_string()),
        ("free_page_reporting", reports.to_owned()),
        ("governor", unknown(&run.machine.governor)),
        ("hypervisor", hypervisor(&run.machine)),
        ("kernel", kernel.clone()),
        ("page", size(*page_bytes)),
        ("pagewise", run.version.clone()),
        ("thp", unknown(&run.machine.thp)),
    ];
    KindFacts {
        facts: facts
            .into_iter()
            .map(|(name, fact)| (name.to_owned(), fact))
            .collect(),
        memory_bytes: Some(memory_gib << 30),
    }
}

fn hypervisor(machine: &SharedMachine) -> String {
    let name = match machine.is_virtual {
        Some(false) => "none",
        Some(true) => machine.hypervisor.as_deref().unwrap_or("one"),
        None => "unknown",
    };
    name.to_owned()
}

/// Tells whether a node may be of a kind.
pub(super) fn fits(kind: &KindFacts, node: &KindFacts) -> bool {
    let memory = match (kind.memory_bytes, node.memory_bytes) {
        (Some(least), Some(own)) => {
            let (least, own) = (least as f64, own as f64);
            own <= least * (1.0 + MEMORY_TOLERANCE) && own >= least * (1.0 - MEMORY_TOLERANCE)
        }
        (least, _) => least.is_none(),
    };
    memory
        && kind
            .facts
            .iter()
            .all(|(name, fact)| node.facts.get(name) == Some(fact))
}

pub(super) struct NodeKind {
    pub name: String,
    pub known_by: KindFacts,
    pub nodes: Vec<usize>,
}

impl NodeKind {
    /// Its facts in words, with its memory.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = self.known_by.facts.clone();
        if let Some(bytes) = self.known_by.memory_bytes {
            facts.insert("memory".to_owned(), size(bytes));
        }
        facts
    }
}

/// The kinds, that with the most nodes first. A node whose runs disagree counts by its latest.
pub(super) fn kinds_of(known: &[KindFacts], by: &[String]) -> Vec<NodeKind> {
    let mut like: BTreeMap<BTreeMap<String, String>, Vec<usize>> = BTreeMap::new();
    for (index, known) in known.iter().enumerate() {
        let facts = known
            .facts
            .iter()
            .filter(|(name, _)| by.contains(name))
            .map(|(n, f)| (n.clone(), f.clone()))
            .collect();
        like.entry(facts).or_default().push(index);
    }
    let mut kinds = Vec::new();
    for (facts, mut nodes) in like {
        if !by.iter().any(|name| name == "memory") {
            kinds.push(NodeKind {
                name: String::new(),
                known_by: KindFacts {
                    facts,
                    memory_bytes: None,
                },
                nodes,
            });
            continue;
        }
        nodes.sort_by_key(|&n| known[n].memory_bytes);
        while let Some(&first) = nodes.first() {
            let known_by = KindFacts {
                facts: facts.clone(),
                memory_bytes: known[first].memory_bytes,
            };
            let (mut members, unlike) = nodes
                .into_iter()
                .partition::<Vec<usize>, _>(|&n| fits(&known_by, &known[n]));
            members.sort_unstable();
            kinds.push(NodeKind {
                name: String::new(),
                known_by,
                nodes: members,
            });
            nodes = unlike;
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.nodes.len()));
    for (index, kind) in kinds.iter_mut().enumerate() {
        kind.name = letters(index);
    }
    kinds
}

pub(super) fn kinds(nodes: &[Node], by: &[String]) -> Vec<NodeKind> {
    let mut known = Vec::new();
    for node in nodes {
        let latest = node.runs.iter().max_by_key(|run| &run.run);
        known.extend(latest.map(|run| run.known_by.clone()));
    }
    kinds_of(&known, by)
}

/// A … Z, AA …
fn letters(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        before => letters(before - 1) + &last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(kernel: &str, memory_bytes: u64) -> KindFacts {
        let facts = [("kernel", kernel), ("cpu", "x")]
            .map(|(n, f)| (n.to_owned(), f.to_owned()))
            .into();
        KindFacts {
            facts,
            memory_bytes: Some(memory_bytes),
        }
    }

    #[test]
    fn a_little_more_memory_is_no_other_kind_and_another_kernel_is() {
        let by: Vec<String> = BY.map(str::to_owned).into();
        let nodes = [
            known("6.1", 1000),
            known("6.2", 1000),
            known("6.1", 1030),
            known("6.1", 2000),
            known("6.1", 1010),
        ];
        let found = kinds_of(&nodes, &by);
        assert_eq!(
            found.iter().map(|k| k.nodes.clone()).collect::<Vec<_>>(),
            [vec![0, 2, 4], vec![3], vec![1]]
        );
        assert_eq!(found[0].name, "A");
        let by_cpu = kinds_of(&nodes, &["cpu".to_owned()]);
        assert_eq!(by_cpu.len(), 1);
        assert_eq!(
            (letters(25), letters(26), letters(52)),
            ("Z".to_owned(), "AA".to_owned(), "BA".to_owned())
        );
    }
}
