//! Facts in words.

/// A size in the largest unit that fits, with three digits that count.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    // Rounded first: 1023.97 MiB would otherwise be printed as 1024 MiB.
    while (value * 10.0).round() >= 10240.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    format!("{} {}", number.trim_end_matches('0').trim_end_matches('.'), UNITS[unit])
}

/// What is not known is said, never left out.
pub fn unknown(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| "unknown".to_owned())
}

/// A number with its noun, in the plural where it is not one.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(64 << 20), "64 MiB");
        assert_eq!(size(1280 << 10), "1.25 MiB");
        assert_eq!(size(100), "100 B");
        assert_eq!(size(24_684_084 * 1024), "23.5 GiB");
        assert_eq!(size((1 << 30) - 1), "1 GiB");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(1, "CPU"), "1 CPU");
        assert_eq!(count(0, "CPU"), "0 CPUs");
    }
}
