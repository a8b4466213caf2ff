//! Comparisons of claims without a verdict, and the launches that should decide them. What is measured next follows from
//! it, so every interim analysis of a figure has its price in the verdicts ([`stats::looks`]).

use super::comparison::FigureTest;
use super::family::{self, FAMILY};
use super::figure::{self, ClaimFigure};
use record::cell::Cell;
use record::claim::{ClaimKind, ResolvedClaim, ResolvedJob};
use record::summary::{CellSummary, ExperimentSummary, LaunchValues, Ratio, Summary};
use stats::looks::next_look;

/// Most launches that a comparison gets for a verdict: what needs more lies on an edge.
const MOST_LAUNCHES: usize = 110;
/// Launches with which a ratio that was seen to move is taken to.
const SEEN_TO_MOVE: usize = 21;
/// Launches from which on an error is taken for what it is.
const ERROR_KNOWN: usize = 32;

/// Launches that a comparison still lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingLaunches {
    pub cells: Vec<Cell>,
    /// The launches after which it should have its verdict, those included that it has.
    pub launches: usize,
    /// True if it is the verdict on the claim: the corrected comparison, where there is one.
    pub decides: bool,
    /// True if those launches should bring it; otherwise it seems to lie on an edge, and they are only the next interim
    /// analysis.
    pub likely: bool,
}

/// Comparisons without a verdict in a summary. What seems to lie so near an edge that no launches would do is marked: a few
/// disturbed launches make it seem so. What more launches do not change is not among them.
pub fn wanted(claims: &[ResolvedClaim], summary: &Summary, margin: f64) -> Vec<MissingLaunches> {
    let judged = family::judged(claims, &[summary], margin);
    let questions = judged
        .iter()
        .flatten()
        .filter(|job| job.p.is_some())
        .count()
        .max(1);
    let level = FAMILY / questions as f64;
    let mut missing = Vec::new();
    for (claim, judged) in claims.iter().zip(&judged) {
        for (number, (job, judged)) in claim.jobs.iter().zip(judged).enumerate() {
            let word = judged.answer.word;
            if word.is_decided() && !word.is_coarse() {
                continue;
            }
            let decides = number == 0 && !word.is_coarse();
            for test in &judged.tests {
                let holds_already = claim.claim.kind == ClaimKind::Crossover
                    && !judged.is_noisy
                    && test.p(decides).is_none_or(|p| p <= level);
                if !holds_already {
                    let lacking = lacking(job, test, decides, level);
                    missing.extend(lacking.map(|wanted| MissingLaunches {
                        // Further launches may be as noisy.
                        likely: wanted.likely && !judged.is_noisy,
                        ..wanted
                    }));
                }
            }
        }
    }
    missing
}

impl FigureTest {
    /// The distance from the edge that it must not cross next: any verdict on a claim comes first, then the exact one.
    fn next_distance(&self, decides: bool) -> f64 {
        if decides {
            self.to_coarse
        } else {
            self.distance
        }
    }

    fn p(&self, decides: bool) -> Option<f64> {
        self.figure.tail(self.next_distance(decides))
    }
}

/// Launches that one figure lacks until it holds at this level.
fn lacking(
    job: &ResolvedJob,
    test: &FigureTest,
    decides: bool,
    level: f64,
) -> Option<MissingLaunches> {
    let estimate = test.figure.estimate;
    // Of a ratio that moves, more launches say no more than that; extremes have no error.
    let moves = estimate.drift.is_some() && estimate.launches >= SEEN_TO_MOVE;
    if moves || test.p(decides).is_none() {
        return None;
    }
    let mut looks: Vec<usize> = Vec::new();
    let mut launches = next_look(estimate.launches);
    while launches <= MOST_LAUNCHES {
        looks.push(launches);
        launches = next_look(launches);
    }
    let hoped = hoped(&test.figure);
    let distance = test.next_distance(decides);
    let enough = looks.iter().find(|launches| {
        hoped
            .tail_after(distance, **launches)
            .is_some_and(|p| p <= level)
    });
    Some(MissingLaunches {
        cells: [job.way.get(test.point), job.other.get(test.point)]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        launches: *enough.or(looks.first())?,
        decides,
        likely: enough.is_some(),
    })
}

/// A figure as it may turn out. Few launches look more alike than they are; of many the error is known, and what they leave of
/// the degrees of freedom counts.
fn hoped(figure: &ClaimFigure) -> ClaimFigure {
    let estimate = figure.estimate;
    let freedom = if estimate.launches < ERROR_KNOWN {
        estimate.freedom.max(estimate.launches as f64 - 1.0)
    } else {
        estimate.freedom
    };
    ClaimFigure {
        estimate: Ratio {
            error: estimate.error / doubt(estimate.launches),
            freedom,
            ..estimate
        },
        ..figure.clone()
    }
}

