//! A program or library of the user's: how its frames are unwound, and the functions and lines of its code.

use super::bounds::{Reader, is_bounded};
use super::demangle::{cut, demangled};
use super::go_table::GoTable;
use flate2::read::ZlibDecoder;
use framehop::{ExplicitModuleSectionInfo, Module};
use gimli::{NativeEndian, SectionId};
use object::{CompressedData, CompressionFormat};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind};
use record::command::CallFrame;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{cell::Cell, collections::BTreeMap, ops::Range, sync::Arc};
use zstd::stream::read::Decoder as ZstdDecoder;

/// Larger files are not opened.
const MOST_BYTES: u64 = 2 << 30;
/// Limit of the names and files of a binary's frames, in bytes. Their later ones have no name.
const MOST_NAMES: usize = 16 << 20;
/// Bytes that a file's compressed sections may have for each byte of the file: compilers' and linkers' have some four.
const MOST_EXPANDED: u64 = 16;
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
    go: Option<GoTable>,
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
            go: GoTable::load(&elf),
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
        let symbol = self.symbol(address);
        // The C library's debug information has its own names of what programs call.
        if let Some(outermost) = names.last_mut()
            && !symbol.is_empty()
            && underscores(&symbol) < underscores(&outermost.function)
        {
            outermost.function = self.kept(symbol);
        } else if names.is_empty() {
            let go = self.go.as_ref().and_then(|go| go.place(address));
            let (function, file, line) = match go {
                Some(place) if symbol.is_empty() => (place.function, place.file, place.line),
                Some(place) => (symbol, place.file, place.line),
                None => (symbol, String::new(), 0),
            };
            names.push(CallFrame {
                function: self.kept(cut(&function)),
                file: self.kept(cut(&file)),
                line,
                module: self.name.clone(),
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
    (name.is_empty(), underscores(name), usize::MAX - name.len())
}

fn underscores(name: &str) -> usize {
    name.len() - name.trim_start_matches('_').len()
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
    let mut room = SectionRoom {
        stored: bytes as u64,
        expanded: MOST_EXPANDED.saturating_mul(bytes as u64),
    };
    let mut total: u64 = 0;
    let section = |id: SectionId| {
        let section = elf.section_by_name(id.name());
        let data = section.and_then(|section| room.contents(section.compressed_data().ok()?));
        let data = data.unwrap_or_default();
        total += data.len() as u64;
        Ok::<_, gimli::Error>(Reader::new(Arc::from(&*data), NativeEndian))
    };
    let mut dwarf = gimli::Dwarf::load(section).ok()?;
    if is_bounded(&mut dwarf, total) {
        addr2line::Context::from_dwarf(dwarf).ok()
    } else {
        None
    }
}

/// Bytes that the sections of a file may still take.
struct SectionRoom {
    /// Of those that stand in it as they are. Sections that lie over each other are copied, too.
    stored: u64,
    /// Of compressed ones, as they are read.
    expanded: u64,
}

impl SectionRoom {
    /// The contents of a section; nothing where they are more than there is room for, or not as long as they claim to be.
    fn contents<'a>(&mut self, section: CompressedData<'a>) -> Option<Cow<'a, [u8]>> {
        let CompressedData {
            format,
            data,
            uncompressed_size,
        } = section;
        if format == CompressionFormat::None {
            self.stored = self.stored.checked_sub(data.len() as u64)?;
            return Some(Cow::Borrowed(data));
        }
        self.expanded = self.expanded.checked_sub(uncompressed_size)?;
        let most = uncompressed_size.saturating_add(1);
        let mut contents = Vec::new();
        let bytes = match format {
            CompressionFormat::Zlib => ZlibDecoder::new(data).take(most).read_to_end(&mut contents),
            CompressionFormat::Zstandard => ZstdDecoder::new(data)
                .and_then(|decoder| decoder.take(most).read_to_end(&mut contents)),
            _ => return None,
        };
        let is_whole = bytes.is_ok_and(|bytes| bytes as u64 == uncompressed_size);
        is_whole.then_some(Cow::Owned(contents))
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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::ZlibEncoder};
    use std::io::Write;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// What is read of a section that claims so many bytes, in a file that has room for 1000 and 2000.
    fn read(format: CompressionFormat, data: &[u8], uncompressed_size: u64) -> Option<Vec<u8>> {
        let mut room = SectionRoom {
            stored: 1000,
            expanded: 2000,
        };
        let section = CompressedData {
            format,
            data,
            uncompressed_size,
        };
        room.contents(section).map(Cow::into_owned)
    }

    #[test]
    fn compressed_sections_are_read_within_their_room() {
        let bytes: Vec<u8> = (0..1500_u32).map(|n| (n / 7) as u8).collect();
        let packed = [
            (CompressionFormat::Zlib, zlib(&bytes)),
            (
                CompressionFormat::Zstandard,
                zstd::bulk::compress(&bytes, 1).unwrap(),
            ),
        ];
        for (format, data) in packed {
            assert_eq!(read(format, &data, 1500).as_ref(), Some(&bytes));
            // Neither a length that is not its own nor one beyond the room, and nothing that is cut.
            for claimed in [0, 1499, 1501, 2001, u64::MAX] {
                assert_eq!(read(format, &data, claimed), None, "{format:?} {claimed}");
            }
            assert_eq!(read(format, &data[..data.len() / 2], 1500), None);
        }
        let none = |bytes: &[u8]| read(CompressionFormat::None, bytes, bytes.len() as u64);
        assert_eq!(none(&bytes[..1000]).as_deref(), Some(&bytes[..1000]));
        assert_eq!(none(&bytes), None);
        assert_eq!(read(CompressionFormat::Unknown, &bytes, 10), None);
    }
}
