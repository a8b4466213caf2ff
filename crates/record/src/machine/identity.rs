//! Identity of a machine, so that kept runs of one machine can be told from those of another.

use super::files::facts;
use crate::hash::sha256_hex;
use std::collections::BTreeMap;

const DIGITS: usize = 16;

facts! { m:
    /// One machine, and one boot of it. Facts that cannot be read are absent.
    Identity {
        /// SHA-256 of /etc/machine-id, which machine-id(5) asks to keep secret: 16 hex digits.
        machine: Option<String> =
            m.text("/etc/machine-id").map(|id| sha256_hex(&[b"pagewise machine-id ", id.as_bytes()])[..DIGITS].to_owned());
        boot: Option<String> = m.text("/proc/sys/kernel/random/boot_id");
        vendor: Option<String> = m.text("/sys/class/dmi/id/sys_vendor");
        product: Option<String> = m.text("/sys/class/dmi/id/product_name");
        name: Option<String> = m.text("/proc/sys/kernel/hostname");
        /// Name in its fleet, if that is not its host name, as in a container.
        #[serde(skip_serializing_if = "Option::is_none")]
        node: Option<String> = m.variable("PAGEWISE_NODE").filter(|name| !name.is_empty());
    }
}

impl Identity {
    pub fn labels(&self) -> BTreeMap<String, String> {
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
