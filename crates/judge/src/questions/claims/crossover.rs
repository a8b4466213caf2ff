//! The size from which on one method is cheaper than another: a band between two sizes, never a point.

use super::comparison::{ClaimComparison, FigureTest, JobCells, JudgedJob};
use super::figure::ClaimFigure;
use record::claim::{Band, ClaimPoint, JobAnswer, NoVerdict, Word};
use record::summary::{Ratio, Summary};

/// The verdict on a crossover.
#[derive(Debug)]
struct CrossoverVerdict {
    word: Word,
    /// The band that it lies in.
    band: Option<Band>,
    /// The points that decide.
    deciding: Vec<usize>,
    why: Option<NoVerdict>,
}

/// Position of one point's interval for the praised method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Dearer,
    Cheaper,
    Open,
}

impl Sign {
    fn of_ratio(ratio: Option<&Ratio>) -> Sign {
        match ratio {
            Some(ratio) if ratio.low > 1.0 => Sign::Dearer,
            Some(ratio) if ratio.high < 1.0 => Sign::Cheaper,
            _ => Sign::Open,
        }
    }

    /// The points that have it, ascending.
    fn points(self, points: &[ClaimPoint]) -> Vec<usize> {
        (0..points.len())
            .filter(|&i| Sign::of_ratio(points[i].ratio.as_ref()) == self)
            .collect()
    }
}

impl CrossoverVerdict {
    /// The verdict by the ratios at its points (ascending) on a crossover that is claimed between two values.
    fn new(points: &[ClaimPoint], low: f64, high: f64, margin: f64) -> CrossoverVerdict {
        let dearer = Sign::Dearer.points(points);
        let cheaper = Sign::Cheaper.points(points);
        if dearer.is_empty() && cheaper.is_empty() {
            return CrossoverVerdict::without_signs(points, margin);
        }
        if !cheaper.is_empty() && dearer.first() > cheaper.last() {
            return CrossoverVerdict {
                word: Word::Reversed,
                band: None,
                deciding: vec![cheaper[cheaper.len() - 1], dearer[0]],
                why: None,
            };
        }
        if !cheaper.is_empty() && dearer.last() > cheaper.first() {
            return CrossoverVerdict::undecided(NoVerdict::CrossesOften);
        }
        CrossoverVerdict::of_band(points, &dearer, &cheaper, low, high)
    }

    fn undecided(why: NoVerdict) -> CrossoverVerdict {
        CrossoverVerdict {
            word: Word::Undecided,
            band: None,
            deciding: Vec::new(),
            why: Some(why),
        }
    }

    /// The verdict where no point shows which method is cheaper.
    fn without_signs(points: &[ClaimPoint], margin: f64) -> CrossoverVerdict {
        let same = points.iter().all(|point| {
            point
                .ratio
                .is_some_and(|e| e.low >= 1.0 / (1.0 + margin) && e.high <= 1.0 + margin)
        });
        if !same || points.is_empty() {
            return CrossoverVerdict::undecided(NoVerdict::NoSize);
        }
        CrossoverVerdict {
            word: Word::NoDifferenceHere,
            band: None,
            deciding: Vec::new(),
            why: None,
        }
    }

    /// The verdict where it is dearer up to a size and cheaper from another one on.
    fn of_band(
        points: &[ClaimPoint],
        dearer: &[usize],
        cheaper: &[usize],
        low: f64,
        high: f64,
    ) -> CrossoverVerdict {
        let (last, first) = (dearer.last().copied(), cheaper.first().copied());
        let band = Band {
            above: last.map(|point| points[point].value),
            up_to: first.map(|point| points[point].value),
        };
        let above = band.above.map(|value| value as f64);
        let up_to = band.up_to.map(|value| value as f64);
        let never = dearer.len() == points.len();
        let (word, deciding) = match (above, up_to) {
            (_, Some(up_to)) if up_to <= low => (Word::Stronger, vec![first]),
            (Some(above), None) if never && above >= high => (Word::Reversed, vec![last]),
            (Some(above), _) if above >= high => (Word::Weaker, vec![last]),
            (Some(above), Some(up_to)) if above >= low && up_to <= high => {
                (Word::Holds, vec![last, first])
            }
            _ => (Word::Undecided, Vec::new()),
        };
        CrossoverVerdict {
            word,
            band: Some(band),
            deciding: deciding.into_iter().flatten().collect(),
            why: (word == Word::Undecided).then_some(NoVerdict::BeyondRange),
        }
    }

