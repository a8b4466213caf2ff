use super::*;

const SOUND: &str = "id = \"x\"\nstatement = \"A is cheaper than B.\"\nkind = \"ratio\"\nabout = [\"copy\"]\n\n\
    [source]\ntitle = \"T\"\nauthor = \"N\"\naddress = \"https://example.org/a\"\nfigure = \"half\"\n\
    read = \"2026-11-21\"\n\n[holds]\nlow = 0.4\nhigh = 0.6\n\n\
    [corrected]\nexperiment = \"copy\"\nway = \"a\"\nother = \"b\"\nset = { bytes = \"1MiB\" }\n";

fn error(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    Claim::parse("own.toml", &SOUND.replace(from, to))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_sound_claim_is_read() {
    let claim = Claim::parse("own.toml", SOUND).unwrap();
    assert_eq!(
        (claim.id.as_str(), claim.holds.unwrap().edges()),
        ("x", (Some(0.4), Some(0.6)))
    );
}

#[test]
fn complaints_name_line_and_column() {
    for (from, to, expected) in [
        (
            "kind = \"ratio\"",
            "kind = \"rato\"",
            "own.toml:3:8: unknown variant `rato`",
        ),
        (
            "figure = \"half\"",
            "figur = \"half\"",
            "own.toml:10:1: unknown field `figur`",
        ),
        (
            "low = 0.4",
            "low = 0.7",
            "own.toml:14:1: low is not below high",
        ),
        (
            "low = 0.4\nhigh = 0.6",
            "",
            "own.toml:13:1: neither low nor high",
        ),
        (
            "https://example.org/a",
            "example.org",
            "own.toml:9:1: \"example.org\" is not an address",
        ),
        (
            "https://example.org/a",
            "https://example.org/a b",
            "own.toml:9:1:",
        ),
        (
            "address = \"https://example.org/a\"\n",
            "",
            "own.toml:7:1: a source needs an address",
        ),
        (
            "2026-11-21",
            "yesterday",
            "own.toml:11:1: read = \"yesterday\" is not a date",
        ),
        (
            "other = \"b\"",
            "other = \"a\"",
            "own.toml:19:1: way and other are the same",
        ),
        (
            "other = \"b\"\n",
            "",
            "own.toml:17:1: what is it compared with? there is no other",
        ),
        (
            "id = \"x\"",
            "id = \"x y\"",
            "own.toml:1:1: id \"x y\" is not one word",
        ),
        (
            "kind = \"ratio\"",
            "kind = \"crossover\"",
            "own.toml:14:1: a crossover needs low, high and at least",
        ),
        (
            "kind = \"ratio\"",
            "kind = \"absolute\"",
            "own.toml:13:1: an absolute claim says per what",
        ),
        (
            "about = [\"copy\"]",
            "about = [\"copy\"]\nmissing = \"ten drives\"",
            "own.toml:5:1: a claim that says what",
        ),
    ] {
        let found = error(from, to);
        assert!(found.contains(expected), "{found}\nwanted {expected}");
    }
}

#[test]
fn a_crossover_is_measured_at_its_edges_and_around_them() {
    let text = SOUND
        .replace("kind = \"ratio\"", "kind = \"crossover\"")
        .replace(
            "low = 0.4\nhigh = 0.6",
            "low = \"32KiB\"\nhigh = \"128KiB\"",
        )
        .replace("set = { bytes = \"1MiB\" }", "");
    let fixed = text.clone() + "set = { bytes = \"1MiB\" }\n";
    let error = Claim::parse("own.toml", &fixed).unwrap_err().to_string();
    assert!(
        error.contains("set fixes the parameter that the crossover is about"),
        "{error}"
    );
    let points = Claim::parse("own.toml", &text)
        .unwrap()
        .holds
        .unwrap()
        .points();
    assert_eq!(points, [4096, 32 << 10, 64 << 10, 128 << 10, 1 << 20]);
}
