//! temp
use std::collections::BTreeMap;
use std::path::Path;
/// temp
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Environment {
    /// t
    pub t: u32,
}
impl Environment {
    /// t
    pub fn capture(_: &Path) -> Self {
        Self { t: 0 }
    }
    /// t
    pub fn headline(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
