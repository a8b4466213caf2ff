use super::*;

#[test]
fn long_words_are_not_cut_and_lines_are_not_too_long() {
    let mut text = String::new();
    paragraph(&mut text, "  - ", &format!("{} end", "word ".repeat(40).trim()));
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
    assert!(text.lines().skip(1).all(|line| line.starts_with("    ")));
    let long = "x".repeat(120);
    let mut text = String::new();
    paragraph(&mut text, "", &format!("a {long} b"));
    assert_eq!(text, format!("a\n{long}\nb\n"));
}
