//! Comparisons of claims without a verdict, and the launches that should decide them. What is measured next follows from
//! it, so every look at a figure has its price in the words ([`stats::looks`]).

use super::{FAMILY, FigureTest, JudgedJob, adjust, figure, figure::ClaimFigure, jobs};
use record::cell::Cell;
use record::claim::{ClaimKind, ResolvedClaim, ResolvedJob};
use record::summary::{CellSummary, ExperimentSummary, Ratio, Summary};
use stats::looks::next_look;

/// No comparison gets more launches than this for a word: what needs more lies on an edge.
const MOST_LAUNCHES: usize = 110;
/// With so many launches a ratio that was seen to move is taken to.
const SEEN_TO_MOVE: usize = 21;
/// From so many launches on an error is taken for what it is.
const ERROR_KNOWN: usize = 32;

/// Launches that a comparison still lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingLaunches {
    pub cells: Vec<Cell>,
    /// The launches after which it should have its word, those included that it has.
    pub launches: usize,
    /// True if it is the word on the claim: the corrected comparison, where there is one.
    pub decides: bool,
    /// True if those launches should bring it; otherwise it seems to lie on an edge, and they are only the next look.
    pub likely: bool,
}

/// Comparisons without a verdict in a summary. What seems to lie so near an edge that no launches would do is told
/// apart: a few disturbed launches make it seem so. What more launches do not change is not among them.
pub fn wanted(claims: &[ResolvedClaim], summary: &Summary, margin: f64) -> Vec<MissingLaunches> {
    let mut judged: Vec<Vec<JudgedJob>> = claims
        .iter()
        .map(|claim| jobs(claim, &[summary], margin))
        .collect();
    adjust(&mut judged);
    let questions = judged
        .iter()
        .flatten()
        .filter(|f| f.p.is_some())
        .count()
        .max(1);
    let mut all = Vec::new();
    for (claim, judged) in claims.iter().zip(&judged) {
        for (number, (job, found)) in claim.jobs.iter().zip(judged).enumerate() {
            let word = found.answer.word;
            if word.is_decided() && !word.is_coarse() {
                continue;
            }
            let (level, decides) = (FAMILY / questions as f64, number == 0 && !word.is_coarse());
            // Any verdict comes first, then the exact one.
            let distance = |test: &FigureTest| {
                if decides {
                    test.to_coarse
                } else {
                    test.distance
                }
            };
            let open = found
                .tests
                .iter()
                .filter_map(|t| lacking(claim, job, (t, distance(t)), decides, level));
            all.extend(open);
        }
    }
    all
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

/// Launches that one figure lacks until it holds at this level.
fn lacking(
    resolved: &ResolvedClaim,
    job: &ResolvedJob,
    (test, distance): (&FigureTest, f64),
    decides: bool,
    level: f64,
) -> Option<MissingLaunches> {
    let have = test.figure.estimate.launches;
    // Of a ratio that moves, more launches say no more than that.
    if test.figure.estimate.drift.is_some() && have >= SEEN_TO_MOVE {
        return None;
    }
    // Few launches look more alike than they are; of many it is known, and what they leave of the degrees of freedom counts.
    let seen = test.figure.estimate;
    let freedom = if have < ERROR_KNOWN {
        seen.freedom.max(have as f64 - 1.0)
    } else {
        seen.freedom
    };
    let hoped = ClaimFigure {
        estimate: Ratio {
            error: seen.error / doubt(have),
            freedom,
            ..seen
        },
        ..test.figure.clone()
    };
    let enough = |launches: &usize| {
        hoped
            .tail_after(distance, *launches)
            .is_some_and(|p| p <= level)
    };
    let holds_now = test.figure.tail(distance)? <= level;
    if resolved.claim.kind == ClaimKind::Crossover && holds_now {
        return None;
    }
    let looks = std::iter::successors(Some(next_look(have)), |at| Some(next_look(*at)));
    let mut looks = looks.take_while(|at| *at <= MOST_LAUNCHES);
    let next = looks.clone().next()?;
    let (launches, likely) = looks
        .find(enough)
        .map_or((next, false), |launches| (launches, true));
    let cells = [job.way.get(test.point), job.other.get(test.point)]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    Some(MissingLaunches {
        cells,
        launches,
        decides,
        likely,
    })
}

/// Time of one launch of a cell in the first summary that has it, in seconds: its share of its experiment's launches, by
/// the time of its phases. What proofs, starts and warm-up took is in it.
pub fn launch_s(wanted: &Cell, summaries: &[&Summary]) -> Option<f64> {
    let seconds = |summary: &&Summary| {
        let cell = figure::cell(summary, wanted).filter(|c| c.launches > 0)?;
        let experiment = summary.experiment(&wanted.experiment)?;
        let mine = summary
            .cells
            .iter()
            .filter(|c| c.experiment == wanted.experiment);
        let all: f64 = mine.map(|c| phases_ns(c, experiment)).sum();
        let seconds =
            experiment.launch_s * phases_ns(cell, experiment) / all / cell.launches as f64;
        (seconds.is_finite() && seconds > 0.0).then_some(seconds)
    };
    summaries.iter().find_map(seconds)
}

fn phases_ns(cell: &CellSummary, experiment: &ExperimentSummary) -> f64 {
    let phases = || experiment.definition.phases.iter();
    let launch_ns = |l: &record::summary::LaunchValues| {
        phases().filter_map(|p| l.wall_ns.get(p)).sum::<f64>() * l.rounds as f64
    };
    cell.per_launch.iter().map(launch_ns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::claim::Claim;
    use stats::estimate::Drift;

    /// The launches that are asked for, and whether they should bring a word.
    fn launches(n: usize, distance: f64, drift: Option<(f64, f64)>) -> Option<(usize, bool)> {
        let text = "id = \"x\"\nstatement = \"A.\"\nkind = \"ratio\"\nabout = [\"copy\"]\n[source]\ntitle = \"T\"\n\
                author = \"N\"\naddress = \"https://example.org/a\"\nfigure = \"half\"\nread = \"2026-11-21\"\n\
                [holds]\nhigh = 0.9\n[corrected]\nexperiment = \"copy\"\nway = \"a\"\nother = \"b\"\n";
        let asked = ResolvedClaim {
            claim: Claim::parse("x.toml", text).unwrap(),
            jobs: Vec::new(),
        };
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
        lacking(
            &asked,
            &ResolvedJob::default(),
            (&test, distance),
            true,
            FAMILY / 100.0,
        )
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
}
