//! Limits of debug information. Its readers recurse, count as far as they are told and follow any number of references to one
//! place, so a small file could end them or make them work for hours. It is walked once here, iteratively and at a cost
//! in proportion to its size, and used only where it stays within the limits.

use super::binary::Reader;
use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, DW_AT_ranges, DW_AT_stmt_list,
    DW_FORM_implicit_const, DW_TAG_compile_unit, DW_TAG_inlined_subroutine, DW_TAG_skeleton_unit,
    DW_TAG_subprogram, DebugAbbrevOffset, DebugLineOffset, Dwarf, Reader as _, Section, UnitHeader,
    UnitRef,
};
use std::collections::HashSet;

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
        if let (DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) =
            (attribute.name(), attribute.value())
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
    steps.take(header_length(&mut header).ok()??)
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
