//! The lines that say what a machine is.

use record::machine::cpu::Cache;
use record::machine::environment::Environment;
use record::machine::format::{count, size, unknown};

use super::meaning::read_time;

/// All lines with their names.
pub(super) fn all(e: &Environment) -> Vec<(&'static str, String)> {
    vec![
        ("processor", processor(e)),
        ("caches", caches(e)),
        ("one read", ladder(e)),
        ("memory flags", flags(e)),
        ("frequency", frequency(e)),
        ("clock", clock(e)),
        ("kernel", kernel(e)),
        ("hypervisor", e.hypervisor.name()),
        ("memory", memory(e)),
        ("cgroups", cgroups(e)),
        ("huge pages", huge_pages(e)),
        ("page reclaim", reclaim(e)),
        ("counters", counters(e)),
        ("rights", rights(e)),
        ("channels", channels(e)),
        ("tools", tools(e)),
        ("Java", javas(e)),
        ("allocators", listed(e.tools.allocators.keys().map(String::as_str))),
    ]
}

/// Words in a row, or that there are none.
fn listed<'w>(items: impl Iterator<Item = &'w str>) -> String {
    let items: Vec<&str> = items.collect();
    if items.is_empty() { "none found".to_owned() } else { items.join(", ") }
}

fn word(fact: &Option<String>) -> &str {
    fact.as_deref().unwrap_or("unknown")
}

fn on_off(fact: Option<bool>) -> &'static str {
    match fact {
        Some(true) => "on",
        Some(false) => "off",
        None => "unknown",
    }
}

fn processor(e: &Environment) -> String {
    let cpu = &e.cpu;
    let mut parts = vec![word(&cpu.model).to_owned()];
    if let (Some(vendor), Some(family), Some(model)) = (&cpu.vendor, &cpu.family, &cpu.model_number) {
        parts.push(format!("{vendor} family {family} model {model}"));
    }
    let cpus = e.cpus();
    parts.push(match cpus.as_str() {
        "1" => "1 CPU".to_owned(),
        "unknown" => "CPUs unknown".to_owned(),
        _ => format!("{cpus} CPUs"),
    });
    parts.push(format!("SMT {}", on_off(cpu.smt_active)));
    parts.join(", ")
}

fn caches(e: &Environment) -> String {
    let described = |cache: &Cache| {
        let level = cache.level.unwrap_or(0);
        let kind = match cache.kind.as_deref() {
            Some("Data") => " data",
            Some("Instruction") => " instructions",
            _ => "",
        };
        let shared = match cache.shared_by {
            Some(cpus) if cpus > 1 => format!(" shared by {cpus} CPUs"),
            _ => String::new(),
        };
        format!("L{level}{kind} {}{shared}", unknown(cache.size_bytes.map(size)))
    };
    let caches: Vec<String> = e.cpu.caches.iter().map(described).collect();
    if caches.is_empty() { "unknown".to_owned() } else { caches.join(", ") }
}

/// Cost of one read in working sets of each power of four, as far as they were walked.
fn ladder(e: &Environment) -> String {
    let Some(ladder) = &e.cpu.ladder else { return "not measured".to_owned() };
    let last = ladder.steps.last().map_or(0, |s| s.bytes);
    let steps =
        ladder.steps.iter().filter(|s| s.bytes == last || (s.bytes.is_power_of_two() && s.bytes.ilog2() % 2 == 0));
    let times: Vec<String> = steps.map(|s| format!("{} {}", size(s.bytes), read_time(s.read_ps))).collect();
    format!("that waits for the one before, within {}", times.join(", "))
}

