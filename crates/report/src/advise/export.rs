//! Saved advice as source that a program compiles in.

use std::fmt::Write as _;

use record::advice::{Advice, Question};

use crate::escape::{self, c_literal, comment, rust_literal};

/// The name of a question's function: `read`, `copy_first_touch`.
fn name(question: &str) -> String {
    escape::name(question).to_ascii_lowercase()
}

fn machine(advice: &Advice, quoted: fn(&str) -> String) -> [(&'static str, String); 6] {
    let machine = &advice.machine;
    [
        ("CPU", quoted(&machine.cpu)),
        ("MICROCODE", quoted(&machine.microcode)),
        ("KERNEL", quoted(&machine.kernel)),
        ("THP", quoted(&machine.thp)),
        ("GLIBC", quoted(&machine.glibc)),
        ("PAGE_BYTES", machine.page_bytes.to_string()),
    ]
}

/// A comment on each segment: what it gains.
fn gains(question: &Question) -> Vec<String> {
    let gain = |s: &record::advice::Segment| {
        format!("{:.2} ({:.2} to {:.2}) of the time of {}", s.ratio, s.at_least, s.at_most, s.over)
    };
    question.agreed().map(gain).collect()
}

/// A C header: the fingerprint as macros, and for each question a function from a size to a way, or NULL.
pub fn c_header(advice: &Advice) -> String {
    let mut text = format!(
        "/* Made by pagewise {} from advice of {}. It holds on the machine that the macros name; elsewhere, and where a function\n \
         * returns NULL, keep your default. */\n#ifndef PAGEWISE_ADVICE_CONSTANTS_H\n#define PAGEWISE_ADVICE_CONSTANTS_H\n\n\
         #include <stddef.h>\n#include <stdint.h>\n\n",
        comment(&advice.version),
        comment(&advice.created)
    );
    for (key, value) in machine(advice, c_literal) {
        let _ = writeln!(text, "#define PAGEWISE_ADVICE_{key} {value}");
    }
    for (id, question) in &advice.questions {
        let _ = writeln!(text, "\n/* To {}. */", comment(&question.does));
        let _ = writeln!(text, "static inline const char *pagewise_advice_{}(uint64_t bytes)\n{{", name(id));
        for (segment, gain) in question.agreed().zip(gains(question)) {
            let _ = writeln!(text, "    if (bytes >= {}u && bytes <= {}u)", segment.from, segment.to);
            let _ = writeln!(text, "        return {}; /* {} */", c_literal(&segment.way), comment(&gain));
        }
        if question.agreed().next().is_none() {
            text += "    (void)bytes;\n";
        }
        text += "    return NULL;\n}\n";
    }
    text + "\n#endif\n"
}

/// A Rust module: the fingerprint, and for each question its segments and a constant function from a size to a way.
pub fn rust_module(advice: &Advice) -> String {
    let mut text = format!(
        "//! Made by pagewise {} from advice of {}. It holds on the machine that the constants name; elsewhere, and where a\n\
         //! function returns `None`, keep your default.\n\n",
        comment(&advice.version),
        comment(&advice.created)
    );
    for (key, value) in machine(advice, rust_literal) {
        let kind = if key == "PAGE_BYTES" { "u64" } else { "&str" };
        let _ = writeln!(text, "/// The machine's {}.\npub const {key}: {kind} = {value};", key.to_lowercase());
    }
    for (id, question) in &advice.questions {
        let _ = writeln!(
            text,
            "\n/// To {}.\npub const fn {}(bytes: u64) -> Option<&'static str> {{",
            comment(&question.does),
            name(id)
        );
        text += "    match bytes {\n";
        for (segment, gain) in question.agreed().zip(gains(question)) {
            let _ = writeln!(
                text,
                "        {}..={} => Some({}), // {}",
                segment.from,
                segment.to,
                rust_literal(&segment.way),
                comment(&gain)
            );
        }
        text += "        _ => None,\n    }\n}\n";
    }
    text
}
