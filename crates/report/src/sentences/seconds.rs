//! The slowest second of a pass that a method recorded second by second.

use record::sizes::{about_size, format_ns};

/// One second of a pass under a memory bound, as the fact `series` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    bytes_per_s: f64,
    major_faults: u64,
    memory_stall_us: i64,
    io_stall_us: i64,
}

/// Reads `MS,BYTES,MAJOR_FAULTS,MEMORY_STALL_US,IO_STALL_US;…`. A cut last second is left out unless it is alone.
fn seconds(text: &str) -> Vec<Second> {
    let mut recorded: Vec<(f64, Second)> = Vec::new();
    for row in text.split(';') {
        let v: Vec<i64> = row.split(',').filter_map(|n| n.parse().ok()).collect();
        let [ms, bytes, major, memory_stall_us, io_stall_us] = v[..] else {
            continue;
        };
        let bytes_per_s = bytes as f64 * 1000.0 / (ms.max(1) as f64);
        recorded.push((
            ms as f64,
            Second {
                bytes_per_s,
                major_faults: major.unsigned_abs(),
                memory_stall_us,
                io_stall_us,
            },
        ));
    }
    let whole: Vec<Second> = recorded
        .iter()
        .filter(|(ms, _)| *ms >= 900.0)
        .map(|(_, s)| *s)
        .collect();
    if whole.is_empty() {
        recorded.into_iter().map(|(_, s)| s).collect()
    } else {
        whole
    }
}

/// The slowest second of a cell, in a sentence.
pub(crate) fn slowest(label: &str, series: &[String]) -> String {
    let mut seconds: Vec<Second> = series.iter().flat_map(|s| seconds(s)).collect();
    seconds.sort_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let Some(worst) = seconds.first() else {
        return format!("{label}: no second was recorded");
    };
    let middle = seconds[seconds.len() / 2].bytes_per_s;
    format!(
        "worst second of {label}: {}/s from the device (median {}/s), {} major faults, waited for memory {}, for I/O {}",
        about_size(worst.bytes_per_s),
        about_size(middle),
        worst.major_faults,
        stall(worst.memory_stall_us),
        stall(worst.io_stall_us),
    )
}

fn stall(us: i64) -> String {
    if us < 0 {
        "not known".to_owned()
    } else {
        format_ns(us as f64 * 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_whole_second_is_found() {
        let text = "1000,104857600,3,0,5;1000,1048576,40,900000,7;20,10,0,0,0".to_owned();
        let words = slowest("read@c-O3", &[text]);
        assert!(
            words.contains("1.0 MiB/s from the device (median 100 MiB/s), 40 major faults"),
            "{words}"
        );
        assert!(words.contains("waited for memory 900 ms"), "{words}");
    }

    #[test]
    fn a_pass_of_less_than_a_second_is_told_too() {
        let words = slowest("x", &["500,1048576,0,-1,-1".to_owned()]);
        assert!(
            words.contains("2.0 MiB/s") && words.contains("not known"),
            "{words}"
        );
    }
}
