//! Effects of the user's own file, and cells that cannot or may not be measured here.

use super::wish::Wish;
use anyhow::{Context, Result, bail};
use files::{EntryKind, Folder};
use record::cell::{Cell, Selector};
use record::concern::{Bound, COLD, Concern, DISK, DROPPED, SLOWS, TMPFS};
use record::outcome::{Cause, Outcome, Status};
use record::{experiment::Experiment, plan::PlannedCell, sizes};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The value of a key that concerns a file which stands for a generated capture file.
pub const CAPTURE: &str = "capture";
/// First bytes of pcap files: both byte orders, microseconds and nanoseconds (pcap-savefile(5)).
const PCAP_MAGICS: [[u8; 4]; 4] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xa1, 0xb2, 0x3c, 0x4d],
];

/// A file of the user's own.
struct GivenFile {
    path: PathBuf,
    bytes: u64,
    in_memory: bool,
    is_capture: bool,
}

impl GivenFile {
    fn look(key: &str, path: &Path, size: &str) -> Result<GivenFile> {
        let named = || format!("{key}={}", path.display());
        let path = path.canonicalize().with_context(named)?;
        let file = files::open_input(&path).map_err(|error| match error.kind() {
            ErrorKind::IsADirectory => anyhow::anyhow!(
                "{key}={} is a directory; {}",
                path.display(),
                many_files(&path, size)
            ),
            ErrorKind::InvalidInput => {
                anyhow::anyhow!(
                    "{key}={}: {}; give a regular file, which can be read twice alike",
                    path.display(),
                    error.cause()
                )
            }
            _ => anyhow::Error::from(error).context(named()),
        })?;
        let bytes = file.metadata().with_context(named)?.len();
        if bytes == 0 {
            bail!(
                "{key}={} is empty: there is nothing to read; give a regular file",
                path.display()
            );
        }
        let mut start = Vec::new();
        file.take(4).read_to_end(&mut start).with_context(named)?;
        let is_capture = PCAP_MAGICS.iter().any(|magic| start == magic);
        Ok(GivenFile {
            bytes,
            in_memory: lies_in_memory(&path),
            is_capture,
            path,
        })
    }

    /// Values of what the file settles: its size, its place, and what can be done with what is in it.
    fn settles(&self, readers: &[&Experiment]) -> [(Concern, Option<String>); 3] {
        let place = if self.in_memory { TMPFS } else { DISK };
        let content = readers.iter().find_map(|e| {
            let key = e.key(Concern::FileContent)?;
            Some(e.parameters[key].values.first().cloned())
        });
        // What can be done with any file, unless it is a capture.
        let content = content.flatten().filter(|_| !self.is_capture);
        [
            (Concern::FileSize, Some(self.bytes.to_string())),
            (Concern::FilePlace, Some(place.to_owned())),
            (Concern::FileContent, content),
        ]
    }
}

/// The question about many small files, with the number and the median of the sizes below a folder; `size` is its key.
fn many_files(folder: &Path, size: &str) -> String {
    const MOST: usize = 10_000;
    let (mut sizes, mut folders): (Vec<u64>, _) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop().filter(|_| sizes.len() < MOST) {
        for entry in Folder::open(&folder)
            .and_then(|f| f.entries())
            .unwrap_or_default()
        {
            match entry.kind {
                EntryKind::File => sizes.push(entry.bytes),
                EntryKind::Folder => folders.push(folder.join(entry.name)),
                _ => {}
            }
        }
    }
    sizes.sort_unstable();
    let files = sizes.len().min(MOST);
    let Some(median) = sizes.get(sizes.len() / 2) else {
        return "it holds no file".to_owned();
    };
    let pages = median.div_ceil(4096).clamp(1, 64);
    let question = format!(
        "pagewise run files --set files={files} --set {size}={}KiB",
        4 * pages
    );
    format!("give one file, or ask about {files} files of its median size: {question}")
}

/// Tells whether a file's pages are its storage (tmpfs, ramfs): then it can never be cold.
fn lies_in_memory(path: &Path) -> bool {
    const TMPFS: u32 = 0x0102_1994;
    const RAMFS: u32 = 0x8584_58f6;
    rustix::fs::statfs(path).is_ok_and(|s| [TMPFS, RAMFS].contains(&(s.f_type as u32)))
}

