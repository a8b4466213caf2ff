use super::*;

#[test]
fn what_is_no_number_makes_no_broken_drawing() {
    assert_eq!(
        (percent(f64::NAN), percent(f64::INFINITY), percent(0.12345)),
        ("0%".into(), "0%".into(), "12.35%".into())
    );
    let mut svg = Svg::new("plot", 20, "<x>");
    svg.area(
        "c0",
        (0.5, f64::NEG_INFINITY),
        (0.0, 10.0),
        "\"</title><script>",
    );
    let Drawing(text) = svg.done();
    assert!(
        !text.contains("<script") && !text.contains("<x>") && text.contains("width=\"0%\""),
        "{text}"
    );
}
