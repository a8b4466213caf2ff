//! Machine, meaning for measurements, and obstacles: the document of `doctor`. A line of it is a row of `doctor.toml`.

use crate::render::document::{Block, Column, Document, Place};
use crate::render::escape;
use crate::tables::columns;
use minijinja::{Environment as Templates, UndefinedBehavior, Value, context, value::Serde};
use record::machine::cpu::Step;
use record::machine::environment::{Environment, size};
use record::machine::preflight::{Busy, Gaps, Preflight};
use record::machine::tools::{RefusedPart, SEGMENTS_SINCE_JAVA};
use record::sizes::{about_size, format_ns};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub mod bundle;

const ROWS: &str = include_str!("doctor.toml");
/// Numbers of capabilities in capabilities(7).
const CAPABILITIES: [(&str, u32); 4] = [
    ("sys_ptrace", 19),
    ("sys_admin", 21),
    ("sys_resource", 24),
    ("perfmon", 38),
];
/// Vulnerabilities whose mitigation takes time at each entry into the kernel.
const AT_ENTRY: [&str; 8] = [
    "meltdown",
    "mds",
    "retbleed",
    "spec_rstack_overflow",
    "spectre_v1",
    "spectre_v2",
    "tsa",
    "tsx_async_abort",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DoctorRows {
    fact: Vec<Fact>,
    meaning: Vec<Meaning>,
    place: Vec<LocalityRow>,
    obstacle: Vec<ObstacleRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    name: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meaning {
    when: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObstacleRow {
    when: String,
    what: String,
    why: String,
    #[serde(default)]
    remedy: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalityRow {
    when: String,
    what: String,
    works: String,
    #[serde(default = "yes")]
    measures: bool,
}

fn yes() -> bool {
    true
}

/// A place for which Pagewise was not made, or not in full: another kernel, a container, another C library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Locality {
    pub what: String,
    /// What can be done there, and what instead.
    pub works: String,
    /// False where nothing can be measured.
    pub measures: bool,
}

impl Locality {
    /// One sentence: `this is WSL 2, a virtual machine of Windows: …`.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.what, self.works)
    }
}

/// Something that cannot be measured here, or not well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obstacle {
    pub what: String,
    /// Cause, with the fact that shows it.
    pub why: String,
    /// The one command that would change it; `None` if no command can.
    pub remedy: Option<String>,
}

struct Doctor {
    rows: DoctorRows,
    templates: Templates<'static>,
    known: Value,
}

impl Doctor {
    fn new(e: &Environment) -> Doctor {
        let mut templates = Templates::new();
        templates.set_undefined_behavior(UndefinedBehavior::Chainable);
        // A name may hold anything: none of it steers a terminal or ends a line.
        templates.set_formatter(|out, _, value| {
            Ok(out.write_str(&escape::terminal(&value.to_string()))?)
        });
        templates.add_filter("size", |bytes: Option<u64>| {
            bytes.map_or_else(|| "unknown".to_owned(), size)
        });
        templates.add_filter("time", |ps: u64| format_ns(ps as f64 / 1e3));
        templates.add_filter("known", known_or_not);
        templates.add_filter("on_off", |value: Value| match bool::try_from(value) {
            Ok(true) => "on",
            Ok(false) => "off",
            Err(_) => "unknown",
        });
        // The name of a package differs between the two families of distributions.
        let has_dnf = e.tools.has("dnf") && !e.tools.has("apt-get");
        templates.add_function("install", move |debian: String, fedora: String| {
            if has_dnf {
                format!("sudo dnf install {fedora}")
            } else {
                format!("sudo apt-get install {debian}")
            }
        });
        let rows = toml::from_str(ROWS).expect("the rows are well formed");
        Doctor {
            rows,
            templates,
            known: Value::from(Serde(self::known(e))),
        }
    }

    /// The text of a row, its white space as one space each.
    fn text(&self, template: &str) -> String {
        let text = self
            .templates
            .render_str(template, context! { ..self.known.clone() });
        text.expect("a row fits every machine")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn localities(&self) -> Vec<Locality> {
        let rows = self.rows.place.iter();
        let mut here: Vec<_> = rows.filter(|row| self.holds(&row.when)).collect();
        // Where nothing can be measured the others say nothing that is true.
        if let Some(nowhere) = here.iter().position(|row| !row.measures) {
            here = vec![here[nowhere]];
        }
        let here = here.into_iter();
        here.map(|row| Locality {
            what: self.text(&row.what),
            works: self.text(&row.works),
            measures: row.measures,
        })
        .collect()
    }

    fn holds(&self, when: &str) -> bool {
        let value = self
            .templates
            .compile_expression(when)
            .and_then(|when| when.eval(&self.known));
        value.expect("a condition fits every machine").is_true()
    }
}

fn known_or_not(value: Value) -> Value {
    if value.is_undefined() {
        Value::from("unknown")
    } else {
        value
    }
}

/// The fields of `environment.json`, with facts that follow from them; none of them null.
fn known(e: &Environment) -> serde_json::Value {
    // The latency sweep, and where memory begins.
    let sweep = e.cpu.ladder.as_ref();
    let quota = e.cgroups.cpu_quota.as_ref().map(|quota| quota.cpus());
    let can = CAPABILITIES.map(|(name, number)| (name, e.rights.has_capability(number)));
    let mut known = json!({
        "cpus": e.cpus(),
        "usable": e.cpu.usable(),
        "governor": e.governor(),
        "steps": steps(e),
        "reach": sweep.and_then(|sweep| sweep.reach().filter(|_| sweep.memory_ps().is_some())),
        "memory_ps": sweep.and_then(|sweep| sweep.memory_ps()),
        "last_cache": e.cpu.last_level_cache(),
        "entry_mitigations": AT_ENTRY.into_iter().filter(|name| is_mitigated(e, name)).collect::<Vec<_>>(),
        "hypervisor_name": e.hypervisor.name(),
        "is_virtual": e.hypervisor.is_virtual(),
        "linux": linux(e),
        "is_root": e.rights.is_root(),
        "can": serde_json::Map::from_iter(can.map(|(name, has)| (name.to_owned(), json!(has)))),
        "is_counter": is_clock(e, &["tsc", "arch_sys_counter", "timebase", "riscv_clocksource"]),
        // Scaled by the hypervisor through a page that it shares with the kernel.
        "is_shared_page": is_clock(e, &["kvm-clock", "xen", "hyperv_clocksource_tsc_page"]),
        "other_clocks": other_clocks(e),
        "limit": e.cgroups.memory_limit(),
        "swapless_group": e.cgroups.memory.iter().find(|g| g.swap_limit_bytes == Some(0)).map(|g| &g.folder),
        "quota_cpus": quota.map(|cpus| format!("{cpus:.1}")),
        // More than all CPUs can use never stops anything.
        "quota_binds": quota.is_some_and(|cpus| e.cpu.usable().is_none_or(|usable| cpus < usable as f64)),
        "thp": e.huge_pages.transparent(),
        "thp_shared": e.huge_pages.transparent_shared(),
        "thp_size": e.huge_pages.thp_bytes.map(|bytes| format!("{}kB", bytes / 1024)),
        "pool": e.huge_pages.main_pool(),
        "free_page_reporting": e.reclaim.reports_free_pages(),
        "reporting_block": reporting_block(e),
        "damon_takes_pages": e.reclaim.damon_takes_pages(),
        "kdamond": e.reclaim.kdamonds.iter().position(|kdamond| kdamond.takes_pages()),
        "jdk": e.tools.newest_jdk(),
        "jdk_feature": e.tools.newest_jdk().and_then(|jdk| jdk.feature()),
        "segments_since_java": SEGMENTS_SINCE_JAVA,
    });
    if let (Ok(serde_json::Value::Object(mut fields)), Some(known)) =
        (serde_json::to_value(e), known.as_object_mut())
    {
        known.append(&mut fields);
    }
    strip(&mut known);
    known
}

/// Steps of the latency sweep at every fourfold size, and the last one.
fn steps(e: &Environment) -> Vec<&Step> {
    let steps = e.cpu.ladder.as_ref().map_or(&[][..], |sweep| &sweep.steps);
    let last = steps.last().map_or(0, |step| step.bytes);
    steps
        .iter()
        .filter(|step| {
            let is_fourfold = step.bytes.is_power_of_two() && step.bytes.ilog2().is_multiple_of(2);
            step.bytes == last || is_fourfold
        })
        .collect()
}

/// Tells whether a vulnerability's mitigation takes time here.
fn is_mitigated(e: &Environment, vulnerability: &str) -> bool {
    let text = e.cpu.mitigations.get(vulnerability);
    text.is_some_and(|text| text.starts_with("Mitigation"))
}

/// The two first numbers of the kernel's release.
fn linux(e: &Environment) -> Option<(u64, u64)> {
    let release = e.kernel.release.as_ref()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let [major, minor] = [numbers.next()?, numbers.next()?];
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_clock(e: &Environment, names: &[&str]) -> Option<bool> {
    let clock = e.clock.current.as_deref()?;
    Some(names.contains(&clock))
}

/// Clock sources that the kernel does not use.
fn other_clocks(e: &Environment) -> Vec<&str> {
    let available = e.clock.available.as_deref().unwrap_or_default();
    let current = e.clock.current.as_deref();
    let clocks = available.split_whitespace();
    clocks.filter(|clock| Some(*clock) != current).collect()
}

/// Bytes of the smallest block that the kernel reports as free.
fn reporting_block(e: &Environment) -> Option<u64> {
    let order = u32::try_from(e.reclaim.page_reporting_order?).ok()?;
    e.memory.page_bytes.unwrap_or(4096).checked_shl(order)
}

/// Removes nulls: templates ask whether a fact is defined.
fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Obstacles on a machine, in the order of their rows. A packaged program carries a Go worker and Java classes. From the
/// refused parts of the user's variables nothing is started or loaded.
pub fn obstacles(
    environment: &Environment,
    is_packaged: bool,
    refused: &[RefusedPart],
) -> Vec<Obstacle> {
    let mut doctor = Doctor::new(environment);
    let refused = Value::from(Serde(refused));
    doctor.known = context! { is_packaged, refused, ..doctor.known };
    let rows = doctor.rows.obstacle.iter();
    rows.filter(|row| doctor.holds(&row.when))
        .map(|row| {
            let remedy = command(environment, doctor.text(&row.remedy));
            Obstacle {
                what: doctor.text(&row.what),
                why: doctor.text(&row.why),
                remedy: Some(remedy).filter(|remedy| !remedy.is_empty()),
            }
        })
        .collect()
}

/// Root needs no sudo, and small systems where root works have none.
fn command(environment: &Environment, text: String) -> String {
    if environment.rights.is_root() {
        text.replace("sudo ", "")
    } else {
        text
    }
}

/// What this place is, where it is a special one.
pub fn localities(environment: &Environment) -> Vec<Locality> {
    Doctor::new(environment).localities()
}

/// A machine, what that means, what cannot be measured on it; then workers, each with its state.
pub fn document(
    environment: &Environment,
    obstacles: &[Obstacle],
    workers: &[(String, String)],
) -> Document {
    let doctor = Doctor::new(environment);
    let rows = doctor.rows.fact.iter();
    let facts = named_texts(rows.map(|fact| (fact.name.clone(), doctor.text(&fact.text))));
    let title = match obstacles.len() {
        0 => "What cannot be measured here".to_owned(),
        things => format!(
            "What cannot be measured here, or not well: {}",
            crate::sentences::wording::count(things, "thing")
        ),
    };
    let workers = if workers.is_empty() {
        Vec::new()
    } else {
        vec![named_texts(workers.iter().cloned())]
    };
    let localities = doctor.localities();
    let localities = localities.iter().map(Locality::sentence);
    let special = Vec::from_iter(Block::list("", localities));
    Document::new("", [])
        .section("place", "This place", Place::Everywhere, special)
        .section("machine", "This machine", Place::Everywhere, vec![facts])
        .section(
            "meaning",
            "What that means for measurements",
            Place::Everywhere,
            vec![meanings(&doctor)],
        )
        .section(
            "obstacles",
            title,
            Place::Everywhere,
            obstacle_blocks(environment, obstacles),
        )
        .section("workers", "Workers", Place::Everywhere, workers)
}

fn named_texts(rows: impl IntoIterator<Item = (String, String)>) -> Block {
    let heads = [Column::text(""), Column::sentences("")];
    Block::Table(columns::facts("", heads, rows))
}

fn meanings(doctor: &Doctor) -> Block {
    let meanings = doctor
        .rows
        .meaning
        .iter()
        .filter(|meaning| doctor.holds(&meaning.when))
        .map(|meaning| doctor.text(&meaning.text));
    Block::list("", meanings).unwrap_or_else(|| Block::text("Too few facts can be read here."))
}

fn obstacle_blocks(environment: &Environment, obstacles: &[Obstacle]) -> Vec<Block> {
    if obstacles.is_empty() {
        return vec![Block::Answer(
            "Nothing is in the way of any method.".to_owned(),
        )];
    }
    let mut blocks = Vec::new();
    if environment.rights.sysctl_read_only {
        blocks.push(Block::text(
            "Commands that write below /proc/sys or /sys, as sysctl and tee do, have to run outside of this container.",
        ));
    }
    for (at, Obstacle { what, why, remedy }) in obstacles.iter().enumerate() {
        let number = at + 1;
        let none = if remedy.is_none() {
            "; no command here changes that"
        } else {
            ""
        };
        blocks.push(Block::text(format!("{number}. {what}. Why: {why}{none}.")));
        if let Some(command) = remedy {
            blocks.push(Block::Commands(vec![format!("$ {command}")]));
        }
    }
    blocks
}

fn names(list: &[Busy]) -> Vec<String> {
    list.iter()
        .map(|b| format!("{} {:.2} (pid {})", b.name, b.cpus, b.pid))
        .collect()
}

/// The disturbances of a machine, a row a source.
pub fn noise(preflight: &Preflight) -> Document {
    let mut rows: Vec<(String, String)> = preflight.gaps.iter().map(gaps_row).collect();
    let counters = &preflight.counters;
    let seconds = preflight.seconds.max(1e-3);
    let waiting = counters.pressure_us.iter();
    let waiting = waiting.map(|(name, us)| format!("{name} {:.1} %", *us as f64 / 1e4 / seconds));
    let frequency = preflight.frequency_khz.iter();
    let frequency = frequency.map(|(a, b)| format!("{:.2} → {:.2} GHz", ghz(*a), ghz(*b)));
    let moved = counters.vmstat.iter();
    let moved = moved.map(|(name, count)| format!("{name} {count}"));
    let [read, written] = [counters.device_read_bytes, counters.device_written_bytes]
        .map(|bytes| about_size(bytes as f64));
    let parts = [
        (
            "steal (as the hypervisor reports it)",
            format!("{:.2} %", counters.steal_share * 100.0),
        ),
        ("waiting (pressure)", joined(waiting, "nothing")),
        (
            "frequency",
            joined(
                frequency,
                "not reported by the kernel (usual on virtual machines)",
            ),
        ),
        (
            "kernel threads for memory",
            joined(names(&preflight.memory_threads), "none of them ran"),
        ),
        ("memory counters that moved", joined(moved, "none")),
        ("block devices", format!("{read} read, {written} written")),
        ("other busy processes, in CPUs", busy(preflight)),
    ];
    rows.extend(parts.map(|(name, text)| (name.to_owned(), text)));
    let blocks = vec![named_texts(rows), Block::Answer(verdict(preflight))];
    let head = [format!("{:.1} s of looking", preflight.seconds)];
    Document::new("noise now", head).section("answers", "", Place::Everywhere, blocks)
}

fn gaps_row(gaps: &Gaps) -> (String, String) {
    let over: Vec<String> = gaps
        .over
        .iter()
        .map(|(ns, count)| format!("{count} > {}", format_ns(*ns as f64)))
        .collect();
    let text = format!(
        "{:.2} % of a busy process's time taken, at most {} at a time ({}); one clock read {:.1} ns",
        gaps.lost_share() * 100.0,
        format_ns(gaps.largest_gap_ns as f64),
        over.join(", "),
        gaps.clock_read_ns()
    );
    (format!("CPU {}", gaps.cpu), text)
}

fn ghz(khz: u64) -> f64 {
    khz as f64 / 1e6
}

/// Parts after commas; `none` where there are none.
fn joined(parts: impl IntoIterator<Item = String>, none: &str) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    if parts.is_empty() {
        none.to_owned()
    } else {
        parts.join(", ")
    }
}

fn busy(preflight: &Preflight) -> String {
    if preflight.busy.is_empty() {
        return "none".to_owned();
    }
    format!(
        "{:.2} in all; of those still there: {}",
        preflight.busy_cpus,
        names(&preflight.busy).join(", ")
    )
}

fn verdict(seen: &Preflight) -> String {
    let lost = seen.lost_share();
    let verdict = match lost {
        share if share < 0.002 => "Quiet: medians and tails are the work's own.",
        share if share < 0.02 => {
            "Usual: medians are sound; the highest per cent of samples is partly the machine's."
        }
        _ => {
            "Noisy: ratios are paired round by round and hold, but need more launches; absolute figures and tails are the machine's too."
        }
    };
    let hidden =
        lost > 10.0 * seen.counters.steal_share && lost > 0.002 && seen.busy_cpus < 0.5 * lost;
    let unseen = if hidden {
        " No counter and no process explains it: it is the hypervisor or interrupts."
    } else {
        ""
    };
    format!("{verdict}{unseen}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that templates make themselves, and one that the program tells of itself.
    const OWN: [&str; 5] = ["install", "is_packaged", "loop", "range", "refused"];

    /// True if the path ends in a known field, or below one whose content is not known beforehand.
    fn is_known(known: &serde_json::Value, name: &str) -> bool {
        let mut at = known;
        for part in name.split('.') {
            match at {
                serde_json::Value::Object(fields) if !fields.is_empty() => match fields.get(part) {
                    Some(field) => at = field,
                    None => return false,
                },
                _ => return true,
            }
        }
        true
    }

    #[test]
    fn rows_name_only_fields_that_there_are() {
        let doctor = Doctor::new(&Environment::default());
        // Nulls are left in here: an absent fact has a name all the same.
        let mut known = serde_json::to_value(Environment::default()).unwrap();
        let derived = include_str!("mod.rs");
        for line in derived
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\": "))
        {
            known[line.0] = serde_json::Value::Null;
        }
        let rows = &doctor.rows;
        let texts = rows
            .fact
            .iter()
            .map(|row| &row.text)
            .chain(rows.meaning.iter().map(|row| &row.text));
        let texts = texts.chain(
            rows.obstacle
                .iter()
                .flat_map(|row| [&row.what, &row.why, &row.remedy]),
        );
        let conditions = rows
            .meaning
            .iter()
            .map(|row| &row.when)
            .chain(rows.obstacle.iter().map(|row| &row.when));
        let mut names = std::collections::HashSet::new();
        for text in texts {
            names.extend(
                doctor
                    .templates
                    .template_from_str(text)
                    .unwrap()
                    .undeclared_variables(true),
            );
        }
        for condition in conditions {
            names.extend(
                doctor
                    .templates
                    .compile_expression(condition)
                    .unwrap()
                    .undeclared_variables(true),
            );
        }
        let unknown: Vec<&String> = names
            .iter()
            .filter(|n| !OWN.contains(&n.as_str()) && !is_known(&known, n))
            .collect();
        assert!(
            unknown.is_empty() && names.len() > 60,
            "{unknown:?} of {}",
            names.len()
        );
    }

    #[test]
    fn a_machine_of_which_nothing_is_known_has_a_document() {
        let nothing = Environment::default();
        let obstacles = obstacles(&nothing, false, &[]);
        assert!(
            obstacles
                .iter()
                .all(|obstacle| !obstacle.what.is_empty() && !obstacle.why.is_empty()),
            "{obstacles:?}"
        );
        assert_eq!(document(&nothing, &obstacles, &[]).sections.len(), 3);
    }

    #[test]
    fn a_bundle_holds_outcomes_and_nothing_private() {
        use record::machine::cgroup::MemoryGroup;
        use record::machine::tools::Java;
        use record::outcome::{Cause, Status};
        use record::summary::{NoteKind, Summary, WarningKind};
        let secret = || "SECRET".to_owned();
        let mut machine = Environment::default();
        let identity = &mut machine.identity;
        for field in [
            &mut identity.machine,
            &mut identity.boot,
            &mut identity.name,
            &mut identity.node,
        ] {
            *field = Some(secret());
        }
        machine.kernel.command_line = Some(secret());
        machine.cpu.smt_active = Some(true);
        machine.variables.insert("LD_PRELOAD".to_owned(), secret());
        machine.tools.programs.insert("gcc".to_owned(), secret());
        machine.tools.javas.push(Java {
            home: secret(),
            version: Some("17.0.2".to_owned()),
            ..Java::default()
        });
        machine.cgroups.memory.push(MemoryGroup {
            folder: secret(),
            swap_limit_bytes: Some(0),
            ..MemoryGroup::default()
        });
        let mut summary: Summary =
            serde_json::from_str(include_str!("../../../tests/fixtures/look.json")).unwrap();
        let file = summary
            .cells
            .iter_mut()
            .find(|cell| cell.outcome.status.word() == "untrusted" && cell.experiment == "read");
        file.expect("an untrusted cell of read")
            .parameters
            .insert("file".to_owned(), secret());
        let outcomes = summary
            .cells
            .iter_mut()
            .map(|cell| &mut cell.outcome)
            .filter(|outcome| outcome.status != Status::Ok);
        outcomes.for_each(|outcome| outcome.cause = Some(Cause::Lacks { text: secret() }));
        summary
            .notes
            .iter_mut()
            .for_each(|note| note.kind = NoteKind::Damaged { seen: secret() });
        for warning in &mut summary.warnings {
            (warning.at, warning.kind) = (secret(), WarningKind::Damaged { seen: secret() });
        }
        let own = summary
            .cells
            .iter_mut()
            .find(|cell| cell.outcome.status.word() == "refused")
            .expect("a refused cell");
        (own.cell, own.method) = (secret(), secret());
        let newest = bundle::Newest {
            kind: record::kind::Kind::Run,
            summary: Some(summary),
        };
        let document =
            bundle::document("7.8.9", false, &machine, &["c-O3"], Some(&newest), |cell| {
                cell.method != "SECRET"
            });
        let text = crate::render::markdown::render(&document);
        assert!(
            !text.contains("SECRET") && !text.contains("LD\\_PRELOAD"),
            "{text}"
        );
        for expected in ["7.8.9", "17.0.2", "147 ok", "9 refused", "c-O3", "read/"] {
            assert!(text.contains(expected), "{expected} is missing in {text}");
        }
        assert!(text.contains("\n- Logical CPUs share cores"), "{text}");
        assert!(
            text.lines()
                .any(|line| line.contains("left out") && line.contains("| 1 ")),
            "{text}"
        );
    }
}
