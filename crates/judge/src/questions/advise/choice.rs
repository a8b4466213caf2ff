//! From the ratios at sizes to the way to use at each, to segments, and to what lies between them.

use record::advice::{AdvicePoint, Flip, Segment};
use stats::{quantile::median, t::t_quantile};
use std::collections::BTreeMap;

/// All that is said of the sizes of one question is wrong with at most this probability.
const FAMILY: f64 = 0.05;
/// Sizes that share it: near a change of the answer chance can mislead; farther away ratios are many errors from 1.
const SIZES: f64 = 6.0;

/// The limits of a ratio's logarithm which hold at all sizes of a question together: at each size only one of them can mislead.
fn limits(point: &AdvicePoint) -> (f64, f64) {
    let cost = &point.cost;
    let half = cost.error * t_quantile(1.0 - FAMILY / SIZES, cost.freedom);
    // Never narrower than what is shown of it.
    (
        (cost.log() - half).min(cost.low.ln()),
        (cost.log() + half).max(cost.high.ln()),
    )
}

/// Knowledge of one method at one size.
#[derive(Clone, Copy)]
struct Known<'a> {
    way: &'a str,
    point: &'a AdvicePoint,
    low: f64,
    high: f64,
}

fn known(points: &[AdvicePoint]) -> BTreeMap<u64, Vec<Known<'_>>> {
    let mut all: BTreeMap<u64, Vec<Known>> = BTreeMap::new();
    for point in points {
        let (low, high) = limits(point);
        all.entry(point.bytes).or_default().push(Known {
            way: &point.way,
            point,
            low,
            high,
        });
    }
    all
}

/// The limits of the logarithm of one way's cost relative to another's at the same size. Both were compared with the obvious
/// way, whose own scatter they share: as if they did not, the limits are rather too wide.
fn between(way: &AdvicePoint, other: &AdvicePoint) -> (f64, f64) {
    let (way, other) = (&way.cost, &other.cost);
    let freedom = way.freedom.min(other.freedom);
    let half = way.error.hypot(other.error) * t_quantile(1.0 - FAMILY / SIZES, freedom);
    let difference = way.log() - other.log();
    (difference - half, difference + half)
}

/// The method shown to cost less at the most sizes; others replace it only where they are shown to be better.
fn usual<'a>(all: &BTreeMap<u64, Vec<Known<'a>>>, edge: f64) -> Option<&'a str> {
    let mut scores: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for known in all.values().flatten() {
        let score = scores.entry(known.way).or_default();
        if known.high < -edge {
            *score = (score.0 + 1, score.1 - known.high);
        }
    }
    scores
        .into_iter()
        .max_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
        .map(|(way, _)| way)
}

/// The way to use at one size; `None` where nothing is shown beyond the margin. `before` is that of the size before: another
/// takes its place only where it is shown to be better than it.
fn choice<'a>(
    here: &[Known<'a>],
    before: Option<&str>,
    obvious: &'a str,
    edge: f64,
) -> Option<&'a str> {
    let faster = || here.iter().filter(|k| k.high < -edge);
    let least = faster().min_by(|a, b| a.high.total_cmp(&b.high));
    match (least, faster().find(|k| Some(k.way) == before)) {
        (Some(least), Some(before)) if between(least.point, before.point).1 < -edge => {
            Some(least.way)
        }
        (_, Some(before)) => Some(before.way),
        (Some(least), None) => Some(least.way),
        (None, None) => {
            let none_faster = here.iter().all(|k| k.low > -edge);
            let some_slower = here.iter().any(|k| k.low > edge);
            (none_faster && some_slower).then_some(obvious)
        }
    }
}

/// The way to use at every size measured, ascending; `None` where nothing is shown beyond the margin: keep the default.
pub fn choices(points: &[AdvicePoint], obvious: &str, margin: f64) -> Vec<(u64, Option<String>)> {
    let edge = (1.0 + margin).ln();
    let all = known(points);
    let mut before = usual(&all, edge);
    let mut choices = Vec::new();
    for (bytes, here) in &all {
        let way = choice(here, before, obvious, edge);
        before = way.filter(|way| *way != obvious).or(before);
        choices.push((*bytes, way.map(str::to_owned)));
    }
    choices
}

