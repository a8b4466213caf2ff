//! A pass under a bound on memory, second by second: the worst second tells what an average hides.

use record::sizes::{about_size, format_ns};

/// One second of a pass under a memory bound, as the fact `series` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    bytes_per_s: f64,
    major_faults: u64,
    memory_stall_us: i64,
    io_stall_us: i64,
}

/// Reads `MS,BYTES,MAJOR_FAULTS,MEMORY_STALL_US,IO_STALL_US;…`. A last second that was cut short is left out, unless it is all
/// there is.
fn seconds(text: &str) -> Vec<Second> {
    let mut all: Vec<(f64, Second)> = Vec::new();
    for row in text.split(';') {
        let v: Vec<i64> = row.split(',').filter_map(|n| n.parse().ok()).collect();
        let [ms, bytes, major, memory_stall_us, io_stall_us] = v[..] else { continue };
        let bytes_per_s = bytes as f64 * 1000.0 / (ms.max(1) as f64);
        all.push((ms as f64, Second { bytes_per_s, major_faults: major.unsigned_abs(), memory_stall_us, io_stall_us }));
    }
    let whole: Vec<Second> = all.iter().filter(|(ms, _)| *ms >= 900.0).map(|(_, s)| *s).collect();
    if whole.is_empty() { all.into_iter().map(|(_, s)| s).collect() } else { whole }
}

/// The slowest second of a cell, in a sentence.
pub(crate) fn slowest(label: &str, series: &[String]) -> String {
    let mut all: Vec<Second> = series.iter().flat_map(|s| seconds(s)).collect();
    all.sort_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let Some(worst) = all.first() else { return format!("{label}: no second was recorded") };
    let middle = all[all.len() / 2].bytes_per_s;
    let stall = |us: i64| if us < 0 { "not known".to_owned() } else { format_ns(us as f64 * 1000.0) };
    format!(
        "worst second of {label}: {}/s from the device (median {}/s), {} major faults, waited for memory {}, for I/O {}",
        about_size(worst.bytes_per_s),
        about_size(middle),
        worst.major_faults,
        stall(worst.memory_stall_us),
        stall(worst.io_stall_us),
    )
}

#[cfg(test)]
#[path = "../tests/unit/seconds.rs"]
mod tests;
