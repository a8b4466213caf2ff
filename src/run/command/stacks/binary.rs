//! A program or library of the user's: how its frames are unwound, and the functions and lines of its code.

use super::bounds::{Reader, is_bounded};
use super::demangle::{cut, demangled};
use framehop::{ExplicitModuleSectionInfo, Module};
use gimli::{NativeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind};
use record::command::CallFrame;
use std::path::{Path, PathBuf};
use std::{cell::Cell, collections::BTreeMap, ops::Range, sync::Arc};

/// Larger files are not opened.
const MOST_BYTES: u64 = 2 << 30;
/// Limit of the names and files of a binary's frames, in bytes. Their later ones have no name.
const MOST_NAMES: usize = 16 << 20;
/// PF_X of elf(5).
const EXECUTABLE: u32 = 1;

/// A part of a file that is mapped.
struct CodeSegment {
    offset: u64,
    bytes: u64,
    address: u64,
}

/// A section of a file, uncompressed.
#[derive(Clone)]
struct SectionData {
    addresses: Range<u64>,
    data: Arc<[u8]>,
}

#[derive(Default)]
pub(super) struct Binary {
    name: String,
    /// Segments that are mapped executable.
    segments: Vec<CodeSegment>,
    eh_frame: Option<SectionData>,
    eh_frame_hdr: Option<SectionData>,
    lines: Option<addr2line::Context<Reader>>,
    /// End and name of each function by its address.
    symbols: BTreeMap<u64, (u64, String)>,
    /// Bytes that names of frames have taken.
    named: Cell<usize>,
}

impl Binary {
    /// Nothing where it cannot be read or is no ELF file.
    pub fn load(path: &str) -> Option<Binary> {
        let bytes = files::read_input(Path::new(path), MOST_BYTES).ok()?;
        let elf = object::File::parse(&*bytes).ok()?;
        let debug_bytes = elf.build_id().ok().flatten().and_then(debug_file);
        let debug = debug_bytes
            .as_ref()
            .and_then(|bytes| object::File::parse(&**bytes).ok());
        let mut symbols = BTreeMap::new();
        add_symbols(&elf, bytes.len(), &mut symbols);
        if let (Some(debug), Some(bytes)) = (&debug, &debug_bytes) {
            add_symbols(debug, bytes.len(), &mut symbols);
        }
        let size = debug_bytes.as_ref().map_or(bytes.len(), Vec::len);
        Some(Binary {
            name: Path::new(path).file_name()?.to_string_lossy().into_owned(),
            segments: elf.segments().filter_map(|s| code_segment(&s)).collect(),
            eh_frame: section(&elf, ".eh_frame"),
            eh_frame_hdr: section(&elf, ".eh_frame_hdr"),
            lines: lines(debug.as_ref().unwrap_or(&elf), size),
            symbols,
            named: Cell::default(),
        })
    }

    /// The address in the file of what is mapped from an offset on.
    pub fn address_of(&self, offset: u64, bytes: u64) -> u64 {
        let segment = self.segments.iter().find(|segment| {
            segment.offset < offset + bytes && offset < segment.offset + segment.bytes
        });
        segment.map_or(offset, |segment| {
            (segment.address + offset).wrapping_sub(segment.offset)
        })
    }

    /// The file as it is mapped, for the unwinder.
    pub fn module(&self, at: Range<u64>, bias: u64) -> Module<Arc<[u8]>> {
        let (frames, header) = (self.eh_frame.as_ref(), self.eh_frame_hdr.as_ref());
        let sections = ExplicitModuleSectionInfo {
            eh_frame_svma: frames.map(|section| section.addresses.clone()),
            eh_frame: frames.map(|section| section.data.clone()),
            eh_frame_hdr_svma: header.map(|section| section.addresses.clone()),
            eh_frame_hdr: header.map(|section| section.data.clone()),
            ..ExplicitModuleSectionInfo::default()
        };
        Module::new(self.name.clone(), at, bias, sections)
    }