    /// The probability that one of the deciding signs is wrong: no more than the sum of their own.
    fn p(&self, figures: &[Option<ClaimFigure>]) -> Option<f64> {
        if !self.word.is_decided() {
            return figures.iter().any(Option::is_some).then_some(1.0);
        }
        if self.deciding.is_empty() {
            return None;
        }
        let tails = self.deciding.iter().filter_map(|&point| {
            let figure = figures[point].as_ref()?;
            figure.tail(from_one(figure))
        });
        Some(tails.sum::<f64>().min(1.0))
    }
}

/// The answer to a claim of a crossover. All sizes are of one run: the first that has any of them.
pub(super) fn judged(
    comparison: &ClaimComparison,
    summaries: &[&Summary],
    margin: f64,
) -> JudgedJob {
    let values = &comparison.resolved.points;
    let summary = summaries
        .iter()
        .find(|s| (0..values.len()).any(|point| comparison.cells(s, point).is_some()));
    let mut figures: Vec<Option<ClaimFigure>> = Vec::new();
    let mut unmeasured: Vec<JobCells> = Vec::new();
    for point in 0..values.len() {
        let cells = summary.and_then(|s| Some((*s, comparison.cells(s, point)?)));
        let figure = cells.and_then(|(summary, cells)| comparison.figure(summary, cells));
        if figure.is_none() {
            unmeasured.extend(cells.map(|(_, cells)| cells));
        }
        figures.push(figure);
    }
    let mut answer = JobAnswer {
        run: summary.map_or_else(String::new, |s| s.run.clone()),
        points: values
            .iter()
            .zip(&figures)
            .map(|(&value, figure)| ClaimPoint {
                value,
                ratio: figure.as_ref().map(|figure| figure.estimate),
            })
            .collect(),
        paired: figures.iter().flatten().all(|figure| figure.paired),
        late: unmeasured.iter().any(|cells| cells.is_late()),
        ..comparison.blank()
    };
    let (low, high) = answer
        .holds
        .0
        .zip(answer.holds.1)
        .unwrap_or((0.0, f64::MAX));
    let mut verdict = CrossoverVerdict::new(&answer.points, low, high, margin);
    if figures.iter().all(Option::is_none) {
        let (word, why) = unmeasured
            .first()
            .map_or((Word::Undecided, NoVerdict::NoRun), |cells| {
                cells.why_unmeasured()
            });
        (verdict.word, verdict.why) = (word, Some(why));
    }
    let p = verdict.p(&figures);
    let is_noisy = (0..figures.len()).any(|point| {
        let decides = verdict.deciding.is_empty() || verdict.deciding.contains(&point);
        let cells = summary.and_then(|s| Some((s, comparison.cells(s, point)?)));
        let cells = cells.filter(|_| decides && figures[point].is_some());
        cells.is_some_and(|(summary, cells)| comparison.is_disturbed(summary, cells))
    });
    (answer.word, answer.band, answer.why) = (verdict.word, verdict.band, verdict.why);
    let judged = JudgedJob {
        answer,
        p,
        coarse: None,
        tests: sign_tests(figures),
        is_noisy: false,
    };
    if is_noisy { judged.withheld() } else { judged }
}

