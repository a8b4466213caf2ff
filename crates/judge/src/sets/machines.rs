//! Differences between two machines, or between two states of one, and whether that can change a figure.

use record::{across::FactDifference, json::ToJson, machine::environment::Environment};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Value of a fact that one side lacks.
const ABSENT: &str = "absent";
/// Facts that decide whether something can be measured, or name where something is, but not what it costs. `*` stands
/// for one part of a field's name; a field below one of these is meant as well.
const WITHOUT_COST: [&str; 23] = [
    "cgroups.memory.*.folder",
    "cgroups.memory.*.writable", // Measured, so never twice the same.
    "cpu.ladder",
    "huge_pages.pools.*.free_pages",
    "huge_pages.pools.*.overcommit_pages",
    "huge_pages.pools.*.pages",
    "huge_pages.pools.*.reserved_pages",
    // A machine that was started again, or is called otherwise, is the same machine.
    "identity.boot",
    "identity.name",
    "identity.node",
    "limits",
    "memory.dev_shm_bytes",
    // Kernels that initialise memory lazily count only what they have come to so far.
    "memory.nodes.*.total_bytes",
    "rights.effective_capabilities",
    "rights.effective_uid",
    "rights.hardware_counters",
    "rights.io_uring_disabled",
    "rights.perf_event_paranoid",
    "rights.sysctl_read_only",
    "rights.unprivileged_userfaultfd",
    "rights.yama_ptrace_scope",
    "tools.allocators",
    "tools.programs",
];

/// Kernels keep a little more or less for themselves; that much of all memory is no difference between machines.
const MEMORY_TOLERANCE: f64 = 0.02;

/// Known facts in words, by their fields' names, parts joined by dots.
pub type Facts = BTreeMap<String, String>;

/// All facts in which two machines differ, those that matter first.
pub fn differences(a: &Environment, b: &Environment) -> Vec<FactDifference> {
    unlike(&facts(a), &facts(b))
}

/// The facts that are not the same, those that matter first.
pub(crate) fn unlike(a: &Facts, b: &Facts) -> Vec<FactDifference> {
    let fields: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut differences = Vec::new();
    for field in fields {
        let [a, b] = [a, b].map(|facts| facts.get(field).map_or(ABSENT, String::as_str));
        if a != b {
            differences.push(FactDifference {
                field: field.clone(),
                matters: matters(field, a, b),
                a: a.to_owned(),
                b: b.to_owned(),
                expected: false,
            });
        }
    }
    differences.sort_by_key(|difference| !difference.matters);
    differences
}

fn matters(field: &str, a: &str, b: &str) -> bool {
    if WITHOUT_COST.iter().any(|pattern| is_below(field, pattern)) {
        return false;
    }
    match (field, a.parse::<f64>(), b.parse::<f64>()) {
        ("memory.total_bytes", Ok(a), Ok(b)) => (a - b).abs() > MEMORY_TOLERANCE * a.max(b),
        _ => true,
    }
}

fn is_below(field: &str, pattern: &str) -> bool {
    let mut parts = field.split('.');
    pattern.split('.').all(|wanted| {
        parts
            .next()
            .is_some_and(|part| wanted == "*" || wanted == part)
    })
}

/// Every known fact in words, by its field's name in the stored form: a new field is compared from its first day.
pub(crate) fn facts(environment: &Environment) -> Facts {
    let mut facts = BTreeMap::new();
    let value = environment.to_json().unwrap_or_default();
    flatten(&value, "", &mut facts);
    facts
}

pub(crate) fn flatten(value: &Value, name: &str, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (part, value) in fields {
                flatten(value, &below(name, part), facts);
            }
        }
        Value::Array(values) if values.iter().all(Value::is_string) => {
            let texts: Vec<String> = values.iter().map(plain).collect();
            if !texts.is_empty() {
                facts.insert(name.to_owned(), texts.join(" "));
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flatten(value, &below(name, &index.to_string()), facts);
            }
        }
        _ => _ = facts.insert(name.to_owned(), plain(value)),
    }
}

/// The name of a part of a fact.
fn below(name: &str, part: &str) -> String {
    if name.is_empty() {
        part.to_owned()
    } else {
        format!("{name}.{part}")
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_does_not_differ_from_itself() {
        let environment = Environment::default();
        assert_eq!(differences(&environment, &environment), []);
    }

    #[test]
    fn what_costs_nothing_comes_last() {
        let mut b = Environment::default();
        b.kernel.release = Some("6.12".to_owned());
        b.rights.effective_uid = Some(0);
        b.cpu.memory_flags = Some(["avx2", "erms"].map(str::to_owned).into());
        let found = differences(&Environment::default(), &b);
        assert_eq!(
            found
                .iter()
                .map(|d| (d.field.as_str(), d.matters))
                .collect::<Vec<_>>(),
            [
                ("cpu.memory_flags", true),
                ("kernel.release", true),
                ("rights.effective_uid", false)
            ]
        );
        assert_eq!(
            (found[0].a.as_str(), found[0].b.as_str()),
            ("absent", "avx2 erms")
        );
    }

    fn with(total_bytes: u64) -> Environment {
        let mut environment = Environment::default();
        environment.memory.total_bytes = Some(total_bytes);
        environment
    }

    #[test]
    fn a_little_more_memory_is_no_other_machine() {
        assert!(!differences(&with(16_700_000_000), &with(16_690_000_000))[0].matters);
        assert!(differences(&with(16_000_000_000), &with(32_000_000_000))[0].matters);
    }

    #[test]
    fn patterns_stand_for_one_part_each() {
        assert!(is_below("limits.process.stack size", "limits"));
        assert!(is_below(
            "memory.nodes.3.total_bytes",
            "memory.nodes.*.total_bytes"
        ));
        assert!(!is_below(
            "memory.nodes.3.cpus",
            "memory.nodes.*.total_bytes"
        ));
        assert!(!is_below("memory", "memory.dev_shm_bytes"));
    }
}