    /// The functions at an address, the innermost first; one without a name where nothing covers it.
    pub fn names(&self, address: u64) -> Vec<CallFrame> {
        let mut names = Vec::new();
        let mut frames = self
            .lines
            .as_ref()
            .and_then(|lines| lines.find_frames(address).skip_all_loads().ok());
        while let Some(Ok(Some(frame))) = frames.as_mut().map(|frames| frames.next()) {
            let function = frame.function.as_ref();
            let function = function.and_then(|name| Some(demangled(&name.raw_name().ok()?)));
            let location = frame.location.as_ref();
            names.push(CallFrame {
                function: self.kept(function.unwrap_or_else(|| self.symbol(address))),
                file: self.kept(cut(location.and_then(|at| at.file).unwrap_or_default())),
                line: location.and_then(|at| at.line).unwrap_or_default(),
                module: self.name.clone(),
            });
        }
        if names.is_empty() {
            names.push(CallFrame {
                function: self.kept(self.symbol(address)),
                module: self.name.clone(),
                ..CallFrame::default()
            });
        }
        names
    }

    fn symbol(&self, address: u64) -> String {
        let at = self
            .symbols
            .range(..=address)
            .next_back()
            .filter(|(_, (end, _))| address < *end);
        let name = at.map_or("", |(_, (_, name))| name.as_str());
        demangled(name)
    }

    /// The text; nothing where the frames of this file have taken all that names may take.
    fn kept(&self, text: String) -> String {
        let named = self.named.get() + text.len();
        if named > MOST_NAMES {
            return String::new();
        }
        self.named.set(named);
        text
    }
}

/// The section of this name.
fn section(elf: &object::File<'_>, name: &str) -> Option<SectionData> {
    let section = elf.section_by_name(name)?;
    let (start, data) = (section.address(), section.uncompressed_data().ok()?);
    Some(SectionData {
        addresses: start..start + section.size(),
        data: Arc::from(&*data),
    })
}

/// A segment, if it is mapped executable.
fn code_segment(segment: &object::Segment<'_, '_>) -> Option<CodeSegment> {
    let SegmentFlags::Elf { p_flags } = segment.flags() else {
        return None;
    };
    let (offset, bytes) = segment.file_range();
    (p_flags & EXECUTABLE != 0).then(|| CodeSegment {
        offset,
        bytes,
        address: segment.address(),
    })
}

/// Rank of a name among those of one address, as perf has it: few underscores before it, then the longest. Empty ones are last.
fn rank(name: &str) -> (bool, usize, usize) {
    let underscores = name.len() - name.trim_start_matches('_').len();
    (name.is_empty(), underscores, usize::MAX - name.len())
}

/// Adds the functions of a file of so many bytes. Any number of symbols may share one long name, so all names that are read
/// have twice as many bytes at most.
fn add_symbols(elf: &object::File<'_>, bytes: usize, symbols: &mut BTreeMap<u64, (u64, String)>) {
    let mut left = bytes.saturating_mul(2);
    let listed = elf.dynamic_symbols().chain(elf.symbols());
    for symbol in listed.filter(|s| s.kind() == SymbolKind::Text && s.address() != 0) {
        // A name without an end is looked for through the whole table.
        let Ok(name) = symbol.name_bytes() else { break };
        let Some(rest) = left.checked_sub(name.len()) else {
            break;
        };
        left = rest;
        let end = symbol.address().saturating_add(symbol.size().max(1));
        let name = str::from_utf8(name).unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default();
        let known = symbols.entry(symbol.address()).or_default();
        if rank(name) < rank(&known.1) {
            *known = (end, name.to_owned());
        }
    }
}

/// The lines of the code of a file of so many bytes; nothing where it carries none, or what its reader could not read within
/// limits.
fn lines(elf: &object::File<'_>, bytes: usize) -> Option<addr2line::Context<Reader>> {
    let mut total: u64 = 0;
    let section = |id: SectionId| {
        let data = elf
            .section_by_name(id.name())
            .and_then(|section| section.uncompressed_data().ok())
            .filter(|data| {
                total += data.len() as u64;
                // Sections that lie over each other are copied, too.
                total <= bytes as u64
            });
        Ok::<_, gimli::Error>(Reader::new(
            Arc::from(&*data.unwrap_or_default()),
            NativeEndian,
        ))
    };
    let mut dwarf = gimli::Dwarf::load(section).ok()?;
    if is_bounded(&mut dwarf, total) {
        addr2line::Context::from_dwarf(dwarf).ok()
    } else {
        None
    }
}

/// The separate file of a program's lines, where distributions put it.
fn debug_file(build_id: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    files::read_input(
        &PathBuf::from(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug")),
        MOST_BYTES,
    )
    .ok()
}
