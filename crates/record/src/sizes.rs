//! Sizes and times as people write them: `64KiB`, `100MB`, `1.5GiB`, `60s`.

use anyhow::{Result, bail};

/// Unit words. The first that divides a size evenly is printed; the short ones after `""` are read only, as fio and dd do.
const UNITS: [(&str, u64); 16] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
    ("", 1),
    ("T", 1 << 40),
    ("G", 1 << 30),
    ("M", 1 << 20),
    ("K", 1 << 10),
    ("k", 1 << 10),
];

/// The largest size that is accepted: half of a 48-bit user address space, in bytes.
pub const LARGEST_BYTES: u64 = 1 << 46;

/// Key of the size of a method's job.
pub const BYTES: &str = "bytes";

/// Parses a size into bytes. Zero, fractions of a byte and sizes above [`LARGEST_BYTES`] are errors.
pub fn parse_size(text: &str) -> Result<u64> {
    let wrong =
        || anyhow::anyhow!("{text:?} is not a size; write it like 4096, 64KiB, 1.5GiB or 100MB");
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = UNITS
        .iter()
        .find(|(name, _)| *name == unit.trim())
        .ok_or_else(wrong)?
        .1;
    let bytes = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(scale),
        Err(_) => {
            let value = number.parse::<f64>().map_err(|_| wrong())? * scale as f64;
            if value.fract() != 0.0 {
                bail!("{text:?} is not a whole number of bytes");
            }
            (value < u64::MAX as f64).then_some(value as u64)
        }
    };
    match bytes {
        Some(0) => bail!("size {text:?} leaves nothing to measure"),
        Some(bytes) if bytes <= LARGEST_BYTES => Ok(bytes),
        _ => bail!(
            "size {text:?} is above the address space ({})",
            format_size(LARGEST_BYTES)
        ),
    }
}

/// Facts of a machine that sizes follow from; unreadable ones have usual values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    /// Size of a huge page in bytes.
    pub huge_page_bytes: u64,
    /// The cache of the second level, which a core has to itself.
    pub core_cache_bytes: u64,
    /// Last cache in bytes.
    pub last_cache_bytes: u64,
}

impl Default for Here {
    fn default() -> Here {
        Here {
            huge_page_bytes: 2 << 20,
            core_cache_bytes: 256 << 10,
            last_cache_bytes: 32 << 20,
        }
    }
}

/// The largest size that follows from a cache: servers report caches whose fourfold would take minutes.
const MOST_BY_CACHE: u64 = 1 << 30;

/// A size of an experiment's list on this machine: the largest of what stands between bars, each a size or a number of huge
/// pages (`2.5huge`), of a core's own caches (`0.25core`, rounded down to a power of two) or of last-level caches
/// (`2cache`, rounded up to one, 1 GiB at most). Anything else is left as it is.
pub fn here(text: &str, here: &Here) -> Result<String> {
    if !["huge", "core", "cache"]
        .iter()
        .any(|word| text.contains(word))
    {
        return Ok(text.to_owned());
    }
    let product = |number: &str, bytes: u64| -> Result<f64> {
        let bytes = number.parse::<f64>()? * bytes as f64;
        anyhow::ensure!(bytes >= 1.0, "{number:?} of it is no size");
        Ok(bytes)
    };
    let bytes_of = |part: &str| -> Result<u64> {
        let part = part.trim();
        if let Some(count) = part.strip_suffix("huge") {
            let bytes = product(count, here.huge_page_bytes)?;
            anyhow::ensure!(
                bytes.fract() == 0.0,
                "{part:?} is not a whole number of bytes"
            );
            return Ok(bytes as u64);
        }
        if let Some(count) = part.strip_suffix("core") {
            return Ok(1 << (product(count, here.core_cache_bytes)? as u64).ilog2());
        }
        match part.strip_suffix("cache") {
            Some(count) => Ok((product(count, here.last_cache_bytes)? as u64)
                .next_power_of_two()
                .min(MOST_BY_CACHE)),
            None => parse_size(part),
        }
    };
    let sizes = text
        .split('|')
        .map(bytes_of)
        .collect::<Result<Vec<u64>>>()?;
    Ok(format_size(sizes.into_iter().max().unwrap_or(0)))
}

/// A size with a space before its unit: `4 MiB`.
pub fn spaced(size: &str) -> String {
    let digits = size
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    if unit.is_empty() || number.is_empty() {
        size.to_owned()
    } else {
        format!("{number} {unit}")
    }
}

/// Bytes in the largest binary unit that divides them, else the decimal one, else plain: `64KiB`, `100MB`, `12345B`.
pub fn format_size(bytes: u64) -> String {
    let even = UNITS
        .iter()
        .find(|(name, scale)| !name.is_empty() && bytes >= *scale && bytes.is_multiple_of(*scale));
    let (name, scale) = even.copied().unwrap_or(("B", 1));
    format!("{}{name}", bytes / scale)
}

