//! temp
use std::path::Path; use std::collections::BTreeMap;
/// temp
#[derive(serde::Serialize, serde::Deserialize)] pub struct Environment { /// t
 pub t: u32 }
impl Environment { /// t
 pub fn capture(_: &Path) -> Self { Self{t:0} } /// t
 pub fn headline(&self) -> BTreeMap<String,String> { BTreeMap::new() } }
