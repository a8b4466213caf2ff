//! Code that a runtime has made, by the lines of this user's /tmp/perf-PID.map: start, size and name.

use super::demangle::demangled;
use files::{Access, Folder, Ownership};
use record::command::CallFrame;
use std::{ops::Range, path::Path};

/// Limit of a list of generated code, in bytes. It is in memory once, with 24 bytes for each function.
const MOST_BYTES: u64 = 32 << 20;

/// The functions of a process's generated code.
#[derive(Default)]
pub(super) struct Generated {
    text: String,
    /// By their addresses; of two at one address the later line holds.
    functions: Vec<Function>,
}

struct Function {
    start: u64,
    end: u64,
    /// Place of its name in the text, which a limit keeps short.
    name: Range<u32>,
}

impl Generated {
    /// Code of a process; none where the list is another user's, too long, or not there.
    pub(super) fn by(pid: i32) -> Generated {
        let opened = Folder::open(Path::new("/tmp"))
            .and_then(|tmp| tmp.read_open(format!("perf-{pid}.map"), MOST_BYTES));
        let trusted = opened.ok().filter(|(file, _)| {
            Access::of_descriptor(file).is_ok_and(|a| a.ownership() == Ownership::Own)
        });
        trusted.map_or_else(Generated::default, |(_, bytes)| Generated::read(bytes))
    }

    fn read(bytes: Vec<u8>) -> Generated {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut functions: Vec<Function> = Vec::new();
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            functions.extend(function(line.trim_end_matches(['\r', '\n']), from));
            from += line.len();
        }
        // Stable, so that the later of two lines is the last of them.
        functions.sort_by_key(|function| function.start);
        Generated { text, functions }
    }

    fn symbol(&self, address: u64) -> &str {
        let after = self
            .functions
            .partition_point(|function| function.start <= address);
        let function = after.checked_sub(1).map(|last| &self.functions[last]);
        function
            .filter(|function| address < function.end)
            .and_then(|Function { name, .. }| self.text.get(name.start as usize..name.end as usize))
            .unwrap_or_default()
    }

    /// The function at an address; one without a name where nothing covers it.
    pub(super) fn name(&self, address: u64) -> CallFrame {
        CallFrame {
            function: demangled(self.symbol(address)),
            ..CallFrame::default()
        }
    }

    /// True for CPython's trampolines, which have no rule of unwinding.
    pub(super) fn is_trampoline(&self, address: u64) -> bool {
        self.symbol(address).starts_with("py::")
    }
}

/// The function of a line that begins at a byte of the text.
fn function(line: &str, from: usize) -> Option<Function> {
    let (start, rest) = line.split_once(' ')?;
    let (bytes, name) = rest.split_once(' ')?;
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let start = hex(start)?;
    let name_end = from + line.len();
    Some(Function {
        start,
        end: start.checked_add(hex(bytes)?)?,
        name: u32::try_from(name_end - name.len()).ok()?..u32::try_from(name_end).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_give_names_to_addresses_and_other_lines_give_none() {
        let text = "7f00 10 py::main:/a b.py\nno line\n0x7f10 8 later\r\n10 5 first\n10 4 second\nffffffffffffffff 9 beyond\n";
        let code = Generated::read([text.as_bytes(), b"20 4 \xff"].concat());
        let names = [0x7f00, 0x7f0f, 0x7f10, 0x7f18, 0x12, 0x14, 0x20].map(|at| code.symbol(at));
        assert_eq!(
            names,
            [
                "py::main:/a b.py",
                "py::main:/a b.py",
                "later",
                "",
                "second",
                "",
                "\u{fffd}"
            ]
        );
        assert!(code.is_trampoline(0x7f01) && !code.is_trampoline(0x7f11));
    }

    /// A line costs its bytes and the place of one function, however many there are.
    #[test]
    fn a_list_is_held_once() {
        let lines = (0..50_000).map(|n| format!("{:x} 10 f{n}\n", n * 16));
        let text: String = lines.collect();
        let code = Generated::read(text.clone().into_bytes());
        assert_eq!(
            (code.text.len(), code.functions.len()),
            (text.len(), 50_000)
        );
        assert_eq!(size_of::<Function>(), 24);
        assert_eq!(code.symbol(16 * 49_999 + 3), "f49999");
    }
}