/// Ranges of sizes with the method shown to cost less there. Between, below and beyond them nothing is shown.
pub fn segments(points: &[AdvicePoint], obvious: &str, margin: f64) -> Vec<Segment> {
    let mut spans: Vec<(String, Vec<u64>)> = Vec::new();
    let mut before: Option<String> = None;
    for (bytes, way) in choices(points, obvious, margin) {
        match (&way, spans.last_mut()) {
            (Some(way), Some((last, sizes))) if before.as_ref() == Some(way) && last == way => {
                sizes.push(bytes)
            }
            (Some(way), _) => spans.push((way.clone(), vec![bytes])),
            (None, _) => {}
        }
        before = way;
    }
    let edge = (1.0 + margin).ln();
    let usual = usual(&known(points), edge).unwrap_or_default().to_owned();
    spans
        .into_iter()
        .filter_map(|(way, sizes)| segment(points, obvious, &usual, way, &sizes))
        .collect()
}

fn segment(
    points: &[AdvicePoint],
    obvious: &str,
    usual: &str,
    way: String,
    sizes: &[u64],
) -> Option<Segment> {
    let turned = way == obvious;
    // Where the usual choice is best, it is compared with the way that is best elsewhere, or against the best of the others.
    let other = if turned {
        let here = |p: &&AdvicePoint| sizes.contains(&p.bytes);
        let has = points.iter().filter(here).any(|p| p.way == usual);
        let least = points
            .iter()
            .filter(here)
            .min_by(|a, b| a.cost.ratio.total_cmp(&b.cost.ratio))?;
        if has {
            usual.to_owned()
        } else {
            least.way.clone()
        }
    } else {
        way.clone()
    };
    let mine = || {
        points
            .iter()
            .filter(|p| sizes.contains(&p.bytes) && p.way == other)
    };
    let mut ratios: Vec<f64> = mine().map(|p| p.cost.ratio).collect();
    let (low, high) = mine().fold((f64::INFINITY, 0.0_f64), |(l, h), p| {
        (l.min(p.cost.low), h.max(p.cost.high))
    });
    let ratio = median(&mut ratios)?;
    let (ratio, at_least, at_most) = if turned {
        (1.0 / ratio, 1.0 / high, 1.0 / low)
    } else {
        (ratio, low, high)
    };
    let over = if turned { other } else { obvious.to_owned() };
    Some(Segment {
        from: *sizes.first()?,
        to: *sizes.last()?,
        way,
        over,
        at_most,
        ratio,
        at_least,
    })
}

/// Between which sizes the answer changes from one way to another. A segment ends where less than the margin is shown; the
/// change itself is bounded by where a ratio's interval leaves 1 on either side.
pub fn flips(points: &[AdvicePoint], segments: &[Segment], obvious: &str) -> Vec<Flip> {
    let changes = segments.windows(2).filter(|two| two[0].way != two[1].way);
    changes
        .map(|two| {
            let (above, up_to) = sign_changes(points, &two[0], &two[1], obvious);
            Flip {
                above,
                up_to,
                below: two[0].way.clone(),
                beyond: two[1].way.clone(),
            }
        })
        .collect()
}

/// The largest size at which the first segment's way is shown to cost less than the second's before any at which that is turned
/// round, and the smallest at which it is after all at which it is not.
fn sign_changes(
    points: &[AdvicePoint],
    below: &Segment,
    beyond: &Segment,
    obvious: &str,
) -> (u64, u64) {
    let (mut first, mut second) = (vec![below.to], vec![beyond.from]);
    let within = |p: &&AdvicePoint| below.to < p.bytes && p.bytes < beyond.from;
    let point_at = |bytes: u64, way: &str| points.iter().find(|p| p.bytes == bytes && p.way == way);
    for bytes in points.iter().filter(within).map(|p| p.bytes) {
        let (low, high) = match (point_at(bytes, &below.way), point_at(bytes, &beyond.way)) {
            (Some(one), Some(other)) => between(one, other),
            (Some(one), None) if beyond.way == obvious => limits(one),
            (None, Some(other)) if below.way == obvious => {
                let (low, high) = limits(other);
                (-high, -low)
            }
            _ => continue,
        };
        if high < 0.0 {
            first.push(bytes);
        } else if low > 0.0 {
            second.push(bytes);
        }
    }
    let until = second.iter().copied().min().unwrap_or(beyond.from);
    let above = first
        .iter()
        .copied()
        .filter(|size| *size < until)
        .max()
        .unwrap_or(below.to);
    let last = first.iter().copied().max().unwrap_or(below.to);
    let up_to = second
        .iter()
        .copied()
        .filter(|size| *size > last)
        .min()
        .unwrap_or(beyond.from);
    (above, up_to)
}
