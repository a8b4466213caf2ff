use super::*;

#[test]
fn no_line_is_wider_than_the_screen() {
    let screen = Screen::new(80, false);
    let long = "word ".repeat(60) + &"x".repeat(200);
    let lines = wrap(&long, 4, &screen);
    for line in &lines {
        assert!(width(line) <= 80 && line.starts_with("    "), "{line}");
    }
    assert_eq!(lines.concat().matches('x').count(), 200, "nothing is cut");
}

#[test]
fn what_is_cut_says_so() {
    assert_eq!(
        cut("process-vm-readv", 8, &Screen::new(80, false)),
        "process…"
    );
    assert_eq!(
        cut("process-vm-readv", 8, &Screen::new(80, true)),
        "process~"
    );
}