/// Possible overestimate of an error with so many launches: one disturbed launch of six makes it, so giving up waits.
fn doubt(launches: usize) -> f64 {
    match launches {
        0..9 => 3.0,
        9..14 => 2.0,
        14..ERROR_KNOWN => 1.4,
        _ => 1.0,
    }
}

/// Time of one launch of a cell in the first summary that has it, in seconds: its share of its experiment's launches, by
/// the time of its phases. What proofs, starts and warm-up took is in it.
pub fn launch_s(wanted: &Cell, summaries: &[&Summary]) -> Option<f64> {
    summaries
        .iter()
        .find_map(|summary| launch_s_in(summary, wanted))
}

fn launch_s_in(summary: &Summary, wanted: &Cell) -> Option<f64> {
    let cell = figure::cell(summary, wanted).filter(|cell| cell.launches > 0)?;
    let experiment = summary.experiment(&wanted.experiment)?;
    let experiment_ns: f64 = summary
        .cells
        .iter()
        .filter(|cell| cell.experiment == wanted.experiment)
        .map(|cell| phases_ns(cell, experiment))
        .sum();
    let seconds =
        experiment.launch_s * phases_ns(cell, experiment) / experiment_ns / cell.launches as f64;
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

fn phases_ns(cell: &CellSummary, experiment: &ExperimentSummary) -> f64 {
    cell.per_launch
        .iter()
        .map(|launch| launch_ns(launch, &experiment.definition.phases))
        .sum()
}

fn launch_ns(launch: &LaunchValues, phases: &[String]) -> f64 {
    let wall_ns: f64 = phases
        .iter()
        .filter_map(|phase| launch.wall_ns.get(phase))
        .sum();
    wall_ns * launch.rounds as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::tests::{MARGIN, cell, claim, pair, resolved};
    use record::summary::{Warning, WarningKind};
    use stats::estimate::Drift;

    /// The launches that are wanted, and whether they should bring a verdict.
    fn launches(n: usize, distance: f64, drift: Option<(f64, f64)>) -> Option<(usize, bool)> {
        let estimate = Ratio {
            ratio: 0.9,
            low: 0.88,
            high: 0.92,
            level: 0.95,
            launches: n,
            error: 0.01,
            freedom: n as f64 - 1.0,
            drift: drift.map(Drift::from),
        };
        let figure = ClaimFigure {
            estimate,
            paired: true,
            unit: String::new(),
        };
        let test = FigureTest {
            point: 0,
            figure,
            distance,
            to_coarse: distance,
        };
        lacking(&ResolvedJob::default(), &test, true, FAMILY / 100.0)
            .map(|wanted| (wanted.launches, wanted.likely))
    }

    #[test]
    fn the_nearer_the_edge_the_more_launches_and_on_it_the_next_look() {
        assert_eq!(
            [launches(40, 0.1, None), launches(40, 0.04, None)],
            [Some((48, true)), Some((72, true))]
        );
        assert_eq!(launches(40, 0.001, None), Some((48, false)));
        assert_eq!(launches(110, 0.001, None), None, "it has had its launches");
        assert!(
            launches(6, 0.04, None).is_some_and(|(_, likely)| likely),
            "six launches may have been disturbed"
        );
    }

    #[test]
    fn what_moves_gets_no_more_once_that_is_plain() {
        assert_eq!(launches(40, 0.1, Some((0.8, 1.0))), None);
        assert!(launches(9, 0.1, Some((0.8, 1.0))).is_some());
    }

    fn wanted_at(ratio: f64) -> Vec<MissingLaunches> {
        let claim = resolved(claim("ratio", "low = 0.4\nhigh = 0.6"));
        wanted(&[claim], &pair(ratio), MARGIN)
    }

    /// Its launches are wanted, after those of all that is likelier to be settled.
    #[test]
    fn what_is_noisy_wants_launches_last() {
        let claim = resolved(claim("ratio", "low = 0.4\nhigh = 0.6"));
        let mut noisy = pair(0.5);
        noisy.warnings = vec![Warning {
            kind: WarningKind::Throttled { share: 0.3 },
            at: String::new(),
            cells: vec![1],
        }];
        let wanted = wanted(&[claim], &noisy, MARGIN);
        assert!(wanted.len() == 1 && !wanted[0].likely, "{wanted:?}");
    }

    #[test]
    fn what_has_no_word_wants_launches() {
        assert!(wanted_at(0.5).is_empty(), "it has its word");
        let near = wanted_at(0.599);
        assert_eq!(near.len(), 1);
        assert!(
            near[0].launches > 10 && near[0].launches <= 110 && near[0].decides,
            "{near:?}"
        );
        assert_eq!(near[0].cells, [cell("a", "64"), cell("b", "64")]);
        let coarse = wanted_at(0.4);
        assert!(
            coarse.len() == 1 && !coarse[0].decides,
            "the exact word comes after all claims have one: {coarse:?}"
        );
    }
}
