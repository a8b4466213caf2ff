//! Names of functions as people write them, within limits: a symbol of some hundred bytes can stand for a gigabyte.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// Bytes of a name that is kept, and of a symbol that is demangled.
pub(super) const MOST_NAME: usize = 16 << 10;
/// Pieces of a demangled name, the empty ones included.
const MOST_PIECES: usize = 64 << 10;

/// A text that takes no more than the limits.
#[derive(Default)]
struct LimitedText {
    text: String,
    pieces: usize,
}

impl Write for LimitedText {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.pieces += 1;
        if self.pieces > MOST_PIECES || self.text.len() + piece.len() > MOST_NAME {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

/// The name of a Rust or C++ function; the symbol where it is none, or its name goes beyond the limits.
pub(super) fn demangled(symbol: &str) -> String {
    let is_short = symbol.len() <= MOST_NAME;
    let name = is_short.then(|| rust(symbol).or_else(|| cpp(symbol)));
    name.flatten().unwrap_or_else(|| cut(symbol))
}

fn rust(symbol: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(symbol).ok()?;
    let mut limited = LimitedText::default();
    write!(limited, "{name:#}").ok()?;
    Some(limited.text)
}

fn cpp(symbol: &str) -> Option<String> {
    // Other names may be taken for types.
    if !symbol.starts_with('_') {
        return None;
    }
    let name = Symbol::new(symbol).ok()?;
    let mut limited = LimitedText::default();
    name.structured_demangle(&mut limited, &DemangleOptions::default())
        .ok()?;
    Some(limited.text)
}

/// A text of at most [`MOST_NAME`] bytes; `…` ends it where more follows.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= MOST_NAME {
        return text.to_owned();
    }
    let mut end = MOST_NAME - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::rng::Seeded;
    use std::time::{Duration, Instant};

    use super::super::cpu_time;

    #[test]
    fn names_are_those_of_the_compilers() {
        for (symbol, name) in [
            ("main", "main"),
            ("_ZN3foo3barEv", "foo::bar()"),
            ("_ZN5space3fooEibc", "space::foo(int, bool, char)"),
            (
                "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
                "core::fmt::Write::write_fmt",
            ),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("py::f:/x.py", "py::f:/x.py"),
            ("i", "i"),
            ("", ""),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    /// A function whose parameter is a pair of a pair of a pair …, each by reference to the one before: its name doubles with
    /// every six bytes.
    fn doubling(levels: usize) -> String {
        let number = |at: usize| match at {
            0 => String::new(),
            at => {
                let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
                let at = at - 1;
                let low = char::from(digits[at % 36]);
                if at < 36 {
                    low.to_string()
                } else {
                    format!("{}{low}", char::from(digits[at / 36]))
                }
            }
        };
        let mut symbol = String::from("_Z1f1PIiiE");
        // S_ is the template P, S0_ is P<int, int>, and each further one follows.
        for level in 0..levels {
            let before = number(level + 1);
            symbol += &format!("S_IS{before}_S{before}_E");
        }
        symbol
    }

    #[test]
    fn a_short_symbol_of_a_gigabyte_costs_nothing() {
        // Without limits the name of a symbol of 102 bytes has more than 100,000.
        let name = Symbol::new(doubling(14)).unwrap().demangle().unwrap();
        assert!(name.len() > 100_000, "{}", name.len());
        for levels in [2, 5, 14, 25, 40, 200] {
            let symbol = doubling(levels);
            let began = cpu_time();
            let name = demangled(&symbol);
            assert!(cpu_time() - began < Duration::from_secs(1), "{levels}");
            assert!(name.len() <= MOST_NAME, "{levels}");
            assert_eq!(name == symbol, levels > 5, "{levels}: {name:.200}");
        }
        let nested = format!("_R{}C1ap", "NvNt".repeat(20_000));
        assert!(demangled(&nested).ends_with('…'));
        let deep = format!("_Z1f{}i", "P".repeat(15_000));
        assert_eq!(demangled(&deep), deep);
        assert_eq!(cut(&"ü".repeat(MOST_NAME)).chars().last(), Some('…'));
    }

    #[test]
    fn changed_symbols_are_read_in_time_and_stay_short() {
        let seconds = std::env::var("PAGEWISE_FUZZ_S")
            .ok()
            .and_then(|text| text.parse().ok());
        let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(1));
        let seeds = [
            doubling(3),
            doubling(20),
            doubling(60),
            "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE".to_owned(),
            "_RNvMs_NtNtC7mycrate3foo3barINtB4_3BazpE3new".to_owned(),
            "_RINvC1a1bNtB2_1cNtB2_1dE".to_owned(),
            "_Z1fIJiiiEEvDpT_DpRKT_".to_owned(),
        ];
        const SIGNS: &[u8] = b"_ZNRSTBIEJXLDpKPviMs0123456789abcdefGhzC";
        let mut random = Seeded::new(62);
        while Instant::now() < end {
            let mut symbol = seeds[random.below(seeds.len())].clone().into_bytes();
            for _ in 0..random.below(8) {
                let (at, sign) = (random.below(symbol.len()), SIGNS[random.below(SIGNS.len())]);
                match random.below(3) {
                    0 => symbol[at] = sign,
                    1 => symbol.insert(at, sign),
                    _ => {
                        let piece = symbol[at..].to_vec();
                        symbol.extend(piece);
                    }
                }
            }
            symbol.truncate(MOST_NAME);
            let symbol = String::from_utf8(symbol).unwrap();
            let began = cpu_time();
            let name = demangled(&symbol);
            assert!(cpu_time() - began < Duration::from_secs(1), "{symbol}");
            assert!(name.len() <= MOST_NAME, "{symbol}");
        }
    }
}
