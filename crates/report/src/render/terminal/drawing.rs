//! Drawings of ratios in the rows of a table, made of characters.

use super::screen::Screen;
use crate::render::plot::{Axis, Plot};
use crate::sentences::numbers;
use record::summary::Ratio;

/// Tells whether characters can draw it in a row of a table.
pub(super) fn is_drawn(plot: &Plot) -> bool {
    matches!(
        plot,
        Plot::Interval { .. } | Plot::Sides { .. } | Plot::Bar { .. }
    )
}

/// A drawing in a row of a table; empty where characters cannot draw it.
pub(super) fn drawn(plot: &Plot, columns: usize, screen: &Screen) -> String {
    match plot {
        Plot::Interval {
            axis,
            ratio: Some(ratio),
            ..
        }
        | Plot::Sides { axis, ratio, .. } => interval(ratio, axis, columns, screen),
        Plot::Interval {
            axis, ratio: None, ..
        } => baseline(axis, columns, screen),
        Plot::Bar { axis, factors, .. } => bar(*factors, axis, columns, screen),
        _ => String::new(),
    }
}

/// The words of an axis; empty where characters cannot draw it.
pub(super) fn axis(plot: &Plot, columns: usize) -> String {
    if let Plot::Ratios(axis) = plot {
        marks(axis, columns)
    } else {
        String::new()
    }
}

/// Position of a ratio among so many characters; one beyond the ends is at the end.
fn column(axis: &Axis, ratio: f64, columns: usize) -> usize {
    let place = axis.place(ratio).clamp(0.0, 1.0);
    (place * (columns.saturating_sub(1)) as f64).round() as usize
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
fn bar(factors: (f64, f64), axis: &Axis, columns: usize, screen: &Screen) -> String {
    let [least, most] = [factors.0, factors.1]
        .map(|factor| axis.place(factor).clamp(0.0, 1.0) * (columns.saturating_sub(1)) as f64);
    let proven = least.floor() as usize;
    let possible = (most.ceil() as usize)
        .max(proven + usize::from(proven == 0))
        .max(1);
    let (full, light) = (screen.sign('█', '#'), screen.sign('░', '.'));
    let signs =
        std::iter::repeat_n(full, proven).chain(std::iter::repeat_n(light, possible - proven));
    signs.collect()
}

/// The marks of an axis: each tick's number at its place, where it does not touch the one before it.
fn marks(axis: &Axis, columns: usize) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    for ratio in axis.ranked_ticks() {
        let at = column(axis, ratio, columns);
        let word = numbers::short(ratio);
        let length = word.chars().count();
        let from = at
            .saturating_sub(length / 2)
            .min(columns.saturating_sub(length));
        let around = from.saturating_sub(1)..(from + length + 1).min(columns);
        if line[around].iter().all(|c| *c == ' ') {
            for (place, sign) in line[from..].iter_mut().zip(word.chars()) {
                *place = sign;
            }
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// An interval with its estimate: `├──●─┤`; an end beyond the axis is an arrow. The baseline's place is a line.
fn interval(ratio: &Ratio, axis: &Axis, columns: usize, screen: &Screen) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let [low, high] = [ratio.low, ratio.high].map(|bound| column(axis, bound, columns));
    line[column(axis, 1.0, columns)] = screen.sign('│', ':');
    line[low..=high].fill(screen.sign('─', '-'));
    line[low] = if axis.place(ratio.low) < -1e-9 {
        screen.sign('◂', '<')
    } else {
        screen.sign('├', '|')
    };
    line[high] = if axis.place(ratio.high) > 1.0 + 1e-9 {
        screen.sign('▸', '>')
    } else {
        screen.sign('┤', '|')
    };
    if (0.0..=1.0).contains(&axis.place(ratio.ratio)) {
        line[column(axis, ratio.ratio, columns)] = screen.sign('●', '*');
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn baseline(axis: &Axis, columns: usize, screen: &Screen) -> String {
    format!(
        "{}{}",
        " ".repeat(column(axis, 1.0, columns)),
        screen.sign('●', '*')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, ratio: f64, high: f64) -> Ratio {
        Ratio {
            ratio,
            low,
            high,
            level: 0.95,
            launches: 10,
            error: 0.05,
            freedom: 9.0,
            drift: None,
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
        assert!(!is_drawn(&Plot::Ratios(axis)));
    }
}