/// Adds to a wish what the user's own file settles: its size, its place, and what can be done with what is in it.
pub fn complete(wish: &mut Wish, experiments: &[Experiment]) -> Result<()> {
    write_bounds_in_bytes(wish, experiments)?;
    let file = wish
        .settings
        .iter_mut()
        .find(|(key, _)| concerns(&wish.selectors, experiments, key, Concern::File));
    let Some((key, values)) = file else {
        return Ok(());
    };
    let [named] = &mut values[..] else {
        return Ok(());
    };
    if [CAPTURE, "all"].contains(&named.as_str()) {
        return Ok(());
    }
    let readers: Vec<&Experiment> = experiments
        .iter()
        .filter(|e| e.concern_of(key) == Some(Concern::File))
        .collect();
    check_reads(&wish.selectors, &readers, key)?;
    let size_key = readers
        .iter()
        .find_map(|e| e.key(Concern::FileSize))
        .unwrap_or_default();
    let file = GivenFile::look(key, Path::new(named), size_key)?;
    *named = file
        .path
        .to_str()
        .with_context(|| format!("{key}=: the path is not UTF-8"))?
        .to_owned();
    check_sizes(wish, size_key, &file)?;
    for (concern, value) in file.settles(&readers) {
        let key = readers.iter().find_map(|e| e.key(concern));
        let (Some(key), Some(value)) = (key, value) else {
            continue;
        };
        let given = wish.settings.iter().find(|(set, _)| set == key);
        match given {
            None => wish.settings.push((key.to_owned(), vec![value])),
            Some((_, places)) if concern == Concern::FilePlace && *places != [&*value] => bail!(
                "{key}={}, but {} is on {value}: {key} is of the generated file",
                places.join(","),
                file.path.display()
            ),
            Some(_) => {}
        }
    }
    Ok(())
}

/// True if a key concerns this: by the selected experiments that have it, which may be a user's, otherwise by any.
fn concerns(
    selectors: &[Selector],
    experiments: &[Experiment],
    key: &str,
    concern: Concern,
) -> bool {
    let is_selected = |e: &&Experiment| selectors.iter().any(|s| s.experiment == e.name);
    let mut having = experiments
        .iter()
        .filter(is_selected)
        .filter(|e| e.parameters.contains_key(key))
        .peekable();
    if having.peek().is_some() {
        return having.any(|e| e.concern_of(key) == Some(concern));
    }
    experiments
        .iter()
        .any(|e| e.concern_of(key) == Some(concern))
}

/// Writes bounds of memory in bytes, as a plan has them.
fn write_bounds_in_bytes(wish: &mut Wish, experiments: &[Experiment]) -> Result<()> {
    for (key, values) in &mut wish.settings {
        if !concerns(&wish.selectors, experiments, key, Concern::MemoryBound) {
            continue;
        }
        for value in values {
            if value != "all" {
                *value = bound_in_bytes(key, value)?;
            }
        }
    }
    Ok(())
}

/// A bound of memory in bytes, as a plan has it; other values stay as they are.
pub(super) fn bound_in_bytes(key: &str, value: &str) -> Result<String> {
    if value == "unbounded" {
        return Ok(value.to_owned());
    }
    let size = value.strip_prefix(SLOWS);
    let bytes = sizes::parse_size(size.unwrap_or(value)).with_context(|| key.to_owned())?;
    Ok(format!("{}{bytes}", size.map_or("", |_| SLOWS)))
}

/// An error if a file is given to experiments that read none.
fn check_reads(selectors: &[Selector], readers: &[&Experiment], key: &str) -> Result<()> {
    let known: Vec<&str> = readers.iter().map(|e| e.name.as_str()).collect();
    let mut selected = selectors.iter();
    if selectors.is_empty() || !selected.all(|s| known.contains(&s.experiment.as_str())) {
        bail!(
            "{key}= says what to read, so name an experiment that reads a file: {}",
            known.join(", ")
        );
    }
    Ok(())
}

/// An error if a file is smaller than a size of the wish.
fn check_sizes(wish: &Wish, key: &str, file: &GivenFile) -> Result<()> {
    let sizes = wish.settings.iter().find(|(set, _)| set == key);
    for size in sizes.iter().flat_map(|(_, sizes)| sizes) {
        if sizes::parse_size(size).with_context(|| key.to_owned())? > file.bytes {
            bail!(
                "{key}={size}, but {} has only {} bytes",
                file.path.display(),
                file.bytes
            );
        }
    }
    Ok(())
}

/// Refuses what cannot be, or may not be done here.
pub fn settle(cells: &mut [PlannedCell], experiments: &[Experiment], allow_system_changes: bool) {
    for planned in cells.iter_mut().filter(|p| p.outcome.is_none()) {
        let experiment = experiments
            .iter()
            .find(|e| e.name == planned.cell.experiment);
        let cause = experiment.and_then(|e| refusal(e, &planned.cell, allow_system_changes));
        planned.outcome = cause.map(|cause| Outcome::because(Status::Refused, cause));
    }
}

fn is_bound(value: &str) -> bool {
    Bound::parse(value).is_some()
}

