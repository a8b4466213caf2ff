use super::*;

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(
        split_words(r#"a  'b c' "d\"e" f\ g ''"#).unwrap(),
        ["a", "b c", "d\"e", "f g", ""]
    );
    assert!(split_words("a 'b").is_err());
}

#[test]
fn a_mistake_is_named_with_its_line_and_column() {
    let error = Setting::parse("my.toml", "name = \"x\"\nprelaod = [\"y\"]\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("my.toml") && error.contains("line 2") && error.contains("prelaod"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_proved_or_changes_nothing_is_refused() {
    let error = |text: &str| Setting::parse("f", text).unwrap_err().to_string();
    assert!(error("name = \"x\"").contains("changes nothing"));
    assert!(error("name = \"x\"\ntunables = \"a=1\"").contains("no proof"));
    assert!(error("name = \"x\"\npreload = [\"./a.so\"]").contains("relative"));
    assert!(error("name = \"a,b\"\nno_thp = true").contains("name"));
}

#[test]
fn short_forms_are_settings() {
    assert_eq!(Setting::variable("A=b=c").unwrap().env["A"], "b=c");
    assert!(Setting::variable("A").is_err() && Setting::variable("=b").is_err());
    assert_eq!(
        Setting::arguments("--mmap -j 2").unwrap().arguments,
        ["--mmap", "-j", "2"]
    );
}
