//! Facts of machines and what follows from them.

use std::collections::BTreeSet;

use pagewise_record::machine::environment::size;
use pagewise_record::machine::paging::{Kdamond, Reclaim};
use pagewise_record::machine::system::{Hypervisor, Rights};
use pagewise_record::machine::tools::Java;

#[test]
fn a_machine_of_bare_metal_in_a_cloud_is_not_virtual() {
    let machine = |flag, product: &str| Hypervisor {
        flag,
        dmi_vendor: Some("Amazon EC2".to_owned()),
        dmi_product: Some(product.to_owned()),
        ..Hypervisor::default()
    };
    assert_eq!(machine(Some(false), "m5.metal").is_virtual(), Some(false));
    assert_eq!(machine(None, "m6g.metal").is_virtual(), Some(false));
    assert_eq!(machine(None, "m6g.large").name(), "Amazon EC2 m6g.large");
    assert_eq!(Hypervisor::default().is_virtual(), None);
}

#[test]
fn capabilities_are_bits() {
    let rights = Rights {
        effective_capabilities: Some("0000000000200000".to_owned()),
        ..Rights::default()
    };
    assert_eq!(rights.has_capability(21), Some(true));
    assert_eq!(rights.has_capability(38), Some(false));
    assert_eq!(Rights::default().has_capability(21), None);
}

#[test]
fn the_balloon_decides_whether_free_pages_go_back() {
    let with = |balloon_reporting, page_reporting_order| Reclaim {
        balloon_reporting,
        page_reporting_order,
        ..Reclaim::default()
    };
    assert!(with(Some(true), None).reports_free_pages());
    assert!(!with(Some(false), Some(10)).reports_free_pages());
    assert!(with(None, Some(9)).reports_free_pages());
    assert!(!with(None, None).reports_free_pages());
}

#[test]
fn a_kdamond_that_is_off_takes_nothing() {
    let kdamond = |running| Kdamond {
        running: Some(running),
        actions: BTreeSet::from(["pageout".to_owned()]),
        ..Kdamond::default()
    };
    let with = |running| Reclaim {
        kdamonds: vec![kdamond(running)],
        ..Reclaim::default()
    };
    assert!(with(true).damon_takes_pages());
    assert!(!with(false).damon_takes_pages());
}

#[test]
fn old_and_new_java_versions_are_read() {
    let feature = |version: &str| {
        Java {
            version: Some(version.to_owned()),
            ..Java::default()
        }
        .feature()
    };
    assert_eq!(feature("1.8.0_392"), Some(8));
    assert_eq!(feature("17.0.15"), Some(17));
    assert_eq!(feature("25"), Some(25));
    assert_eq!(feature("23-ea"), Some(23));
    assert_eq!(feature("unknown"), None);
}

#[test]
fn sizes_are_short() {
    assert_eq!(size(0), "0 B");
    assert_eq!(size(4096), "4 KiB");
    assert_eq!(size(64 << 20), "64 MiB");
    assert_eq!(size(1280 << 10), "1.25 MiB");
    assert_eq!(size(100), "100 B");
    assert_eq!(size(24_684_084 * 1024), "23.5 GiB");
    assert_eq!(size((1 << 30) - 1), "1 GiB");
}
