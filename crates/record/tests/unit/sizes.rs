use super::*;

#[test]
fn sizes_follow_the_machine() {
    let usual = Here::default();
    let at_64k = Here {
        huge_page_bytes: 512 << 20,
        ..usual
    };
    assert_eq!(here("2MiB|1huge", &usual).unwrap(), "2MiB");
    assert_eq!(here("64MiB|2huge", &at_64k).unwrap(), "1GiB");
    assert_eq!(here("2.5huge", &usual).unwrap(), "5MiB");
    assert_eq!(here("64KiB", &at_64k).unwrap(), "64KiB");
    for wrong in [
        "huge",
        "0huge",
        "1huge|x",
        "core",
        "0cache",
        "-1core",
        "cache|1MiB",
    ] {
        assert!(here(wrong, &usual).is_err(), "{wrong}");
    }
}

#[test]
fn sizes_follow_the_caches_in_powers_of_two() {
    let server = Here {
        core_cache_bytes: 2 << 20,
        last_cache_bytes: 105 << 20,
        ..Here::default()
    };
    assert_eq!(here("0.25core", &Here::default()).unwrap(), "64KiB");
    assert_eq!(here("0.25core", &server).unwrap(), "512KiB");
    assert_eq!(
        here(
            "0.25core",
            &Here {
                core_cache_bytes: 1280 << 10,
                ..server
            }
        )
        .unwrap(),
        "256KiB"
    );
    assert_eq!(here("64MiB|2cache", &Here::default()).unwrap(), "64MiB");
    assert_eq!(here("64MiB|2cache", &server).unwrap(), "256MiB");
    assert_eq!(
        here(
            "64MiB|2cache",
            &Here {
                last_cache_bytes: 1 << 20,
                ..server
            }
        )
        .unwrap(),
        "64MiB"
    );
    assert_eq!(
        here(
            "2cache",
            &Here {
                last_cache_bytes: 1 << 40,
                ..server
            }
        )
        .unwrap(),
        "1GiB"
    );
}

#[test]
fn sizes_are_read_in_every_unit() {
    for (text, bytes) in [
        ("4096", 4096),
        ("64KiB", 65536),
        ("1.5GiB", 3 << 29),
        ("100MB", 100_000_000),
    ] {
        assert_eq!(parse_size(text).unwrap(), bytes);
    }
    for (text, bytes) in [
        ("16k", 16 << 10),
        ("16K", 16 << 10),
        ("16M", 16 << 20),
        ("2G", 2 << 30),
        ("1T", 1 << 40),
    ] {
        assert_eq!(parse_size(text).unwrap(), bytes);
    }
    for text in [
        "0",
        "0KiB",
        "x",
        "12XB",
        "-1",
        "",
        "1.0001B",
        "99999999TiB",
        "1e9",
    ] {
        assert!(parse_size(text).is_err(), "{text}");
    }
}

#[test]
fn formatted_sizes_are_read_back_unchanged() {
    for bytes in [1, 1000, 4096, 65_536, 100_000_000, 1 << 30, 12_345] {
        assert_eq!(parse_size(&format_size(bytes)).unwrap(), bytes);
    }
    assert_eq!(format_size(100_000_000), "100MB");
}

#[test]
fn times_and_shares_are_read() {
    assert_eq!(parse_seconds("2min").unwrap(), 120.0);
    assert_eq!(parse_seconds("500ms").unwrap(), 0.5);
    assert_eq!(parse_share("1%").unwrap(), 0.01);
    assert!(
        parse_seconds("0").is_err() && parse_share("0").is_err() && parse_share("150%").is_err()
    );
    assert_eq!(parse_seconds("8760h").unwrap(), LONGEST_S);
    for text in ["99999999999999999999s", "8761h", "1e9", "31536001"] {
        assert!(parse_seconds(text).is_err(), "{text}");
    }
}

#[test]
fn figures_keep_three_digits() {
    assert_eq!(format_ns(412.0), "412 ns");
    assert_eq!(format_ns(1_050_000.0), "1.05 ms");
    assert_eq!(three_digits(9.999), "10.0");
}

#[test]
fn mistyped_words_are_known_by_transposition_and_not_by_chance() {
    let methods = ["touch", "thp", "mthp", "populate", "populate-write", "heap"];
    assert_eq!(nearest("tph", methods), Some("thp"));
    assert_eq!(nearest("toush", methods), Some("touch"));
    assert_eq!(nearest("popu", methods), Some("populate"));
    assert_eq!(nearest("rn", ["run", "runs", "list"]), Some("run"));
    assert_eq!(nearest("mmap", ["unmap", "heap", "map-me"]), None);
    assert_eq!(nearest("x", ["y"]), None);
}
