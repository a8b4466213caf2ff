//! A user's shared library, whose functions are called by their names.

use crate::worker::carried;
use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectKind, ObjectSymbol, Symbol, SymbolKind};
use std::fmt::Write as _;
use std::path::Path;

/// C source with the functions of a shared library, for `libmine.so:f,g`.
pub(super) fn source(functions: &str) -> Result<String> {
    let mut text = "#include \"library.h\"\n".to_owned();
    for name in functions.split(',') {
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
        ensure!(
            !name.is_empty() && name.chars().all(sound),
            "{name:?} is not the name of a function"
        );
        writeln!(text, "LIBRARY({name})")?;
    }
    Ok(text)
}

/// An error if another user can put libraries beside this one: the loader takes them first.
pub(super) fn check_beside(library: &Path) -> Result<()> {
    let above = library.parent().unwrap_or(library);
    files::trusted_folder(above).map(drop).with_context(|| {
        format!(
            "{}: libraries beside it would be loaded first; copy it to a folder of yours",
            library.display()
        )
    })
}

/// An error if a file is no library of this machine's (as the carried helper is a program of this machine's), or if one of
/// these is no function of it.
pub(super) fn check(bytes: &[u8], path: &Path, functions: &str) -> Result<()> {
    let path = path.display();
    let machine = |file: &object::File| {
        (
            file.format(),
            file.architecture(),
            file.is_64(),
            file.endianness(),
        )
    };
    let library = object::File::parse(bytes)
        .ok()
        .filter(|file| file.kind() == ObjectKind::Dynamic);
    let Some(library) = library else {
        bail!("{path} is no shared library for this machine")
    };
    // Its bytes are aligned as the crate asks for in memory of their own only.
    if machine(&library) != machine(&object::File::parse(&*carried::HELPER.content())?) {
        let (bits, kind) = (
            if library.is_64() { 64 } else { 32 },
            library.architecture(),
        );
        bail!(
            "{path} is no shared library for this machine: it is one of {bits} bits for {kind:?}"
        );
    }
    let symbols = || {
        library
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition())
    };
    for name in functions.split(',') {
        match symbols()
            .find(|symbol| symbol.name() == Ok(name))
            .map(|symbol| symbol.kind())
        {
            Some(SymbolKind::Data | SymbolKind::Tls) => {
                bail!("{name:?} of {path} is data and no function")
            }
            Some(_) => {}
            None => {
                let is_function = |symbol: &Symbol| symbol.kind() == SymbolKind::Text;
                let names: Vec<&str> = symbols()
                    .filter(is_function)
                    .filter_map(|symbol| symbol.name().ok())
                    .collect();
                let some = names[..names.len().min(8)].join(", ");
                bail!(
                    "there is no function {name:?} in {path}, which has {} functions: {some}",
                    names.len()
                );
            }
        }
    }
    Ok(())
}
