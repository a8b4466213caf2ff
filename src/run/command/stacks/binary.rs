//! A program or library of the user's: how its frames are unwound, and the functions and lines of its code.

use framehop::{ExplicitModuleSectionInfo, Module};
use gimli::{EndianArcSlice, NativeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind};
use record::command::CallFrame;
use std::path::{Path, PathBuf};
use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::Arc};

/// Larger files are not opened.
const MOST_BYTES: u64 = 2 << 30;
/// PF_X of elf(5).
const EXECUTABLE: u32 = 1;

type Reader = EndianArcSlice<NativeEndian>;
type Section = Option<(Range<u64>, Arc<[u8]>)>;

#[derive(Default)]
pub(super) struct Binary {
    name: String,
    /// Offset in the file, bytes and address of what is mapped executable.
    segments: Vec<(u64, u64, u64)>,
    eh_frame: Section,
    eh_frame_hdr: Section,
    lines: Option<addr2line::Context<Reader>>,
    /// End and name of each function by its address.
    symbols: BTreeMap<u64, (u64, String)>,
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
        let section = |name: &str| {
            let section = elf.section_by_name(name)?;
            let (start, data) = (section.address(), section.uncompressed_data().ok()?);
            Some((start..start + section.size(), Arc::from(&*data)))
        };
        let code = |segment: &object::Segment<'_, '_>| match segment.flags() {
            SegmentFlags::Elf { p_flags } => p_flags & EXECUTABLE != 0,
            _ => false,
        };
        let place = |segment: object::Segment<'_, '_>| {
            let (offset, bytes) = segment.file_range();
            (offset, bytes, segment.address())
        };
        // Of the names of one address the one that perf takes: few underscores before it, then the longest.
        let rank = |name: &str| {
            (
                name.is_empty(),
                name.len() - name.trim_start_matches('_').len(),
                usize::MAX - name.len(),
            )
        };
        let mut symbols = BTreeMap::new();
        for elf in [Some(&elf), debug.as_ref()].into_iter().flatten() {
            let all = elf.dynamic_symbols().chain(elf.symbols());
            for symbol in all.filter(|s| s.kind() == SymbolKind::Text && s.address() != 0) {
                let end = symbol.address() + symbol.size().max(1);
                let name = symbol
                    .name()
                    .unwrap_or_default()
                    .split('@')
                    .next()
                    .unwrap_or_default();
                let known: &mut (u64, String) = symbols.entry(symbol.address()).or_default();
                if rank(name) < rank(&known.1) {
                    *known = (end, name.to_owned());
                }
            }
        }
        Some(Binary {
            name: Path::new(path).file_name()?.to_string_lossy().into_owned(),
            segments: elf.segments().filter(code).map(place).collect(),
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            lines: lines(debug.as_ref().unwrap_or(&elf)),
            symbols,
        })
    }

    /// The address in the file of what is mapped from an offset on.
    pub fn address_of(&self, offset: u64, bytes: u64) -> u64 {
        let meets = |&&(from, length, _): &&(u64, u64, u64)| {
            from < offset + bytes && offset < from + length
        };
        self.segments
            .iter()
            .find(meets)
            .map_or(offset, |(from, _, address)| {
                (address + offset).wrapping_sub(*from)
            })
    }

    /// The file as it is mapped, for the unwinder.
    pub fn module(&self, at: Range<u64>, bias: u64) -> Module<Arc<[u8]>> {
        let range = |section: &Section| section.as_ref().map(|(range, _)| range.clone());
        let data = |section: &Section| section.as_ref().map(|(_, data)| data.clone());
        let sections = ExplicitModuleSectionInfo {
            eh_frame_svma: range(&self.eh_frame),
            eh_frame: data(&self.eh_frame),
            eh_frame_hdr_svma: range(&self.eh_frame_hdr),
            eh_frame_hdr: data(&self.eh_frame_hdr),
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
            let function = frame
                .function
                .as_ref()
                .and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let location = frame.location.as_ref();
            names.push(CallFrame {
                function: function.unwrap_or_else(|| self.symbol(address)),
                file: location
                    .and_then(|at| at.file)
                    .unwrap_or_default()
                    .to_owned(),
                line: location.and_then(|at| at.line).unwrap_or_default(),
                module: self.name.clone(),
            });
        }
        if names.is_empty() {
            names.push(CallFrame {
                function: self.symbol(address),
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
        readable(name)
    }
}

/// A symbol's name as its language has it.
pub(super) fn readable(name: &str) -> String {
    addr2line::demangle_auto(Cow::from(name), None).into_owned()
}

/// The lines of a file's code; nothing where it carries none.
fn lines(elf: &object::File<'_>) -> Option<addr2line::Context<Reader>> {
    let section = |id: SectionId| {
        let data = elf
            .section_by_name(id.name())
            .and_then(|section| section.uncompressed_data().ok());
        Ok::<_, gimli::Error>(Reader::new(
            Arc::from(&*data.unwrap_or_default()),
            NativeEndian,
        ))
    };
    addr2line::Context::from_dwarf(gimli::Dwarf::load(section).ok()?).ok()
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
