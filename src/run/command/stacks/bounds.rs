//! Limits of debug information. Its readers recurse, count as far as they are told and follow any number of references to one
//! place, so a small file could end them or make them work for hours. It is walked once here, iteratively and at a cost
//! in proportion to its size, and used only where it stays within the limits.

use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, DW_AT_ranges, DW_AT_stmt_list,
    DW_FORM_implicit_const, DW_TAG_compile_unit, DW_TAG_inlined_subroutine, DW_TAG_skeleton_unit,
    DW_TAG_subprogram, DebugAbbrevOffset, DebugLineOffset, Dwarf, EndianArcSlice, NativeEndian,
    Reader as _, Section, UnitHeader, UnitRef,
};
use std::collections::HashSet;

/// Reader of a section of debug information.
pub(super) type Reader = EndianArcSlice<NativeEndian>;

/// Calls that may be inlined into each other; compilers stop at some dozens.
const MOST_INLINED: usize = 256;
/// Entries that may be within each other.
const MOST_DEPTH: isize = 4096;
/// Steps for each byte, and for a file of any size.
const STEPS: (u64, u64) = (4, 1 << 20);

/// True where readers of these sections need a stack, a time and a memory in proportion to their `bytes`.
pub(super) fn is_bounded(dwarf: &mut Dwarf<Reader>, bytes: u64) -> bool {
    let mut steps = Steps(STEPS.0.saturating_mul(bytes).saturating_add(STEPS.1));
    if tables(dwarf, &mut steps).is_none() {
        return false;
    }
    // A table that several units use is read once from here on.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    units(dwarf, &mut steps).is_some()
}

/// Steps that are left.
struct Steps(u64);

impl Steps {
    fn take(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.checked_sub(count as u64)?;
        Some(())
    }
}

/// Counts the tables of abbreviations.
fn tables(dwarf: &Dwarf<Reader>, steps: &mut Steps) -> Option<()> {
    let mut known = HashSet::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let table = header.debug_abbrev_offset();
        if known.insert(table) {
            abbreviations(dwarf, table, steps)?;
        }
    }
    Some(())
}

fn units(dwarf: &Dwarf<Reader>, steps: &mut Steps) -> Option<()> {
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        if let Some(lines) = line_table(dwarf, &header) {
            line_header(dwarf, lines, steps)?;
        }
        if let Ok(unit) = dwarf.unit(header) {
            entries(unit.unit_ref(dwarf), steps)?;
        }
    }
    Some(())
}

/// Counts the bytes of a table of abbreviations (DWARF 5, 7.5.3).
fn abbreviations(
    dwarf: &Dwarf<Reader>,
    table: DebugAbbrevOffset<usize>,
    steps: &mut Steps,
) -> Option<()> {
    let mut table_reader = dwarf.debug_abbrev.reader().clone();
    if table_reader.skip(table.0).is_err() {
        return Some(());
    }
    let before = table_reader.len();
    let _ = read_abbreviations(&mut table_reader);
    steps.take(before - table_reader.len())
}