/// Bytes for reading in a sentence, rounded: `1.5 GiB`.
pub fn about_size(bytes: f64) -> String {
    let (name, scale) = UNITS[..4]
        .iter()
        .find(|(_, s)| bytes >= *s as f64)
        .copied()
        .unwrap_or(("B", 1));
    let value = bytes / scale as f64;
    if name == "B" || value >= 100.0 {
        format!("{value:.0} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

/// The longest time that is accepted, in seconds: a year.
pub const LONGEST_S: f64 = 365.0 * 86400.0;

/// Parses a time into seconds: `90`, `90s`, `1.5min`, `500ms`, `1h`. Zero and times above [`LONGEST_S`] are errors.
pub fn parse_seconds(text: &str) -> Result<f64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => bail!("{text:?} is not a time; write it like 60s, 500ms or 2min"),
    };
    match number.parse::<f64>() {
        Ok(value) if value * scale > LONGEST_S => {
            bail!("{text:?} is too long; the longest time is a year (8760h)")
        }
        Ok(value) if value > 0.0 => Ok(value * scale),
        _ => bail!("{text:?} is not a time above zero; write it like 60s, 500ms or 2min"),
    }
}

/// Parses a share: `1%` or `0.01`, above 0 and below 1.
pub fn parse_share(text: &str) -> Result<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |n| (n, 0.01));
    match number.trim().parse::<f64>() {
        Ok(value) if value * scale > 0.0 && value * scale < 1.0 => Ok(value * scale),
        _ => bail!("{text:?} is not a share between 0 and 100 %; write it like 1% or 0.01"),
    }
}

/// Nanoseconds with three significant digits and a unit that fits: `412 ns`, `1.05 ms`.
pub fn format_ns(ns: f64) -> String {
    let (value, unit) = match ns {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number with three significant digits, without an exponent.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// The known word nearest to a mistyped one, where one is near enough to be meant: every third letter may be missing,
/// wrong, or in its neighbor's place; the end of a word may be missing altogether.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let most = (length / 3).max(usize::from(length > 1));
    let is_start = |known: &str| length > 2 && known.starts_with(word);
    let scored = known
        .into_iter()
        .map(|known| (strsim::osa_distance(word, known), known));
    let near = scored.filter(|(distance, known)| *distance <= most || is_start(known));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// `; did you mean "x"?` or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |k| format!("; did you mean \"{k}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_machine() {
        let usual = Here::default();
        let at_64k = Here {
            huge_page_bytes: 512 << 20,
            ..usual
        };
        assert_eq!(here("2MiB|1huge", &usual).unwrap(), "2MiB");
        assert_eq!(here("64MiB|2huge", &at_64k).unwrap(), "1GiB");
        assert_eq!(here("2.5huge", &usual).unwrap(), "5MiB");
        assert_eq!(here("64KiB", &at_64k).unwrap(), "64KiB");
        for wrong in [
            "huge",
            "0huge",
            "1huge|x",
            "core",
            "0cache",
            "-1core",
            "cache|1MiB",
        ] {
            assert!(here(wrong, &usual).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_follow_the_caches_in_powers_of_two() {
        let server = Here {
            core_cache_bytes: 2 << 20,
            last_cache_bytes: 105 << 20,
            ..Here::default()
        };
        assert_eq!(here("0.25core", &Here::default()).unwrap(), "64KiB");
        assert_eq!(here("0.25core", &server).unwrap(), "512KiB");
        assert_eq!(
            here(
                "0.25core",
                &Here {
                    core_cache_bytes: 1280 << 10,
                    ..server
                }
            )
            .unwrap(),
            "256KiB"
        );
        assert_eq!(here("64MiB|2cache", &Here::default()).unwrap(), "64MiB");
        assert_eq!(here("64MiB|2cache", &server).unwrap(), "256MiB");
        assert_eq!(
            here(
                "64MiB|2cache",
                &Here {
                    last_cache_bytes: 1 << 20,
                    ..server
                }
            )
            .unwrap(),
            "64MiB"
        );
        assert_eq!(
            here(
                "2cache",
                &Here {
                    last_cache_bytes: 1 << 40,
                    ..server
                }
            )
            .unwrap(),
            "1GiB"
        );
    }

    #[test]
    fn sizes_are_read_in_every_unit() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64KiB", 65536),
            ("1.5GiB", 3 << 29),
            ("100MB", 100_000_000),
        ] {
            assert_eq!(parse_size(text).unwrap(), bytes);
        }
        for (text, bytes) in [
            ("16k", 16 << 10),
            ("16K", 16 << 10),
            ("16M", 16 << 20),
            ("2G", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_size(text).unwrap(), bytes);
        }
        for text in [
            "0",
            "0KiB",
            "x",
            "12XB",
            "-1",
            "",
            "1.0001B",
            "99999999TiB",
            "1e9",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn formatted_sizes_are_read_back_unchanged() {
        for bytes in [1, 1000, 4096, 65_536, 100_000_000, 1 << 30, 12_345] {
            assert_eq!(parse_size(&format_size(bytes)).unwrap(), bytes);
        }
        assert_eq!(format_size(100_000_000), "100MB");
    }

    #[test]
    fn times_and_shares_are_read() {
        assert_eq!(parse_seconds("2min").unwrap(), 120.0);
        assert_eq!(parse_seconds("500ms").unwrap(), 0.5);
        assert_eq!(parse_share("1%").unwrap(), 0.01);
        assert!(
            parse_seconds("0").is_err()
                && parse_share("0").is_err()
                && parse_share("150%").is_err()
        );
        assert_eq!(parse_seconds("8760h").unwrap(), LONGEST_S);
        for text in ["99999999999999999999s", "8761h", "1e9", "31536001"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(format_ns(412.0), "412 ns");
        assert_eq!(format_ns(1_050_000.0), "1.05 ms");
        assert_eq!(three_digits(9.999), "10.0");
    }

    #[test]
    fn mistyped_words_are_known_by_transposition_and_not_by_chance() {
        let methods = ["touch", "thp", "mthp", "populate", "populate-write", "heap"];
        assert_eq!(nearest("tph", methods), Some("thp"));
        assert_eq!(nearest("toush", methods), Some("touch"));
        assert_eq!(nearest("popu", methods), Some("populate"));
        assert_eq!(nearest("rn", ["run", "runs", "list"]), Some("run"));
        assert_eq!(nearest("mmap", ["unmap", "heap", "map-me"]), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
