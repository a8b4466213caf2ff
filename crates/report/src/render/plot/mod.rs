//! Drawings as data: axes, and the marks on them. A renderer draws them or leaves them out.

mod axis;
mod scale;

use record::summary::Ratio;

pub use axis::Axis;
pub use scale::Scale;

/// A drawing as data.
#[derive(Clone, Debug)]
pub enum Plot {
    Ratios(Axis),
    Times(Scale),
    Interval {
        axis: Axis,
        /// The interval; the baseline itself where it has none.
        ratio: Option<Ratio>,
        launches: Vec<f64>,
        label: String,
    },
    Sides {
        axis: Axis,
        ratio: Ratio,
        /// The runs of each side, relative to the middle of the first.
        runs: [Vec<f64>; 2],
        label: String,
    },
    /// A bar from 1 to the factor that is proven, and on to the largest that is possible.
    Bar {
        axis: Axis,
        factors: (f64, f64),
        label: String,
    },
    /// Phases laid end to end.
    Stack {
        scale: Scale,
        phases: Vec<String>,
        /// The time of each in nanoseconds, and as text.
        parts: Vec<Option<(f64, String)>>,
    },
    Curves {
        curves: Box<Curves>,
        label: String,
    },
    Scatter {
        scatter: Box<Scatter>,
        label: String,
    },
    Flame(Vec<FlameBox>),
}

impl Plot {
    /// An interval without single launches.
    pub fn interval(axis: &Axis, ratio: Ratio, label: &str) -> Plot {
        Plot::Interval {
            axis: axis.clone(),
            ratio: Some(ratio),
            launches: Vec::new(),
            label: label.to_owned(),
        }
    }
}

/// A function, as wide as its share of the cost.
#[derive(Clone, Debug)]
pub struct FlameBox {
    pub depth: usize,
    /// Its ends, as shares of the width.
    pub span: (f64, f64),
    pub name: String,
    /// The text for who points at it.
    pub title: String,
}

/// Methods by two costs, each with its interval.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub across: Scale,
    pub upward: Scale,
    pub points: Vec<ScatterPoint>,
}

/// One method in a scatter.
#[derive(Clone, Debug)]
pub struct ScatterPoint {
    pub label: String,
    /// Cost along the page, and upward: the median, and the bounds of its interval where there are any.
    pub across: (f64, Option<(f64, f64)>),
    pub upward: (f64, Option<(f64, f64)>),
    /// The text for who points at it.
    pub title: String,
    /// True if no other method beats it in both.
    pub is_best: bool,
}

/// Costs of several methods at several values of one parameter.
#[derive(Clone, Debug)]
pub struct Curves {
    pub across: Scale,
    /// Wall time of one unit.
    pub upward: Scale,
    /// The baseline first, then by how cheap they are somewhere.
    pub lines: Vec<Line>,
    /// Between which values the cheaper way changes.
    pub crossovers: Vec<Crossover>,
}

/// One method.
#[derive(Clone, Debug)]
pub struct Line {
    pub label: String,
    /// The number of its color and its mark.
    pub color: usize,
    pub points: Vec<CurvePoint>,
}

impl Line {
    /// Every cost, with the bounds of its interval.
    pub fn costs(&self) -> impl Iterator<Item = f64> {
        self.points.iter().flat_map(|point| {
            let (low, high) = point.cost.1.unwrap_or((point.cost.0, point.cost.0));
            [point.cost.0, low, high]
        })
    }
}

/// One method at one value.
#[derive(Clone, Debug)]
pub struct CurvePoint {
    /// The cell, as an index into the summary's.
    pub cell: usize,
    pub value: u64,
    /// The value in words: `4 MiB`.
    pub value_words: String,
    /// Wall time of one unit in nanoseconds: the median, and the limits of its interval where there are any.
    pub cost: (f64, Option<(f64, f64)>),
    pub cost_words: String,
}

/// Crossover: one method begins to cost less, or more, than the baseline: between two measured values, never at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    pub line: usize,
    /// The last value at which the one is shown, and the first at which the other is.
    pub between: (u64, u64),
    pub sentence: String,
}
