//! The processor: what it is, what it caches, what it can copy with, and at which frequency it may run.

use std::collections::{BTreeMap, BTreeSet};

use record::machine::cpu::{Cache, Cpu, Frequency};

use super::files::{Files, field, list_length};

/// Flags of /proc/cpuinfo that change how fast memory is copied, cleared, mapped or timed: `rep movsb` and its wide
/// rivals, stores past the cache, page table features, a clock that does not stop; the last four are Arm's.
const MEMORY_FLAGS: [&str; 23] = [
    "erms",
    "fsrm",
    "fzrm",
    "fsrs",
    "avx",
    "avx2",
    "avx512f",
    "avx512bw",
    "movdiri",
    "movdir64b",
    "clflushopt",
    "clwb",
    "clzero",
    "pdpe1gb",
    "la57",
    "pcid",
    "invpcid",
    "constant_tsc",
    "nonstop_tsc",
    "asimd",
    "sve",
    "dcpop",
    "mops",
];

/// Reads what [`Cpu`] holds.
pub(super) fn cpu(files: Files<'_>) -> Cpu {
    // One processor's block is less than this on every machine known.
    let info = files.start("/proc/cpuinfo", 8192).unwrap_or_default();
    let first = |names: [&str; 2]| names.iter().find_map(|n| field(&info, n)).map(str::to_owned);
    let status = files.text("/proc/self/status").unwrap_or_default();
    Cpu {
        model: first(["model name", "CPU part"]),
        vendor: first(["vendor_id", "CPU implementer"]),
        family: first(["cpu family", "CPU architecture"]),
        model_number: first(["model", "CPU variant"]),
        stepping: first(["stepping", "CPU revision"]),
        microcode: first(["microcode", "microcode"]),
        memory_flags: first(["flags", "Features"]).map(|flags| memory_flags(&flags)),
        online: files.text("/sys/devices/system/cpu/online").and_then(|list| list_length(&list)),
        allowed: field(&status, "Cpus_allowed_list").and_then(list_length),
        smt_active: files.switch("/sys/devices/system/cpu/smt/active"),
        caches: caches(files),
        ladder: None,
        frequency: frequency(files),
        mitigations: mitigations(files),
    }
}

fn memory_flags(flags: &str) -> BTreeSet<String> {
    flags.split_whitespace().filter(|f| MEMORY_FLAGS.contains(f)).map(str::to_owned).collect()
}

pub(super) fn caches(files: Files<'_>) -> Vec<Cache> {
    let folder = "/sys/devices/system/cpu/cpu0/cache";
    let one = |index: u64| {
        let file = |name: &str| format!("{folder}/index{index}/{name}");
        Cache {
            level: files.number(&file("level")),
            kind: files.text(&file("type")),
            size_bytes: files.text(&file("size")).and_then(|size| kib_to_bytes(&size)),
            line_bytes: files.number(&file("coherency_line_size")),
            ways: files.number(&file("ways_of_associativity")),
            shared_by: files.text(&file("shared_cpu_list")).and_then(|list| list_length(&list)),
        }
    };
    files.numbered(folder, "index", "").into_iter().map(one).collect()
}

/// Cache sizes are written `32K`, whatever their size.
fn kib_to_bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn frequency(files: Files<'_>) -> Frequency {
    let folder = "/sys/devices/system/cpu/cpufreq";
    let policies = files.numbered(folder, "policy", "");
    let file = |policy: &u64, name: &str| format!("{folder}/policy{policy}/{name}");
    let first = policies.first();
    let no_turbo = files.switch("/sys/devices/system/cpu/intel_pstate/no_turbo");
    Frequency {
        driver: first.and_then(|p| files.text(&file(p, "scaling_driver"))),
        governors: policies.iter().filter_map(|p| files.text(&file(p, "scaling_governor"))).collect(),
        minimum_khz: first.and_then(|p| files.number(&file(p, "scaling_min_freq"))),
        maximum_khz: first.and_then(|p| files.number(&file(p, "scaling_max_freq"))),
        boost: files.switch(&format!("{folder}/boost")).or(no_turbo.map(|off| !off)),
    }
}

fn mitigations(files: Files<'_>) -> BTreeMap<String, String> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = files.names(folder).into_iter();
    names.filter_map(|name| files.text(&format!("{folder}/{name}")).map(|text| (name, text))).collect()
}
