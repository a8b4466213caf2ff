//! Functions and lines of a Go program by the table that its runtime needs, which no stripping takes away: that of Go 1.18 and
//! later.

use object::{Object, ObjectSection};

/// First words of tables of this shape.
const MAGIC: [u32; 2] = [0xffff_fff0, 0xffff_fff1];
/// Sections that may hold the table, and those that may hold the runtime's record of the module.
const TABLES: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
const MODULES: [&str; 4] = [".go.module", ".noptrdata", ".data", ".data.rel.ro"];
/// Words of that record: the addresses of the first and behind the last code, and of the text from which offsets count.
const FIRST_CODE: usize = 20;
const CODE_END: usize = 21;
const TEXT: usize = 22;
/// Steps of a function's list of lines; compilers make some hundreds.
const MOST_STEPS: usize = 1 << 16;

/// The table of a program.
pub(super) struct GoTable {
    bytes: Vec<u8>,
    /// Address from which its offsets count.
    text: u64,
    functions: usize,
    quantum: u64,
    /// Places of its parts: names, units, files, lists of lines, functions.
    parts: [usize; 5],
}

/// Function and line of an address.
#[derive(Debug, PartialEq)]
pub(super) struct GoPlace {
    pub function: String,
    pub file: String,
    pub line: u32,
}

impl GoTable {
    /// Nothing where there is none that can be read, or nothing says from where its offsets count.
    pub fn load(elf: &object::File<'_>) -> Option<GoTable> {
        let section = TABLES.iter().find_map(|name| elf.section_by_name(name))?;
        let table = GoTable::new(section.data().ok()?.to_vec())?;
        let address = section.address();
        let text = MODULES.iter().find_map(|name| {
            let data = elf.section_by_name(name)?.data().ok()?;
            table.text_by(data, address)
        })?;
        Some(GoTable { text, ..table })
    }

    /// A table whose offsets count from 0.
    fn new(bytes: Vec<u8>) -> Option<GoTable> {
        let is_known = MAGIC.contains(&half(&bytes, 0)?) && bytes.get(7) == Some(&8);
        let part = |index: usize| usize::try_from(word(&bytes, 32 + 8 * index)?).ok();
        let parts = [part(0)?, part(1)?, part(2)?, part(3)?, part(4)?];
        let functions = usize::try_from(word(&bytes, 8)?).ok()?;
        let quantum = u64::from(*bytes.get(6)?);
        is_known.then_some(GoTable {
            bytes,
            text: 0,
            functions,
            quantum,
            parts,
        })
    }

    /// The address of the text in these data, where they have the record of the module whose table is at this address: its code
    /// begins and ends as the table says.
    fn text_by(&self, data: &[u8], address: u64) -> Option<u64> {
        let (first, end) = (self.entry(0)?, self.entry(self.functions)?);
        (0..data.len() / 8).find_map(|place| {
            let at = |index: usize| word(data, 8 * (place + index));
            let text = at(0).filter(|word| *word == address).and(at(TEXT))?;
            let is_whole = at(FIRST_CODE)?.checked_sub(text)? == first
                && at(CODE_END)?.checked_sub(text)? == end;
            is_whole.then_some(text)
        })
    }

    /// Offset of a function's code; behind the last one stands the end of all.
    fn entry(&self, index: usize) -> Option<u64> {
        let place = self.parts[4].checked_add(index.checked_mul(8)?)?;
        half(&self.bytes, place).map(u64::from)
    }

