use super::*;

fn estimate(low: f64, ratio: f64, high: f64) -> Estimate {
    Estimate {
        ratio,
        low,
        high,
        level: 0.95,
        launches: 10,
        moved: None,
    }
}

#[test]
fn a_bar_is_full_up_to_what_is_proven() {
    let (axis, screen) = (Axis::factors(16.0), Screen::new(100, false));
    assert_eq!(bar((4.0, 8.0), &axis, 17, &screen), "████████░░░░");
    assert_eq!(bar((1.02, 1.05), &axis, 17, &screen), "░");
    assert_eq!(
        bar((16.0, 16.0), &axis, 17, &Screen::new(100, true)),
        "#".repeat(16)
    );
    assert_eq!(marks(&axis, 17), "1   2   4   8  16");
}

#[test]
fn an_interval_is_drawn_where_it_lies() {
    let (axis, screen) = (
        Axis {
            low: 0.25,
            high: 4.0,
            ticks: vec![0.25, 1.0, 4.0],
        },
        Screen::new(100, false),
    );
    assert_eq!(
        interval(&estimate(0.25, 0.5, 1.0), &axis, 9, &screen),
        "├─●─┤"
    );
    assert_eq!(
        interval(&estimate(2.0, 2.0, 2.0), &axis, 9, &screen),
        "    │ ●"
    );
    assert_eq!(
        interval(&estimate(0.1, 0.5, 9.0), &axis, 9, &screen),
        "◂─●─────▸"
    );
    assert_eq!(
        interval(&estimate(0.1, 0.11, 0.2), &axis, 9, &Screen::new(80, true)),
        "|   :"
    );
    assert_eq!(marks(&axis, 9), "    1   4");
    assert_eq!(baseline(&axis, 9, &screen), "    ●");
}