fn flags(e: &Environment) -> String {
    let flags = e.cpu.memory_flags.as_ref();
    flags.map_or("unknown".to_owned(), |flags| flags.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
}

fn frequency(e: &Environment) -> String {
    let frequency = &e.cpu.frequency;
    if frequency.governors.is_empty() {
        return "not visible: no governor in /sys/devices/system/cpu/cpufreq".to_owned();
    }
    let mhz = |khz: Option<u64>| khz.map_or("unknown".to_owned(), |khz| (khz / 1000).to_string());
    let range = format!("{} to {} MHz", mhz(frequency.minimum_khz), mhz(frequency.maximum_khz));
    format!("governor {} ({}), {range}, boost {}", e.governor(), word(&frequency.driver), on_off(frequency.boost))
}

fn clock(e: &Environment) -> String {
    let Some(current) = &e.clock.current else { return "unknown".to_owned() };
    let available = e.clock.available.as_deref().unwrap_or_default();
    let others: Vec<&str> = available.split_whitespace().filter(|clock| clock != current).collect();
    if others.is_empty() { current.clone() } else { format!("{current} (also there: {})", others.join(", ")) }
}

fn kernel(e: &Environment) -> String {
    let kernel = &e.kernel;
    let parts = [&kernel.release, &kernel.architecture, &kernel.version, &kernel.distribution];
    listed(parts.into_iter().filter_map(|part| part.as_deref())).replace("none found", "unknown")
}

fn memory(e: &Environment) -> String {
    let memory = &e.memory;
    let swap = match memory.swap_bytes {
        Some(0) => "no swap".to_owned(),
        swap => format!("swap {}", unknown(swap.map(size))),
    };
    let page = format!("page {}", unknown(memory.page_bytes.map(size)));
    let overcommit = format!("overcommit {}", unknown(memory.overcommit_memory.map(|rule| rule.to_string())));
    let mut parts = vec![unknown(memory.total_bytes.map(size)), swap, page, overcommit];
    parts.push(match memory.nodes.len() {
        0 => "NUMA nodes unknown".to_owned(),
        nodes => count(nodes as u64, "NUMA node"),
    });
    parts.extend(memory.dev_shm_bytes.map(|bytes| format!("/dev/shm {}", size(bytes))));
    parts.join(", ")
}

fn cgroups(e: &Environment) -> String {
    let mut parts = Vec::new();
    for group in &e.cgroups.memory {
        let limit =
            group.limit_bytes.map_or("no memory limit".to_owned(), |bytes| format!("memory limit {}", size(bytes)));
        let high = group.high_bytes.map_or(String::new(), |bytes| format!(", slowed above {}", size(bytes)));
        let writable = if group.writable { "groups can be made" } else { "no groups can be made" };
        parts.push(format!("version {}: {limit}{high}, {writable}", group.version));
    }
    if parts.is_empty() {
        parts.push("none with the memory controller".to_owned());
    }
    let quota = e.cgroups.cpu_quota.as_ref();
    parts.push(quota.map_or("no CPU quota".to_owned(), |quota| format!("time of {:.1} CPUs", quota.cpus())));
    parts.join("; ")
}

fn huge_pages(e: &Environment) -> String {
    let huge = &e.huge_pages;
    let transparent = huge.transparent().map_or("unknown", |(word, _)| word);
    let shared = huge.transparent_shared().map_or("unknown", |(word, _)| word);
    let mut parts =
        vec![format!("transparent {transparent} (defrag {}), in shared memory {shared}", word(&huge.thp_defrag))];
    let own_size = huge.thp_bytes.map(|bytes| format!("{}kB", bytes / 1024));
    let others = huge.thp_by_size.iter().filter(|(name, word)| Some(*name) != own_size.as_ref() && *word != "never");
    parts.extend(others.map(|(name, word)| format!("pages of {name} {word}")));
    for pool in &huge.pools {
        let (page, pages) = (size(pool.page_bytes), unknown(pool.pages.map(|pages| pages.to_string())));
        let free = unknown(pool.free_pages.map(|pages| pages.to_string()));
        parts.push(if pages == "0" {
            format!("no pool of {page}")
        } else {
            format!("pool of {pages} × {page}, {free} free")
        });
    }
    parts.join("; ")
}

fn reclaim(e: &Environment) -> String {
    let reclaim = &e.reclaim;
    let reporting = if reclaim.reports_free_pages() { "free-page reporting on" } else { "free-page reporting off" };
    let damon = if reclaim.damon_takes_pages() {
        "DAMON pages out"
    } else if reclaim.kdamonds.iter().any(|kdamond| kdamond.running == Some(true)) {
        "DAMON watches"
    } else if reclaim.kdamonds.iter().any(|kdamond| kdamond.running.is_none()) {
        // Only root may read its state.
        "DAMON hidden from this user"
    } else {
        "DAMON off"
    };
    let ksm = match e.memory.ksm_run {
        Some(1) => "KSM on",
        Some(_) => "KSM off",
        None => "KSM unknown",
    };
    let numa = format!("NUMA balancing {}", on_off(e.memory.numa_balancing.map(|mask| mask != 0)));
    let zswap = format!("zswap {}", on_off(reclaim.zswap));
    [reporting, damon, ksm, &numa, &zswap].join(", ")
}

fn counters(e: &Environment) -> String {
    let counters = &e.rights.hardware_counters;
    let hardware = if counters.is_empty() { "none in hardware".to_owned() } else { counters.join(", ") };
    let paranoid = unknown(e.rights.perf_event_paranoid.map(|level| level.to_string()));
    format!("{hardware}; perf_event_paranoid {paranoid}")
}

fn rights(e: &Environment) -> String {
    let rights = &e.rights;
    let number = |fact: Option<u64>| fact.map_or("absent".to_owned(), |number| number.to_string());
    let user = match rights.effective_uid {
        Some(0) => "root".to_owned(),
        Some(uid) => format!("user {uid}"),
        None => "user unknown".to_owned(),
    };
    let seccomp = if rights.seccomp_mode == Some(2) { ", a seccomp filter" } else { "" };
    format!(
        "{user}, capabilities {}{seccomp}; yama {}, io_uring_disabled {}, randomize_va_space {}",
        word(&rights.effective_capabilities),
        number(rights.yama_ptrace_scope),
        number(rights.io_uring_disabled),
        number(rights.randomize_va_space)
    )
}

fn channels(e: &Environment) -> String {
    let limits = &e.limits;
    let shmmax = match limits.shmmax_bytes {
        // The kernel's own default is just below the largest number.
        Some(bytes) if bytes > 1 << 62 => "unlimited".to_owned(),
        bytes => unknown(bytes.map(size)),
    };
    let shmmni = unknown(limits.shmmni.map(|number| number.to_string()));
    let queue = unknown(limits.mqueue_messages.map(|number| number.to_string()));
    format!(
        "pipes up to {}; System V segments {shmmax}, {shmmni} of them; queues of {queue} messages up to {}",
        unknown(limits.pipe_max_bytes.map(size)),
        unknown(limits.mqueue_message_bytes.map(size))
    )
}

fn tools(e: &Environment) -> String {
    let shown = ["strace", "perf", "gcc", "clang", "go", "python3"].into_iter().filter(|tool| e.tools.has(tool));
    let tools: Vec<String> = shown
        .map(|tool| match &e.tools.go_version {
            Some(version) if tool == "go" => format!("go ({version})"),
            _ => tool.to_owned(),
        })
        .collect();
    listed(tools.iter().map(String::as_str))
}

fn javas(e: &Environment) -> String {
    let javas = e.tools.javas.iter().map(|java| {
        let kind = if java.has_compiler { "JDK" } else { "without compiler" };
        format!("{} ({kind}, {})", word(&java.version), java.home)
    });
    let javas: Vec<String> = javas.collect();
    listed(javas.iter().map(String::as_str))
}
