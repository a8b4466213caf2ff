//! The method to use at each size, by the ratios there; segments of sizes, and the changes between them.

use record::advice::{AdvicePoint, Flip, Segment};
use stats::{quantile::median, t::t_quantile};
use std::collections::BTreeMap;

/// All that is said of the sizes of one question is wrong with at most this probability.
const FAMILY: f64 = 0.05;
/// Sizes that share it: near a change of the answer chance can mislead; farther away ratios are many errors from 1.
const SIZES: f64 = 6.0;

/// Knowledge of one method at one size.
#[derive(Clone, Copy)]
struct Known<'a> {
    method: &'a str,
    point: &'a AdvicePoint,
    low: f64,
    high: f64,
}

fn known_by_size(points: &[AdvicePoint]) -> BTreeMap<u64, Vec<Known<'_>>> {
    let mut known: BTreeMap<u64, Vec<Known>> = BTreeMap::new();
    for point in points {
        let (low, high) = bounds(point);
        known.entry(point.bytes).or_default().push(Known {
            method: &point.way,
            point,
            low,
            high,
        });
    }
    known
}

/// The bounds of a ratio's logarithm which hold at all sizes of a question together: at each size only one of them can mislead.
fn bounds(point: &AdvicePoint) -> (f64, f64) {
    let cost = &point.cost;
    let half = cost.error * t_quantile(1.0 - FAMILY / SIZES, cost.freedom);
    // Never narrower than what is shown of it.
    (
        (cost.log() - half).min(cost.low.ln()),
        (cost.log() + half).max(cost.high.ln()),
    )
}

/// The bounds of the logarithm of one method's cost relative to another's at the same size. Both were compared with the usual
/// choice, whose own scatter they share: as if they did not, the bounds are rather too wide.
fn between(method: &AdvicePoint, other: &AdvicePoint) -> (f64, f64) {
    let (method, other) = (&method.cost, &other.cost);
    let freedom = method.freedom.min(other.freedom);
    let half = method.error.hypot(other.error) * t_quantile(1.0 - FAMILY / SIZES, freedom);
    let difference = method.log() - other.log();
    (difference - half, difference + half)
}

/// The method to use at every size measured, ascending; `None` where nothing is shown beyond the margin: keep the default.
pub fn choices(points: &[AdvicePoint], baseline: &str, margin: f64) -> Vec<(u64, Option<String>)> {
    let edge = (1.0 + margin).ln();
    let known = known_by_size(points);
    let mut before = best_at_most_sizes(&known, edge);
    let mut choices = Vec::new();
    for (bytes, known) in &known {
        let method = choice(known, before, baseline, edge);
        before = method.filter(|method| *method != baseline).or(before);
        choices.push((*bytes, method.map(str::to_owned)));
    }
    choices
}

/// The method shown to cost less at the most sizes; others replace it only where they are shown to be better.
fn best_at_most_sizes<'a>(known: &BTreeMap<u64, Vec<Known<'a>>>, edge: f64) -> Option<&'a str> {
    let mut scores: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for known in known.values().flatten() {
        let score = scores.entry(known.method).or_default();
        if known.high < -edge {
            *score = (score.0 + 1, score.1 - known.high);
        }
    }
    scores
        .into_iter()
        .max_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
        .map(|(method, _)| method)
}

/// The method to use at one size; `None` where nothing is shown beyond the margin. `before` is that of the size before: another
/// takes its place only where it is shown to be better than it.
fn choice<'a>(
    known: &[Known<'a>],
    before: Option<&str>,
    baseline: &'a str,
    edge: f64,
) -> Option<&'a str> {
    let faster: Vec<&Known> = known.iter().filter(|k| k.high < -edge).collect();
    let Some(least) = faster.iter().min_by(|a, b| a.high.total_cmp(&b.high)) else {
        let none_faster = known.iter().all(|k| k.low > -edge);
        let some_slower = known.iter().any(|k| k.low > edge);
        return (none_faster && some_slower).then_some(baseline);
    };
    match faster.iter().find(|k| Some(k.method) == before) {
        Some(before) if between(least.point, before.point).1 < -edge => Some(least.method),
        Some(before) => Some(before.method),
        None => Some(least.method),
    }
}

