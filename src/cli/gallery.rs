//! `pagewise gallery`: shared runs of many machines as a static site, and the check of files that strangers send.

use super::output::{print, print_document, print_json};
use super::share::{check, is_shared};
use crate::machine::threads::{MOST_READERS, side_by_side};
use crate::plan::catalog;
use anyhow::{Result, bail};
use clap::Args;
use files::Folder;
use judge::sets::gallery::{SharedFile, gather};
use record::gallery::{FrontPicture, Gallery, RefusedFile, usual_values};
use record::json::ToJson;
use record::shared::{BuiltIn, MOST_PACKED, SharedRun};
use report::gallery::Labels;
use std::path::{Path, PathBuf};

/// Picture of the front page.
const PICTURE: &str = include_str!("../../gallery/front.toml");
/// Files of a gallery; a site of more opens in no browser.
const MOST_FILES: usize = 5000;

#[derive(Debug, Args)]
pub(super) struct GalleryArgs {
    /// A folder of shared files, or shared files.
    #[arg(required = true, value_name = "FOLDER|FILE")]
    places: Vec<PathBuf>,
    /// Write the site to this folder: pages that need no network.
    #[arg(long, value_name = "SITE", required_unless_present = "check")]
    html: Option<PathBuf>,
    /// Check the files alone: seal, shape, privacy, and whether the figures can be right. Exit with 3 if any is refused.
    #[arg(long, conflicts_with = "html")]
    check: bool,
    /// Print the index as JSON (crates/record/schema/gallery.schema.json).
    #[arg(long)]
    json: bool,
    /// Replace the pages of a site that is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn gallery(arguments: &GalleryArgs) -> Result<u8> {
    if let Some(site) = arguments.html.as_ref().filter(|_| !arguments.force) {
        Folder::can_be_fresh(site)?;
    }
    let built_in = catalog::built_in()?;
    let paths = paths(&arguments.places)?;
    let (gallery, files) = gathered(&paths, &built_in);
    if let Some(site) = &arguments.html {
        if files.is_empty() {
            bail!("none of these files is a shared run: a gallery needs one at least");
        }
        let runs: Vec<&SharedRun> = files.iter().map(|file| &file.run).collect();
        write_site(site, arguments.force, &gallery, &runs, &built_in)?;
    }
    if arguments.json {
        print_json(&gallery.to_json()?)?;
    } else {
        print_document(&report::gallery::checked(&gallery))?;
        if let Some(site) = &arguments.html {
            let front = site.join("index.html");
            print(&format!("The site is {}\n", front.display()))?;
        }
    }
    Ok(if gallery.refused.is_empty() { 0 } else { 3 })
}

/// Shared files of these places, each once. What a folder holds besides is none of the gallery's.
fn paths(places: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for place in places {
        if !place.is_dir() {
            paths.push(place.clone());
            continue;
        }
        let folder = Folder::open(place)?;
        let mut names: Vec<String> = folder
            .names()?
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|name| is_shared(name))
            .collect();
        names.sort();
        paths.extend(names.iter().map(|name| place.join(name)));
    }
    if paths.len() > MOST_FILES {
        bail!(
            "a gallery has at most {MOST_FILES} files, and here are {}",
            paths.len()
        );
    }
    Ok(paths)
}

fn gathered(paths: &[PathBuf], built_in: &BuiltIn) -> (Gallery, Vec<SharedFile>) {
    let opened = side_by_side(paths, MOST_READERS, |path| {
        let packed = files::read_input(path, MOST_PACKED)?;
        check(&packed, built_in)
    });
    let (mut shared, mut refused) = (Vec::new(), Vec::new());
    for (path, run) in paths.iter().zip(opened) {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        match run {
            Ok(run) => shared.push(SharedFile { name, run }),
            Err(error) => refused.push(RefusedFile {
                file: name,
                reason: format!("{error:#}"),
            }),
        }
    }
    gather(shared, refused, usual_values(&built_in.experiments))
}

fn write_site(
    site: &Path,
    force: bool,
    gallery: &Gallery,
    runs: &[&SharedRun],
    built_in: &BuiltIn,
) -> Result<()> {
    let picture = FrontPicture::parse("gallery/front.toml", PICTURE)?;
    let folder = if force {
        Folder::make(site)?
    } else {
        Folder::fresh_shared(site)?.0
    };
    let labels = Labels::new(gallery, &built_in.experiments);
    let front = report::gallery::front(&labels, runs, &picture);
    folder.write_shared("index.html", front.as_bytes())?;
    folder.write_shared(
        "index.json",
        report::escape::pretty_json(&gallery.to_json()?)?.as_bytes(),
    )?;
    if let Some(drawing) = report::gallery::front_picture(&labels, runs, &picture) {
        folder.write_shared("picture.svg", drawing.as_bytes())?;
    }
    let badge = report::gallery::front_badge(gallery);
    folder.write_shared("badge.svg", badge.as_bytes())?;
    let machines = Folder::make(&folder.path().join("machine"))?;
    for (at, machine) in gallery.machines.iter().enumerate() {
        let page = report::gallery::machine_page(&labels, at, runs[at]);
        machines.write_shared(format!("{}.html", machine.id), page.as_bytes())?;
        let badge = report::gallery::machine_badge(gallery, at);
        machines.write_shared(format!("{}.svg", machine.id), badge.as_bytes())?;
    }
    let questions = Folder::make(&folder.path().join("question"))?;
    for question in &gallery.questions {
        let page = report::gallery::question_page(&labels, question, runs);
        questions.write_shared(format!("{}.html", question.id), page.as_bytes())?;
    }
    Ok(())
}
