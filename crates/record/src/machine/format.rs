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

/// Names an unknown fact instead of leaving it out.
pub fn unknown(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| "unknown".to_owned())
}

/// A number with its noun, in the plural where it is not one.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