    /// The function and line at an address.
    pub fn place(&self, address: u64) -> Option<GoPlace> {
        let offset = address.checked_sub(self.text)?;
        let (mut low, mut high) = (0, self.functions);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)? <= offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let index = low.checked_sub(1)?;
        (offset < self.entry(index + 1)?).then_some(())?;
        let place = half(&self.bytes, self.parts[4].checked_add(8 * index + 4)?)?;
        let function = self.parts[4].checked_add(place as usize)?;
        let field = |index: usize| half(&self.bytes, function.checked_add(4 * index)?);
        let within = offset.checked_sub(u64::from(field(0)?))?;
        let name = self.text_at(self.parts[0], field(1)?)?;
        let value = |list: usize| self.value(field(list)?, within);
        let file = value(5).and_then(|file| self.file(field(8)?, file));
        let line = value(6).and_then(|line| u32::try_from(line).ok());
        Some(GoPlace {
            function: name,
            line: line.filter(|_| file.is_some()).unwrap_or_default(),
            file: file.unwrap_or_default(),
        })
    }

    /// The name of a file of a unit, whose files begin at this place of the list of units.
    fn file(&self, unit: u32, file: i64) -> Option<String> {
        let number = usize::try_from(i64::from(unit).checked_add(file)?).ok()?;
        let place = self.parts[1].checked_add(number.checked_mul(4)?)?;
        self.text_at(self.parts[2], half(&self.bytes, place)?)
    }

    /// The text that ends with a zero.
    fn text_at(&self, part: usize, offset: u32) -> Option<String> {
        let rest = self.bytes.get(part.checked_add(offset as usize)?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// The value of a list at an offset within its function: pairs of a change of the value and the bytes of code that have it.
    fn value(&self, list: u32, within: u64) -> Option<i64> {
        let mut rest = self
            .bytes
            .get(self.parts[3].checked_add(list as usize)?..)?;
        let (mut value, mut code) = (-1_i64, 0_u64);
        for step in 0..MOST_STEPS {
            let change = number(&mut rest)?;
            if change == 0 && step > 0 {
                return None;
            }
            let size = (change >> 1) as i64;
            value = value.checked_add(if change & 1 == 1 { !size } else { size })?;
            code = code.checked_add(number(&mut rest)?.checked_mul(self.quantum)?)?;
            if within < code {
                return Some(value);
            }
        }
        None
    }
}

/// The number of 32 bits at most that begins here, seven bits a byte.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::rng::Seeded;

    /// Two functions of 16 and 32 bytes: `f` with lines 7 and 9, `g` with line 3.
    fn table() -> Vec<u8> {
        let names = b"f\0g\0";
        let files = b"a.go\0";
        // File 0 for all code; line 7 for 4 bytes, then 9 for 12; line 3 for 32.
        let lists = [2, 32, 0, 16, 4, 4, 12, 0, 8, 32, 0];
        let parts = [72, 76, 80, 85, 96];
        let mut bytes = 0xffff_fff1_u32.to_le_bytes().to_vec();
        bytes.extend([0, 0, 1, 8]);
        for number in [2, 1, 0] {
            bytes.extend(u64::to_le_bytes(number));
        }
        for part in parts {
            bytes.extend(u64::to_le_bytes(part));
        }
        bytes.extend(names);
        bytes.extend(u32::to_le_bytes(0));
        bytes.extend(files);
        bytes.extend(lists);
        for number in [0, 20, 16, 56, 48] {
            bytes.extend(u32::to_le_bytes(number));
        }
        for (entry, name, lines) in [(0, 0, 3), (16, 2, 8)] {
            for field in [entry, name, 0, 0, 0, 0, lines, 0, 0] {
                bytes.extend(u32::to_le_bytes(field));
            }
        }
        bytes
    }

    #[test]
    fn addresses_have_functions_and_lines() {
        let table = GoTable::new(table()).unwrap();
        let place = |function: &str, line: u32| {
            Some(GoPlace {
                function: function.to_owned(),
                file: "a.go".to_owned(),
                line,
            })
        };
        let places = [0, 3, 4, 15, 16, 47].map(|at| table.place(at));
        let wanted = [("f", 7), ("f", 7), ("f", 9), ("f", 9), ("g", 3), ("g", 3)];
        assert_eq!(places, wanted.map(|(function, line)| place(function, line)));
        assert_eq!(table.place(48), None);
    }

    #[test]
    fn offsets_count_from_where_the_record_of_the_module_says() {
        let table = GoTable::new(table()).unwrap();
        let record = |text: u64| {
            let mut words = [0_u64; 25];
            (words[1], words[1 + FIRST_CODE]) = (0x5000, 0x1000);
            (words[1 + CODE_END], words[1 + TEXT]) = (0x1030, text);
            words.map(u64::to_le_bytes).concat()
        };
        assert_eq!(table.text_by(&record(0x1000), 0x5000), Some(0x1000));
        assert_eq!(table.text_by(&record(0x1008), 0x5000), None);
        assert_eq!(table.text_by(&record(0x1000), 0x5008), None);
    }

    #[test]
    fn changed_tables_are_read_to_an_end() {
        let mut random = Seeded::new(64);
        for _ in 0..20_000 {
            let mut bytes = table();
            for _ in 0..random.below(6) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            bytes.truncate(random.below(bytes.len()) + 1);
            if let Some(table) = GoTable::new(bytes) {
                for address in [0, 5, 20, 47, u64::MAX] {
                    table.place(address);
                }
            }
        }
    }
}