/// The cause for which a cell cannot be, or may not be measured here.
fn refusal(experiment: &Experiment, cell: &Cell, allow_system_changes: bool) -> Option<Cause> {
    let value = |concern| experiment.value(cell, concern);
    let key = |concern| experiment.key(concern).unwrap_or_default();
    let (cache, memory) = (key(Concern::PageCache), key(Concern::MemoryBound));
    let cold = value(Concern::PageCache).is_some_and(|c| [COLD, DROPPED].contains(&c));
    let in_memory = value(Concern::FilePlace) == Some(TMPFS);
    let forbidden = cell.parameters.iter().find(|(key, value)| {
        !allow_system_changes
            && experiment
                .parameters
                .get(*key)
                .is_some_and(|p| p.system_changes.contains(value))
    });
    if let Some((key, value)) = forbidden {
        return Some(Cause::MadeValue {
            key: key.clone(),
            value: value.clone(),
        });
    }
    if in_memory && cold {
        return Some(Cause::ColdTmpfs);
    }
    if value(Concern::PageCache) == Some(DROPPED) && !allow_system_changes {
        return Some(Cause::DroppedCache {
            key: cache.to_owned(),
            value: DROPPED.to_owned(),
        });
    }
    if !value(Concern::MemoryBound).is_some_and(is_bound) {
        return None;
    }
    if in_memory {
        return Some(Cause::BoundedTmpfs {
            key: memory.to_owned(),
        });
    }
    if !cold && experiment.key(Concern::PageCache).is_some() {
        return Some(Cause::BoundedWarm {
            key: cache.to_owned(),
            value: COLD.to_owned(),
        });
    }
    (!allow_system_changes).then(|| Cause::NeedsCgroup {
        key: memory.to_owned(),
    })
}

/// Skips readers that take no memory bound where nothing but bounded ones were asked for: they would have all of memory, and
/// stand beside others that may not.
pub fn settle_unbounded(cells: &mut [PlannedCell], experiments: &[Experiment], wish: &Wish) {
    for planned in cells.iter_mut().filter(|p| p.outcome.is_none()) {
        let Some(experiment) = experiments
            .iter()
            .find(|e| e.name == planned.cell.experiment)
        else {
            continue;
        };
        let key = experiment.key(Concern::MemoryBound);
        let wished = key.and_then(|key| wish.settings.iter().find(|(wished, _)| wished == key));
        let only_bounded =
            wished.is_some_and(|(_, values)| values.iter().all(|value| is_bound(value)));
        let reads_file = experiment.value(&planned.cell, Concern::File).is_some();
        let bound = experiment.value(&planned.cell, Concern::MemoryBound);
        if only_bounded && reads_file && bound.is_none() {
            planned.outcome = Some(Outcome::because(Status::Skipped, Cause::Unbounded));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use record::cell::Selector;
    use record::experiment::ParameterList;

    use super::*;
    use std::fs;

    fn wish(settings: &[(&str, &str)]) -> Wish {
        Wish {
            settings: settings
                .iter()
                .map(|(k, v)| ((*k).to_owned(), vec![(*v).to_owned()]))
                .collect(),
            cpus: 1,
            page_bytes: 4096,
            ..Wish::new(
                vec![Selector::parse("read").unwrap()],
                ParameterList::Default,
            )
        }
    }

    fn completed(settings: &[(&str, &str)]) -> Result<BTreeMap<String, String>> {
        let mut wish = wish(settings);
        complete(&mut wish, &crate::plan::catalog::experiments(None).unwrap())?;
        Ok(wish
            .settings
            .into_iter()
            .map(|(k, v)| (k, v.join(",")))
            .collect())
    }

    #[test]
    fn an_own_file_settles_its_size_and_what_can_be_done_with_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("own");
        fs::write(&path, [7; 5000]).unwrap();
        let settled = completed(&[("file", path.to_str().unwrap())]).unwrap();
        assert_eq!(
            (settled["bytes"].as_str(), settled["consume"].as_str()),
            ("5000", "sum")
        );
        fs::write(&path, [0xd4, 0xc3, 0xb2, 0xa1, 0, 0]).unwrap();
        assert!(
            !completed(&[("file", path.to_str().unwrap())])
                .unwrap()
                .contains_key("consume")
        );
        let kept = completed(&[
            ("file", path.to_str().unwrap()),
            ("consume", "none"),
            ("bytes", "5"),
        ])
        .unwrap();
        assert_eq!(
            (kept["bytes"].as_str(), kept["consume"].as_str()),
            ("5", "none")
        );
    }

    #[test]
    fn files_that_cannot_be_read_twice_alike_are_named() {
        let place = tempfile::tempdir().unwrap();
        let empty = place.path().join("empty");
        fs::write(&empty, "").unwrap();
        let error = |path: &Path| {
            format!(
                "{:#}",
                completed(&[("file", path.to_str().unwrap())]).unwrap_err()
            )
        };
        assert!(error(&empty).contains("is empty"), "{}", error(&empty));
        assert!(error(place.path()).contains("is a directory"));
        assert!(error(Path::new("/dev/null")).contains("is a device"));
        assert!(error(&place.path().join("nowhere")).contains("No such file"));
        fs::write(&empty, "abc").unwrap();
        let longer = completed(&[("file", empty.to_str().unwrap()), ("bytes", "4")])
            .unwrap_err()
            .to_string();
        assert!(longer.contains("has only 3 bytes"), "{longer}");
    }

    #[test]
    fn a_memory_bound_is_told_in_plain_bytes() {
        assert_eq!(
            completed(&[("memory", "64MiB")]).unwrap()["memory"],
            "67108864"
        );
        assert_eq!(
            completed(&[("memory", "unbounded")]).unwrap()["memory"],
            "unbounded"
        );
        assert!(completed(&[("memory", "much")]).is_err());
    }
}
