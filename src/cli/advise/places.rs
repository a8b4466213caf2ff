//! Places of the advice file.

use std::path::{Path, PathBuf};

const VARIABLE: &str = "PAGEWISE_ADVICE";
/// Place for all users, written by an administrator.
const SYSTEM: &str = "/etc/pagewise/advice.json";

/// All places in the order in which they are looked at: `$PAGEWISE_ADVICE` alone where it is set, else the user's own and
/// the machine's.
pub(super) fn all() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let configured = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".config"));
    configured.or_else(home).map(|p| p.join("pagewise/advice.json")).into_iter().chain([PathBuf::from(SYSTEM)]).collect()
}

/// The first of them that is there.
pub(super) fn existing(named: Option<&Path>) -> Option<PathBuf> {
    named.map(Path::to_owned).map_or_else(all, |path| vec![path]).into_iter().find(|path| path.is_file())
}

pub(super) fn target(named: Option<&Path>) -> PathBuf {
    named.map(Path::to_owned).or_else(|| all().into_iter().next()).unwrap_or_else(|| PathBuf::from(SYSTEM))
}