/// Ranges of sizes with the method shown to cost less there. Between, below and beyond them nothing is shown.
pub fn segments(points: &[AdvicePoint], baseline: &str, margin: f64) -> Vec<Segment> {
    let mut spans: Vec<(String, Vec<u64>)> = Vec::new();
    let mut before: Option<String> = None;
    for (bytes, method) in choices(points, baseline, margin) {
        match (&method, spans.last_mut()) {
            (Some(method), Some((last, sizes)))
                if before.as_ref() == Some(method) && last == method =>
            {
                sizes.push(bytes)
            }
            (Some(method), _) => spans.push((method.clone(), vec![bytes])),
            (None, _) => {}
        }
        before = method;
    }
    let edge = (1.0 + margin).ln();
    let best = best_at_most_sizes(&known_by_size(points), edge).unwrap_or_default();
    spans
        .into_iter()
        .filter_map(|(method, sizes)| segment(points, baseline, best, method, &sizes))
        .collect()
}

/// The segment of one method with its costs there. Where that is the usual choice, it is compared with the method that is best
/// elsewhere, or with the best of the others.
fn segment(
    points: &[AdvicePoint],
    baseline: &str,
    best: &str,
    method: String,
    sizes: &[u64],
) -> Option<Segment> {
    let here: Vec<&AdvicePoint> = points.iter().filter(|p| sizes.contains(&p.bytes)).collect();
    let turned = method == baseline;
    let compared = if !turned {
        method.as_str()
    } else if here.iter().any(|p| p.way == best) {
        best
    } else {
        let least = here
            .iter()
            .min_by(|a, b| a.cost.ratio.total_cmp(&b.cost.ratio))?;
        &least.way
    };
    let (mut ratios, mut low, mut high) = (Vec::new(), f64::INFINITY, 0.0_f64);
    for point in here.iter().filter(|p| p.way == compared) {
        ratios.push(point.cost.ratio);
        low = low.min(point.cost.low);
        high = high.max(point.cost.high);
    }
    let ratio = median(&mut ratios)?;
    let (ratio, at_least, at_most) = if turned {
        (1.0 / ratio, 1.0 / high, 1.0 / low)
    } else {
        (ratio, low, high)
    };
    let over = if turned { compared } else { baseline };
    Some(Segment {
        from: *sizes.first()?,
        to: *sizes.last()?,
        over: over.to_owned(),
        way: method,
        at_most,
        ratio,
        at_least,
    })
}

/// Sizes between which the answer changes from one method to another. A segment ends where less than the margin is shown; the
/// change itself is bounded by where a ratio's interval leaves 1 on either side.
pub fn flips(points: &[AdvicePoint], segments: &[Segment], baseline: &str) -> Vec<Flip> {
    let mut flips = Vec::new();
    for two in segments.windows(2) {
        let (below, beyond) = (&two[0], &two[1]);
        if below.way == beyond.way {
            continue;
        }
        let (above, up_to) = sign_changes(points, below, beyond, baseline);
        flips.push(Flip {
            above,
            up_to,
            below: below.way.clone(),
            beyond: beyond.way.clone(),
        });
    }
    flips
}

/// The largest size at which the first segment's method is shown to cost less than the second's before any at which that is
/// turned round, and the smallest at which it is after all at which it is not.
fn sign_changes(
    points: &[AdvicePoint],
    below: &Segment,
    beyond: &Segment,
    baseline: &str,
) -> (u64, u64) {
    let (mut first, mut second) = (vec![below.to], vec![beyond.from]);
    for bytes in points.iter().map(|p| p.bytes) {
        if bytes <= below.to || bytes >= beyond.from {
            continue;
        }
        let here: Vec<&AdvicePoint> = points.iter().filter(|p| p.bytes == bytes).collect();
        let below_point = here.iter().find(|p| p.way == below.way);
        let beyond_point = here.iter().find(|p| p.way == beyond.way);
        let (low, high) = match (below_point, beyond_point) {
            (Some(below), Some(beyond)) => between(below, beyond),
            (Some(point), None) if beyond.way == baseline => bounds(point),
            (None, Some(point)) if below.way == baseline => {
                let (low, high) = bounds(point);
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
