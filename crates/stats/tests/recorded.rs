//! Does the interval hold the truth with launches that really happened? Recorded comparisons of seven experiments: a cell
//! with its duplicate, whose ratio is 1, and with the same that does exactly 5 % more, whose ratio is what all launches
//! say together. Every run of neighbouring launches is judged, in the order in which they ran, so that the memory of a
//! real machine is in it.

use pagewise_stats::estimate::{Point, estimates};
use pagewise_stats::interval::CONFIDENCE;

const LENGTHS: [usize; 4] = [6, 10, 16, 30];

/// ln(duplicate / baseline) and ln(5 % more / baseline) of every launch, by experiment.
fn recorded() -> Vec<(String, [Vec<f64>; 2])> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/launches");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the recording") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let mut series = [Vec::new(), Vec::new()];
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (same, more) = line.split_once(' ').expect("two columns");
            for (series, value) in series.iter_mut().zip([same, more]) {
                series.push(value.parse::<f64>().expect("a number") / 1e6);
            }
        }
        found.push((
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
            series,
        ));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Intervals of runs of `n` neighbouring launches that hold the truth, and all of them; those of one group are judged together.
fn covered(series: &[Vec<f64>; 2], which: usize, n: usize) -> (usize, usize) {
    let truth = if which == 0 {
        0.0
    } else {
        series[1].iter().sum::<f64>() / series[1].len() as f64
    };
    let runs = series[0].len() - n + 1;
    let mut holding = 0;
    for start in 0..runs {
        let group = [0, 1].map(|side: usize| points(&series[side][start..start + n]));
        let judged = &estimates(&group, CONFIDENCE)[which];
        let judged = judged.as_ref().expect("enough launches");
        holding += usize::from(judged.low.ln() <= truth && truth <= judged.high.ln());
    }
    (holding, runs)
}

fn points(logs: &[f64]) -> Vec<Point> {
    logs.iter()
        .map(|log| Point {
            log: *log,
            rounds: 1,
            round_variance: 0.0,
        })
        .collect()
}

/// Neighbouring runs of 30 share most of their launches: no more than a dozen of an experiment's share none, so one
/// experiment may lie at 88 or 100 % by chance, and what is asserted is the mean of all.
#[test]
fn intervals_of_launches_that_happened_hold_the_truth() {
    let all = recorded();
    assert!(all.len() >= 7, "{} experiments are recorded", all.len());
    for (which, name, most) in [(0, "identical", 0.99), (1, "5 % more", 0.98)] {
        for n in LENGTHS {
            let each: Vec<f64> = all
                .iter()
                .map(|(_, series)| {
                    let (held, runs) = covered(series, which, n);
                    held as f64 / runs as f64
                })
                .collect();
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            let words: Vec<String> = all
                .iter()
                .zip(&each)
                .map(|((name, _), share)| format!("{name} {share:.3}"))
                .collect();
            println!("{name}, {n} launches: {mean:.3} ({})", words.join(", "));
            assert!(
                (0.92..=most).contains(&mean),
                "{name}, {n} launches: {mean}"
            );
        }
    }
}