fn read_abbreviations(table: &mut Reader) -> gimli::Result<()> {
    while table.read_uleb128()? != 0 {
        let (_tag, _has_children) = (table.read_uleb128()?, table.read_u8()?);
        loop {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if form == u64::from(DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    Ok(())
}

/// Place of a unit's line table.
fn line_table(dwarf: &Dwarf<Reader>, header: &UnitHeader<Reader>) -> Option<DebugLineOffset> {
    let abbreviations = dwarf.abbreviations(header).ok()?;
    let mut entries = header.entries_raw(&abbreviations, None).ok()?;
    let root = entries.read_abbreviation().ok()??;
    for attribute in root.attributes() {
        let attribute = entries.read_attribute(*attribute).ok()?;
        if let AttributeValue::DebugLineRef(offset) = attribute.value()
            && attribute.name() == DW_AT_stmt_list
        {
            return Some(offset);
        }
    }
    None
}

/// Counts the bytes of a line table's header. Its lists of folders and files have a number of entries, whose format may have
/// no bytes at all (DWARF 5, 6.2.4).
fn line_header(
    dwarf: &Dwarf<Reader>,
    offset: DebugLineOffset<usize>,
    steps: &mut Steps,
) -> Option<()> {
    let mut header = dwarf.debug_line.reader().clone();
    if header.skip(offset.0).is_err() {
        return Some(());
    }
    match header_length(&mut header) {
        Ok(length) => steps.take(length?),
        // Readers end at an error as this one does.
        Err(_) => Some(()),
    }
}

/// Bytes of a header; nothing where a list has no end.
fn header_length(header: &mut Reader) -> gimli::Result<Option<usize>> {
    let (_, format) = header.read_initial_length()?;
    let version = header.read_u16()?;
    if version >= 5 {
        header.skip(2)?;
    }
    let length = header.read_length(format)?;
    let mut header = header.split(length.min(header.len()))?;
    if version < 5 {
        return Ok(Some(length));
    }
    header.skip(5)?;
    let opcodes = header.read_u8()?;
    header.skip(usize::from(opcodes).saturating_sub(1))?;
    let size = usize::from(format.word_size());
    for _list in ["folders", "files"] {
        let count = header.read_u8()?;
        let mut forms = Vec::new();
        for _ in 0..count {
            header.read_uleb128()?;
            forms.push(header.read_uleb128()?);
        }
        for _ in 0..header.read_uleb128()? {
            let before = header.len();
            for form in &forms {
                if !skip_form(&mut header, *form, size)? {
                    return Ok(None);
                }
            }
            if header.len() == before {
                return Ok(None);
            }
        }
    }
    Ok(Some(length))
}

/// Skips a value of a form that line tables have; false for any other form.
fn skip_form(header: &mut Reader, form: u64, offset_size: usize) -> gimli::Result<bool> {
    let bytes = match form {
        // string
        0x08 => {
            header.read_null_terminated_slice()?;
            0
        }
        // block
        0x09 => header.read_uleb128()? as usize,
        // data1, data2, data4, data8, data16
        0x0b => 1,
        0x05 => 2,
        0x06 => 4,
        0x07 => 8,
        0x1e => 16,
        // udata, strx
        0x0f | 0x1a => {
            header.read_uleb128()?;
            0
        }
        // strp, line_strp, sec_offset
        0x0e | 0x1f | 0x17 => offset_size,
        _ => return Ok(false),
    };
    header.skip(bytes)?;
    Ok(true)
}

/// Walks the entries of a unit: their depth, their attributes and the lists of ranges that they name.
fn entries(unit: UnitRef<'_, Reader>, steps: &mut Steps) -> Option<()> {
    let Ok(mut entries) = unit.entries_raw(None) else {
        return Some(());
    };
    let mut inlined: Vec<isize> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        steps.take(1)?;
        // Readers end at an error as this walk does.
        let Ok(entry) = entries.read_abbreviation() else {
            break;
        };
        let Some(entry) = entry else { continue };
        if depth > MOST_DEPTH {
            return None;
        }
        steps.take(entry.attributes().len())?;
        if entry.tag() == DW_TAG_inlined_subroutine {
            while inlined.last().is_some_and(|outer| *outer >= depth) {
                inlined.pop();
            }
            inlined.push(depth);
            if inlined.len() > MOST_INLINED {
                return None;
            }
        }
        let has_code = [
            DW_TAG_inlined_subroutine,
            DW_TAG_subprogram,
            DW_TAG_compile_unit,
            DW_TAG_skeleton_unit,
        ]
        .contains(&entry.tag());
        if !has_code {
            if entries.skip_attributes(entry.attributes()).is_err() {
                break;
            }
            continue;
        }
        for attribute in entry.attributes() {
            let Ok(attribute) = entries.read_attribute(*attribute) else {
                return Some(());
            };
            if attribute.name() == DW_AT_ranges {
                ranges(unit, attribute.value(), steps)?;
            }
        }
    }
    Some(())
}

/// Counts a list of ranges, which any number of entries may name.
fn ranges(
    unit: UnitRef<'_, Reader>,
    list: AttributeValue<Reader>,
    steps: &mut Steps,
) -> Option<()> {
    let list = unit.attr_ranges_offset(list).ok().flatten();
    let Some(Ok(mut ranges)) = list.map(|offset| unit.ranges(offset)) else {
        return Some(());
    };
    while let Ok(Some(_)) = ranges.next() {
        steps.take(4)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::{NativeEndian, SectionId};
    use stats::rng::Seeded;
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use super::super::cpu_time;

    type Sections = BTreeMap<&'static str, Vec<u8>>;

    /// Root of a unit; root of a unit with a line table at 0.
    const ROOTS: [&[u8]; 2] = [&[1], &[5, 0, 0, 0, 0]];

    /// A unit of DWARF 4 with these entries after its root. Abbreviations: 2 is a function by its addresses, 3 an inlined call,
    /// 4 a function by a list of ranges at 0.
    fn unit(root: &[u8], entries: &[u8]) -> Sections {
        let abbreviations = [
            &[1, 0x11, 1, 0, 0][..],
            &[2, 0x2e, 1, 0x11, 0x01, 0x12, 0x07, 0, 0],
            &[3, 0x1d, 1, 0, 0],
            &[4, 0x2e, 0, 0x55, 0x17, 0, 0],
            &[5, 0x11, 1, 0x10, 0x17, 0, 0],
            &[0],
        ]
        .concat();
        let length = (7 + root.len() + entries.len()) as u32;
        let mut info = length.to_ne_bytes().to_vec();
        info.extend(4u16.to_ne_bytes());
        info.extend([0, 0, 0, 0, 8]);
        info.extend(root);
        info.extend(entries);
        Sections::from([(".debug_abbrev", abbreviations), (".debug_info", info)])
    }

    fn nested(depth: usize) -> Sections {
        let mut entries = vec![2];
        entries.extend(0x1000u64.to_ne_bytes());
        entries.extend(0x1000u64.to_ne_bytes());
        entries.extend(vec![3; depth]);
        entries.extend(vec![0; depth + 2]);
        unit(ROOTS[0], &entries)
    }

    fn dwarf(sections: &Sections) -> (Dwarf<Reader>, u64) {
        let load = |id: SectionId| {
            let data = sections.get(id.name()).cloned().unwrap_or_default();
            Ok::<_, gimli::Error>(Reader::new(data.into(), NativeEndian))
        };
        let bytes = sections.values().map(|data| data.len() as u64).sum();
        (Dwarf::load(load).unwrap(), bytes)
    }

    fn bounded(sections: &Sections) -> bool {
        let (mut dwarf, bytes) = dwarf(sections);
        let began = cpu_time();
        let is_bounded = is_bounded(&mut dwarf, bytes);
        assert!(cpu_time() - began < Duration::from_secs(1));
        is_bounded
    }

    /// Ranges of a list, whatever is read afterwards.
    fn with_ranges(functions: usize, ranges: u64) -> Sections {
        let mut sections = unit(ROOTS[0], &[4, 0, 0, 0, 0].repeat(functions));
        let list = (1..=ranges).chain([0, 0]).flat_map(|at| {
            let end = if at == 0 { 0 } else { at + 1 };
            [at, end].map(u64::to_ne_bytes)
        });
        sections.insert(".debug_ranges", list.flatten().collect());
        sections
    }

    /// A line table of DWARF 5 whose files are counted, and have no bytes.
    fn with_endless_files() -> Sections {
        let mut sections = unit(ROOTS[1], &[0]);
        let rest = [
            1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0x19, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
        ];
        let mut lines = ((rest.len() + 8) as u32).to_ne_bytes().to_vec();
        lines.extend(5u16.to_ne_bytes());
        lines.extend([8, 0]);
        lines.extend((rest.len() as u32).to_ne_bytes());
        lines.extend(rest);
        sections.insert(".debug_line", lines);
        sections
    }

    #[test]
    fn debug_information_that_would_end_its_reader_is_not_used() {
        assert!(bounded(&nested(100)));
        assert!(!bounded(&nested(1000)));
        assert!(!bounded(&nested(10_000_000)));
        assert!(bounded(&with_ranges(10, 1000)));
        assert!(!bounded(&with_ranges(20_000, 20_000)));
        assert!(!bounded(&with_endless_files()));
    }

    #[test]
    fn changed_debug_information_is_read_in_time_or_not_at_all() {
        let seconds = std::env::var("PAGEWISE_FUZZ_S")
            .ok()
            .and_then(|text| text.parse().ok());
        let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(1));
        let seeds = [
            nested(100),
            nested(300),
            with_ranges(10, 100),
            with_endless_files(),
        ];
        let mut random = Seeded::new(62);
        while Instant::now() < end {
            let mut sections = seeds[random.below(seeds.len())].clone();
            for data in sections.values_mut() {
                for _ in 0..random.below(6) {
                    let at = random.below(data.len());
                    data[at] = random.below(256) as u8;
                }
            }
            let began = cpu_time();
            let (mut dwarf, bytes) = dwarf(&sections);
            if is_bounded(&mut dwarf, bytes)
                && let Ok(lines) = addr2line::Context::from_dwarf(dwarf)
            {
                for address in [0, 1, 0x1000, 0x1800, u64::MAX - 1] {
                    let frames = lines.find_frames(address).skip_all_loads();
                    let Ok(mut frames) = frames else { continue };
                    while let Ok(Some(_)) = frames.next() {}
                }
            }
            assert!(cpu_time() - began < Duration::from_secs(1), "{sections:?}");
        }
    }
}
