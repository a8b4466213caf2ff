//! Meaning of a machine's facts for measurements on it, in sentences.

use record::machine::environment::Environment;
use record::machine::format::{count, size};
use record::sizes::format_ns;

/// Looks at one group of facts.
type Reading = fn(&Environment) -> Option<String>;

/// All readings, in the order in which they are shown: from what weighs most to what is good to know.
const READINGS: [Reading; 12] = [
    hypervisor,
    free_page_reporting,
    huge_pages,
    room,
    cpus,
    siblings,
    nodes,
    caches,
    string_moves,
    clock,
    frequency,
    mitigations,
];

/// One sentence or two for each group of facts that is known.
pub fn meanings(environment: &Environment) -> Vec<String> {
    READINGS.iter().filter_map(|reading| reading(environment)).collect()
}

fn hypervisor(e: &Environment) -> Option<String> {
    Some(if e.hypervisor.is_virtual()? {
        "This is a virtual machine: faults and page tables can cost more than on bare metal, and time that other \
         guests take may show in no counter. Figures hold for this kind of machine."
            .to_owned()
    } else {
        "This is bare metal: nothing below the kernel takes part in the figures.".to_owned()
    })
}

fn free_page_reporting(e: &Environment) -> Option<String> {
    if !e.reclaim.reports_free_pages() {
        return None;
    }
    let page_bytes = e.memory.page_bytes.unwrap_or(4096);
    let block = e.reclaim.page_reporting_order.and_then(|order| page_bytes.checked_shl(u32::try_from(order).ok()?));
    let blocks = block.map_or(String::new(), |bytes| format!(" in blocks from {}", size(bytes)));
    Some(format!(
        "Free pages go back to the host{blocks}, so the first touch after a pause costs several times more. That is \
         why backing is a parameter: recycled unless asked otherwise."
    ))
}

fn huge_pages(e: &Environment) -> Option<String> {
    let meaning = match e.huge_pages.transparent()?.0 {
        "always" => {
            "Transparent huge pages come unasked (always): a program that does nothing about them gets them, so its \
             figures are those of the methods with thp."
        }
        "madvise" => {
            "Transparent huge pages come to those who ask (madvise): a program that does nothing about them has the \
             figures of the methods without."
        }
        _ => {
            "Transparent huge pages never come: anonymous memory is mapped in smaller pieces, whatever a program asks for."
        }
    };
    Some(meaning.to_owned())
}

fn room(e: &Environment) -> Option<String> {
    let total = e.memory.total_bytes?;
    Some(match e.cgroups.memory_limit() {
        Some((limit, folder)) if limit < total => format!(
            "All launches together fit into {}, the limit at or above the cgroup {folder}; the page cache counts \
             against it. A launch that needs more than is available is refused before it starts.",
            size(limit)
        ),
        _ => format!(
            "No cgroup limits memory below the {} of the machine. A launch that needs more than is available is \
             refused before it starts.",
            size(total)
        ),
    })
}

fn cpus(e: &Environment) -> Option<String> {
    Some(match e.cpu.usable()? {
        1 => "There is one CPU for workers: whatever else runs interrupts them.".to_owned(),
        2 => {
            "There are two CPUs for workers: two sides fill them, so any other busy process takes part in the figures."
                .to_owned()
        }
        number => format!("There are {number} CPUs for workers: two sides run at once and leave room for the rest."),
    })
}

fn siblings(e: &Environment) -> Option<String> {
    (e.cpu.smt_active?).then(|| {
        "Logical CPUs share cores: two sides on one core share its nearest caches, and slow each other down.".to_owned()
    })
}

fn nodes(e: &Environment) -> Option<String> {
    let nodes = e.memory.nodes.len() as u64;
    (nodes > 1).then(|| {
        format!(
            "Memory is in {}: the same work costs more where it is far, and processes may start on any of them.",
            count(nodes, "NUMA node")
        )
    })
}

/// Cost of a read.
pub(super) fn read_time(ps: u64) -> String {
    format_ns(ps as f64 / 1e3)
}

fn caches(e: &Environment) -> Option<String> {
    let reported = e.cpu.last_level_cache().and_then(|c| c.size_bytes);
    let note = if e.hypervisor.is_virtual() == Some(true) { ", as the hypervisor tells it" } else { "" };
    let told_words = reported.map(|bytes| format!("The last cache holds {}{note}", size(bytes)));
    let ladder = e.cpu.ladder.as_ref();
    let Some((reach, memory_ps)) = ladder.and_then(|l| Some((l.reach()?, l.memory_ps()?))) else {
        return Some(format!("{}: below that, copies and second passes measure caches; above, memory.", told_words?));
    };
    let seen = format!(
        "the caches were seen to hold {}: one read costs {} there and {} in memory",
        size(reach.bytes),
        read_time(reach.read_ps),
        read_time(memory_ps)
    );
    let Some(told_words) = told_words else { return Some(format!("By measuring, {seen}.")) };
    let less = !note.is_empty() && reported.is_some_and(|reported| reach.bytes < reported / 2);
    let why = if less { " Other guests of the host may fill the rest." } else { "" };
    Some(format!(
        "{told_words}; {seen}.{why} Tables call `in cache` what is at most half of the lesser figure, `in memory` what is at \
         least four times the greater one."
    ))
}

fn string_moves(e: &Environment) -> Option<String> {
    let (long, short) = (e.cpu.has("erms")?, e.cpu.has("fsrm")?);
    // Only x86 has the instruction; its flags are the only ones with a stable name for a time counter.
    if !e.cpu.has("constant_tsc")? {
        return None;
    }
    Some(match (long, short) {
        (true, true) => "The processor is fast at rep movsb, also for short copies (erms, fsrm).".to_owned(),
        (true, false) => "The processor is fast at rep movsb for long copies only (erms, not fsrm).".to_owned(),
        (false, _) => "The processor does not claim a fast rep movsb (no erms).".to_owned(),
    })
}

fn clock(e: &Environment) -> Option<String> {
    let current = e.clock.current.as_deref()?;
    e.clock.is_counter()?.then(|| format!("Times come from {current}, which is read without entering the kernel."))
}

fn frequency(e: &Environment) -> Option<String> {
    let nobody_tells = e.cpu.frequency.governors.is_empty() && e.cpu.model.is_some();
    nobody_tells.then(|| {
        "The clock rate can be neither seen nor set here, so it may differ between launches; that is one reason why \
         ratios are taken within a launch."
            .to_owned()
    })
}

/// Those vulnerabilities whose mitigation takes time at each entry into the kernel.
fn mitigations(e: &Environment) -> Option<String> {
    let at_entry =
        ["meltdown", "mds", "retbleed", "spec_rstack_overflow", "spectre_v1", "spectre_v2", "tsa", "tsx_async_abort"];
    let paid = |name: &&str| e.cpu.mitigations.get(*name).is_some_and(|text| text.starts_with("Mitigation"));
    let paid: Vec<&str> = at_entry.into_iter().filter(paid).collect();
    if e.cpu.mitigations.is_empty() {
        return None;
    }
    Some(if paid.is_empty() {
        "System calls and faults pay for no mitigation at the kernel's door.".to_owned()
    } else {
        format!(
            "System calls and faults pay for mitigations of {}; other machines may pay more or less.",
            paid.join(", ")
        )
    })
}
