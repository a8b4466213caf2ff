mod layout;

use super::*;

#[test]
fn a_changed_byte_or_another_cover_shows() {
    let sealed = sealed_json("c", "{\n  \"a\": 1\n}\n").into_bytes();
    assert_eq!(
        opened_json("c", &mut sealed.clone()),
        Some(&b"{  \"a\": 1\n}\n"[..])
    );
    assert_eq!(opened_json("d", &mut sealed.clone()), None);
    for i in 0..sealed.len() {
        let mut bytes = sealed.clone();
        bytes[i] ^= 1;
        assert_eq!(opened_json("c", &mut bytes), None, "byte {i}");
        assert_eq!(
            opened_json("c", &mut sealed[..i].to_vec()),
            None,
            "cut at {i}"
        );
    }
}

#[test]
fn a_line_holds_only_behind_the_line_before_it() {
    let first = sealed_line("start", "{\"n\":1}");
    let (seal, json) = split_line(&first).unwrap();
    assert_eq!(
        (seal, json.as_str()),
        (line_seal("start", "{\"n\":1}").as_str(), "{\"n\":1}")
    );
    assert_ne!(
        line_seal(seal, "{\"n\":2}"),
        line_seal("start", "{\"n\":2}")
    );
}
