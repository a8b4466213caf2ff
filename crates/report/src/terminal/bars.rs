//! Bars of factors and intervals of ratios, drawn with characters on a logarithmic axis.

use super::screen::Screen;
use crate::plot::{Axis, Plot};
use record::{sizes::three_digits, summary::Estimate};

/// Tells whether characters can draw it in a row of a table.
pub(super) fn is_drawn(plot: &Plot) -> bool {
    matches!(plot, Plot::Interval { .. } | Plot::Sides { .. } | Plot::Bar { .. })
}

/// A drawing in a row of a table; empty where characters cannot draw it.
pub(super) fn drawn(plot: &Plot, columns: usize, screen: &Screen) -> String {
    match plot {
        Plot::Interval { axis, ratio: Some(ratio), .. } | Plot::Sides { axis, ratio, .. } => {
            interval(ratio, axis, columns, screen)
        }
        Plot::Interval { axis, ratio: None, .. } => baseline(axis, columns, screen),
        Plot::Bar { axis, factors, .. } => bar(*factors, axis, columns, screen),
        _ => String::new(),
    }
}

/// The words of an axis; empty where characters cannot draw it.
pub(super) fn axis(plot: &Plot, columns: usize) -> String {
    if let Plot::Ratios(axis) = plot { marks(axis, columns) } else { String::new() }
}

/// Position of a ratio among so many characters; beyond the ends that is said by `None` on its side.
fn column(axis: &Axis, ratio: f64, columns: usize) -> usize {
    let place = axis.place(ratio).clamp(0.0, 1.0);
    (place * (columns.saturating_sub(1)) as f64).round() as usize
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
fn bar((low, high): (f64, f64), axis: &Axis, columns: usize, screen: &Screen) -> String {
    let length = |factor: f64| axis.place(factor).clamp(0.0, 1.0) * (columns.saturating_sub(1)) as f64;
    let proven = length(low).floor() as usize;
    let possible = (length(high).ceil() as usize).max(proven + usize::from(proven == 0)).max(1);
    let (full, light) = (screen.sign('█', '#'), screen.sign('░', '.'));
    let signs = std::iter::repeat_n(full, proven).chain(std::iter::repeat_n(light, possible - proven));
    signs.collect()
}

/// The marks of an axis: each tick's number at its place, where it does not touch the one before it.
fn marks(axis: &Axis, columns: usize) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let mut ticks: Vec<(f64, String)> = axis.ticks.iter().map(|&t| (t, tick(t))).collect();
    // The baseline's own mark and the ends come first; others where there is room.
    let rank = |t: f64| (t != 1.0, t != axis.low && t != axis.high);
    ticks.sort_by_key(|(t, _)| rank(*t));
    for (ratio, word) in ticks {
        let at = column(axis, ratio, columns);
        let length = word.chars().count();
        let from = at.saturating_sub(length / 2).min(columns.saturating_sub(length));
        let around = from.saturating_sub(1)..(from + length + 1).min(columns);
        if line[around].iter().all(|c| *c == ' ') {
            word.chars().enumerate().for_each(|(i, c)| line[from + i] = c);
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn tick(ratio: f64) -> String {
    let text = three_digits(ratio);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// An interval with its estimate: `├──●─┤`; an end beyond the axis is an arrow. The baseline's place is a line.
fn interval(ratio: &Estimate, axis: &Axis, columns: usize, screen: &Screen) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let (low, high) = (column(axis, ratio.low, columns), column(axis, ratio.high, columns));
    line[column(axis, 1.0, columns)] = screen.sign('│', ':');
    line[low..=high].fill(screen.sign('─', '-'));
    line[low] = if axis.place(ratio.low) < -1e-9 { screen.sign('◂', '<') } else { screen.sign('├', '|') };
    line[high] = if axis.place(ratio.high) > 1.0 + 1e-9 { screen.sign('▸', '>') } else { screen.sign('┤', '|') };
    let inside = (0.0..=1.0).contains(&axis.place(ratio.ratio));
    if inside {
        line[column(axis, ratio.ratio, columns)] = screen.sign('●', '*');
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn baseline(axis: &Axis, columns: usize, screen: &Screen) -> String {
    format!("{}{}", " ".repeat(column(axis, 1.0, columns)), screen.sign('●', '*'))
}

#[cfg(test)]
#[path = "../../tests/unit/terminal/bars.rs"]
mod tests;
