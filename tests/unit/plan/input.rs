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
