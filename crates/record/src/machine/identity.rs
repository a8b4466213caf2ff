//! Which machine it is, so that kept runs of one machine can be told from those of another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What tells one machine, and one boot of it, from another. What cannot be read is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// SHA-256 of /etc/machine-id, whose own words ask that it be kept secret: 16 hex digits.
    pub machine: Option<String>,
    /// /proc/sys/kernel/random/boot_id
    pub boot: Option<String>,
    /// /sys/class/dmi/id/sys_vendor
    pub vendor: Option<String>,
    /// /sys/class/dmi/id/product_name
    pub product: Option<String>,
    /// /proc/sys/kernel/hostname
    pub name: Option<String>,
    /// What its fleet calls it, where that is not its name: the variable PAGEWISE_NODE. In a container the name is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Identity {
    /// What is known of it, by name.
    pub fn words(&self) -> BTreeMap<String, String> {
        let all = [
            ("machine", &self.machine),
            ("boot", &self.boot),
            ("vendor", &self.vendor),
            ("product", &self.product),
            ("name", &self.name),
            ("node", &self.node),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))).collect()
    }
}