fn sign_tests(figures: Vec<Option<ClaimFigure>>) -> Vec<FigureTest> {
    let mut tests = Vec::new();
    for (point, figure) in figures.into_iter().enumerate() {
        let Some(figure) = figure else { continue };
        let distance = from_one(&figure);
        tests.push(FigureTest {
            point,
            figure,
            distance,
            to_coarse: distance,
        });
    }
    tests
}

/// Distance of a figure from one, where neither method is cheaper.
fn from_one(figure: &ClaimFigure) -> f64 {
    figure.estimate.ratio.ln().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::tests::MARGIN;
    use stats::rng::Seeded;

    fn point(value: u64, low: f64, high: f64) -> ClaimPoint {
        let ratio = (low * high).sqrt();
        ClaimPoint {
            value,
            ratio: Some(Ratio {
                ratio,
                low,
                high,
                level: 0.95,
                launches: 9,
                error: (high / low).ln() / 4.6,
                freedom: 8.0,
                drift: None,
            }),
        }
    }

    #[test]
    fn a_crossover_has_its_word_by_the_signs_of_the_sizes() {
        let sizes = [4_u64 << 10, 16 << 10, 64 << 10, 256 << 10];
        for (ratios, expected) in [
            ([2.0, 1.5, 0.8, 0.5], Word::Holds),
            ([2.0, 0.8, 0.7, 0.5], Word::Stronger),
            ([0.9, 0.8, 0.7, 0.5], Word::Stronger),
            ([2.0, 1.8, 1.5, 0.5], Word::Weaker),
            ([2.0, 1.8, 1.5, 1.0], Word::Weaker),
            ([2.0, 1.8, 1.5, 1.2], Word::Reversed),
            ([0.5, 0.8, 1.2, 1.5], Word::Reversed),
            ([2.0, 1.0, 0.8, 0.5], Word::Undecided),
            ([2.0, 1.5, 1.0, 0.5], Word::Undecided),
            ([2.0, 0.5, 2.0, 0.5], Word::Undecided),
            ([1.0, 1.0, 1.0, 1.0], Word::NoDifferenceHere),
        ] {
            let points: Vec<ClaimPoint> = sizes
                .iter()
                .zip(ratios)
                .map(|(size, ratio)| point(*size, ratio * 0.98, ratio * 1.02))
                .collect();
            let verdict = CrossoverVerdict::new(&points, 16384.0, 65536.0, MARGIN);
            assert_eq!(verdict.word, expected, "{ratios:?}");
        }
    }

    /// Seeded simulations of a cost that crosses at a known size: the band must contain it in 95 % of them at least.
    #[test]
    fn bands_contain_the_crossover() {
        let mut random = Seeded::new(7);
        let (mut bands, mut right) = (0, 0);
        for _ in 0..400 {
            let truth = (64.0 * 1024.0) * (2.0 * random.unit() - 1.0).exp();
            let sizes: Vec<u64> = (12..22).map(|power| 1_u64 << power).collect();
            let points: Vec<ClaimPoint> = sizes
                .iter()
                .map(|size| {
                    // The true log ratio is a line through zero at the crossover; ten launches with noise of 10 %.
                    let centre = -0.15 * (*size as f64 / truth).ln();
                    let logs: Vec<f64> = (0..10)
                        .map(|_| centre + 0.1 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0))
                        .collect();
                    ClaimPoint {
                        value: *size,
                        ratio: crate::contrast::estimate::of_series(&logs, 0.95),
                    }
                })
                .collect();
            let verdict = CrossoverVerdict::new(&points, 32768.0, 131_072.0, MARGIN);
            if let Some(band) = verdict.band {
                bands += 1;
                let above = band.above.is_none_or(|size| (size as f64) <= truth);
                let below = band.up_to.is_none_or(|size| (size as f64) >= truth);
                right += u32::from(above && below);
            }
        }
        assert!(
            bands > 350 && f64::from(right) >= 0.95 * f64::from(bands),
            "{right} of {bands}"
        );
    }
}
