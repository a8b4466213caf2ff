//! Advice from summaries: which method costs less at which size, between which sizes that changes, and what is not settled.
//! Pure: the same summaries give the same advice.

mod answer;
mod choice;
mod merge;
mod points;
mod pool;

pub use answer::{answer, question};
pub use choice::{choices, flips, segments};
pub use merge::merge;
pub use points::{AdviceRequest, UntakenValue, has, points};
pub use pool::pooled;

#[cfg(test)]
mod tests {
    //! Advice from synthetic figures, on both sides of every threshold.

    use std::collections::BTreeMap;

    use record::advice::{Advice, AdvicePoint, Case, Fingerprint, Flip, Question, Topic};
    use record::cell::Cell;
    use record::experiment::Experiment;
    use record::folder::RunFolder;
    use record::summary::{Doubt, Ratio, Recommendation, Summary, Verdict};
    use stats::rng::Seeded;

    use crate::summarise::rounded;

    use super::answer::{answer, conditions, contradicts, question};
    use super::choice::{choices, flips, segments};
    use super::merge::merge;
    use super::points::AdviceRequest;
    use super::pool::pooled;

    const MARGIN: f64 = 0.02;

    /// A ratio whose 95 % limits are `width` to either side, of many launches.
    fn cost(ratio: f64, width: f64) -> Ratio {
        Ratio {
            ratio,
            low: ratio / (1.0 + width),
            high: ratio * (1.0 + width),
            level: 0.95,
            launches: 400,
            error: width.ln_1p() / 1.966,
            freedom: 399.0,
            drift: None,
        }
    }

    fn point(bytes: u64, method: &str, ratio: f64, width: f64) -> AdvicePoint {
        AdvicePoint {
            bytes,
            way: method.to_owned(),
            cost: cost(ratio, width),
        }
    }

    fn only_choice(points: &[AdvicePoint]) -> Option<String> {
        let choices = choices(points, "old", MARGIN);
        assert_eq!(choices.len(), 1);
        choices[0].1.clone()
    }

    fn choice_at(ratio: f64, width: f64) -> Option<String> {
        only_choice(&[point(1, "new", ratio, width)])
    }

    #[test]
    fn a_method_is_advised_only_beyond_the_margin_at_all_sizes_together() {
        assert_eq!(choice_at(0.8, 0.01).as_deref(), Some("new"));
        assert_eq!(choice_at(1.2, 0.01).as_deref(), Some("old"));
        for (ratio, width) in [
            (0.985, 0.001),
            (1.015, 0.001),
            (1.0, 0.3),
            (0.9, 0.2),
            (1.1, 0.2),
        ] {
            assert_eq!(choice_at(ratio, width), None, "{ratio} ±{width}");
        }
        // The 95 % limit lies beyond the margin by a hair; among six sizes that is not enough.
        assert_eq!(choice_at(0.98 / 1.02, 0.0185), None);
        assert!(cost(0.98 / 1.02, 0.0185).high < 1.0 / (1.0 + MARGIN));
    }

    #[test]
    fn no_advice_is_ever_given_inside_the_margin() {
        let mut random = Seeded::new(7);
        for _ in 0..1500 {
            let mut points = Vec::new();
            for bytes in 1..=6 {
                for method in ["a", "b", "c"] {
                    points.push(point(
                        bytes,
                        method,
                        (random.unit() - 0.5).exp(),
                        0.3 * random.unit(),
                    ));
                }
            }
            let edge = 1.0 + MARGIN;
            for segment in segments(&points, "old", MARGIN) {
                for bytes in segment.from..=segment.to {
                    let here = points.iter().filter(|p| p.bytes == bytes);
                    let shown = if segment.way == "old" {
                        here.clone().any(|p| p.cost.low > edge)
                            && here.clone().all(|p| p.cost.low > 1.0 / edge)
                    } else {
                        here.clone()
                            .any(|p| p.way == segment.way && p.cost.high < 1.0 / edge)
                    };
                    assert!(shown, "{segment:?} at {bytes}");
                }
                assert!(
                    segment.at_least <= segment.ratio && segment.ratio <= segment.at_most,
                    "{segment:?}"
                );
            }
        }
    }

    #[test]
    fn segments_end_at_measured_sizes_and_leave_a_band_between() {
        let points = [
            point(10, "new", 1.5, 0.01),
            point(20, "new", 1.2, 0.01),
            point(30, "new", 1.0, 0.05),
            point(40, "new", 0.8, 0.01),
            point(80, "new", 0.5, 0.01),
        ];
        let segments = segments(&points, "old", MARGIN);
        let short: Vec<(u64, u64, &str, &str)> = segments
            .iter()
            .map(|s| (s.from, s.to, s.way.as_str(), s.over.as_str()))
            .collect();
        assert_eq!(short, [(10, 20, "old", "new"), (40, 80, "new", "old")]);
        let flip = &flips(&points, &segments, "old")[0];
        assert_eq!(
            (
                flip.above,
                flip.up_to,
                flip.below.as_str(),
                flip.beyond.as_str()
            ),
            (20, 40, "old", "new")
        );
        assert!(
            (segments[0].ratio - 1.0 / 1.5_f64.max(1.2)).abs() < 0.2 && segments[0].at_most < 1.0
        );
    }

    /// The change of the answer between the segments at 10 and at 40.
    fn only_flip(points: &[AdvicePoint]) -> Flip {
        let segments = segments(points, "old", MARGIN);
        let sizes: Vec<(u64, u64)> = segments.iter().map(|s| (s.from, s.to)).collect();
        assert_eq!(sizes, [(10, 10), (40, 40)]);
        let mut flips = flips(points, &segments, "old");
        assert_eq!(flips.len(), 1);
        flips.remove(0)
    }

    #[test]
    fn the_change_is_bounded_by_the_sign_and_the_segments_by_the_margin() {
        let mut points = vec![
            point(10, "new", 1.5, 0.001),
            point(20, "new", 1.01, 0.001),
            point(25, "new", 1.0, 0.01),
            point(30, "new", 0.99, 0.001),
            point(40, "new", 0.8, 0.001),
        ];
        let flip = only_flip(&points);
        assert_eq!(
            (flip.above, flip.up_to, flip.below.as_str()),
            (20, 30, "old")
        );
        // Where the signs do not agree on one change, all of them lie within the band.
        (points[1].cost, points[3].cost) = (cost(0.99, 0.001), cost(1.01, 0.001));
        let flip = only_flip(&points);
        assert_eq!((flip.above, flip.up_to), (10, 40));
        let turned: Vec<AdvicePoint> = [1.5, 1.01, 1.0, 0.99, 0.8]
            .into_iter()
            .rev()
            .zip([10, 20, 25, 30, 40])
            .map(|(ratio, bytes)| point(bytes, "new", ratio, 0.001))
            .collect();
        let flip = only_flip(&turned);
        assert_eq!(
            (flip.above, flip.up_to, flip.below.as_str()),
            (20, 30, "new")
        );
    }

    #[test]
    fn a_third_method_takes_over_only_where_it_is_shown_to_be_better() {
        let points = [
            point(1, "a", 0.8, 0.01),
            point(1, "b", 0.79, 0.01),
            point(2, "a", 0.8, 0.01),
            point(2, "b", 0.5, 0.01),
            point(3, "a", 0.8, 0.01),
        ];
        let methods: Vec<Option<String>> = choices(&points, "old", MARGIN)
            .into_iter()
            .map(|(_, method)| method)
            .collect();
        assert_eq!(
            methods,
            [
                Some("a".to_owned()),
                Some("b".to_owned()),
                Some("a".to_owned())
            ]
        );
    }

    fn pooled_cost(a: f64, b: f64) -> Ratio {
        pooled(vec![point(1, "new", a, 0.05), point(1, "new", b, 0.05)])[0].cost
    }

    #[test]
    fn runs_that_agree_narrow_and_runs_that_disagree_widen() {
        let (alone, agree, disagree) = (
            cost(0.8, 0.05),
            pooled_cost(0.8, 0.801),
            pooled_cost(0.6, 1.1),
        );
        assert!(agree.half_width() < alone.half_width());
        assert!(disagree.half_width() > 3.0 * alone.half_width());
        assert!(disagree.low < 0.6 && disagree.high > 1.1, "{disagree:?}");
        assert_eq!(
            only_choice(&[AdvicePoint {
                bytes: 1,
                way: "new".into(),
                cost: disagree
            }]),
            None
        );
    }

    fn advice(run: &str, points: Vec<AdvicePoint>) -> Advice {
        let question = Question {
            conditions: BTreeMap::new(),
            does: "do it".into(),
            experiment: "copy".into(),
            settings: BTreeMap::new(),
            baseline: "old".into(),
            segments: segments(&points, "old", MARGIN),
            points,
            runs: vec![run.into()],
        };
        // Its figures have ten digits, as those of every file that is written.
        rounded(Advice {
            schema: 1,
            created: run.into(),
            version: "1".into(),
            machine: Fingerprint::default(),
            margin: MARGIN,
            questions: BTreeMap::from([("copy".to_owned(), question)]),
        })
    }

    fn curve(ratios: [f64; 4]) -> Vec<AdvicePoint> {
        (1..)
            .zip(ratios)
            .map(|(bytes, ratio)| point(bytes, "new", ratio, 0.02))
            .collect()
    }

    fn first_flip(advice: &Advice) -> Option<(u64, u64)> {
        let question = &advice.questions["copy"];
        flips(&question.points, &question.segments, "old")
            .first()
            .map(|flip| (flip.above, flip.up_to))
    }

    #[test]
    fn files_of_equal_machines_are_merged_and_disagreement_widens_the_band() {
        let (first, second) = (
            advice("1", curve([1.5, 1.3, 0.7, 0.5])),
            advice("2", curve([1.5, 0.7, 0.7, 0.5])),
        );
        let merged = merge(&[first.clone(), second.clone()]).unwrap();
        assert_eq!(
            (first_flip(&first), first_flip(&second), first_flip(&merged),),
            (Some((2, 3)), Some((1, 2)), Some((1, 3)))
        );
        assert_eq!(merged.questions["copy"].runs, ["1", "2"]);
        assert_eq!(
            merge(&[second, first.clone()]).unwrap().questions,
            merged.questions,
            "the order does not matter"
        );
        assert_eq!(
            merge(&[first.clone(), first.clone()]).unwrap(),
            first,
            "a run counts once"
        );
        let mut other = first.clone();
        other.machine.kernel = "7.0".into();
        let error = merge(&[first, other]).unwrap_err().to_string();
        assert!(error.contains("kernel (7.0 here"), "{error}");
    }

    fn advised(method: &str, within: &[&str], open: &[&str]) -> Case {
        Case {
            way: Some(method.to_owned()),
            within: within.iter().map(|name| (*name).to_owned()).collect(),
            unsettled: open.iter().map(|name| (*name).to_owned()).collect(),
            ..Case::default()
        }
    }

    #[test]
    fn a_condition_contradicts_where_what_is_advised_elsewhere_is_shown_to_be_worse() {
        let first = advised("mmap", &[], &[]);
        assert!(contradicts(&first, &advised("read", &[], &[])));
        assert!(!contradicts(&first, &advised("mmap", &[], &[])));
        // As fast as the fastest, or not settled: nothing that a reader could catch as wrong.
        assert!(!contradicts(&first, &advised("read", &["mmap"], &[])));
        assert!(!contradicts(&first, &advised("read", &[], &["mmap"])));
        assert!(!contradicts(
            &first,
            &Case {
                way: None,
                ..Case::default()
            }
        ));
    }

    fn text(path: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        std::fs::read_to_string(format!("{root}/{path}")).unwrap()
    }

    fn cell(summary: &Summary, index: usize) -> Cell {
        let cell = &summary.cells[index];
        Cell {
            experiment: cell.experiment.clone(),
            method: cell.method.clone(),
            worker: cell.worker.clone(),
            parameters: cell.parameters.clone(),
        }
    }

    /// A recorded run of touch and populate, whose recommendation is open.
    fn open_run() -> (AdviceRequest, Summary) {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let folder = RunFolder::open(
            &format!("{root}/tests/fixtures/runs/ordinary"),
            root.as_ref(),
        )
        .unwrap();
        let mut summary = crate::replay(&folder).unwrap().1;
        summary.groups[0].recommendation = Recommendation::Inconclusive { cell: 0 };
        let request = AdviceRequest {
            topic: Topic::parse("fault.toml", &text("advice/fault.toml")).unwrap(),
            settings: BTreeMap::new(),
            experiment: Experiment::parse("fault.toml", &text("experiments/fault.toml")).unwrap(),
            open: BTreeMap::new(),
            measure: "ready".to_owned(),
            baseline: cell(&summary, 0),
            methods: vec![("populate".to_owned(), cell(&summary, 1))],
            untaken: Vec::new(),
            bytes: 1 << 20,
            asked_bytes: 1 << 20,
        };
        (request, summary)
    }

    /// The advice of the open run with this verdict on populate, and of the same under another condition, which rests on the
    /// group's verdict alone; each with the methods that are not settled.
    fn advised_at(verdict: Verdict) -> [(String, Vec<String>); 2] {
        let (request, mut summary) = open_run();
        for comparison in &mut summary.groups[0].comparisons {
            if comparison.cell == 1 && comparison.phase == "ready" {
                comparison.contrast.ratio = Some(cost(0.7, 0.1));
                comparison.contrast.verdict = verdict;
                comparison.contrast.holds_among_all = true;
            }
        }
        let answer = answer(
            &request,
            &[BTreeMap::new()],
            &[&summary],
            &[],
            MARGIN,
            |_| Vec::new(),
        );
        [&answer.case, &answer.also[0]]
            .map(|case| (case.way.clone().unwrap(), case.unsettled.clone()))
    }

    #[test]
    fn what_looks_faster_and_is_noisy_is_advised_neither_here_nor_in_the_file() {
        let (request, mut summary) = open_run();
        let advised = |summary: &Summary| {
            let answer = answer(&request, &[], &[summary], &[], MARGIN, |_| Vec::new());
            let question = question(&request, &[summary], MARGIN);
            (answer.case, answer.points.len(), question.segments.len())
        };
        let (case, points, segments) = advised(&summary);
        assert_eq!(case.way.as_deref(), Some("populate"));
        assert!(case.noisy.is_empty() && points > 0 && segments > 0);
        for comparison in &mut summary.groups[0].comparisons {
            if comparison.cell == 1 && comparison.phase == "ready" {
                comparison.contrast.ratio = Some(cost(0.7, 0.1));
                comparison.contrast.verdict = Verdict::NotSettled;
                comparison.doubt = Some(Doubt::Disturbed);
            }
        }
        let (case, points, segments) = advised(&summary);
        assert_eq!((case.way.as_deref(), case.gain), (Some("touch"), None));
        let noisy: Vec<&str> = case.noisy.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(noisy, ["populate"]);
        assert_eq!((points, segments), (0, 0));
    }

    #[test]
    fn the_time_of_more_bytes_is_told_in_proportion() {
        let (mut request, summary) = open_run();
        request.topic.proportional = true;
        let mut times = Vec::new();
        for factor in [1, 8] {
            request.asked_bytes = factor * request.bytes;
            let answer = answer(&request, &[], &[&summary], &[], MARGIN, |_| Vec::new());
            times.push(answer.time.unwrap());
        }
        assert_eq!(
            (times[1].bytes, times[1].measured_bytes),
            (8 << 20, 1 << 20)
        );
        for (one, eight) in [
            (times[0].time_ns.ratio, times[1].time_ns.ratio),
            (times[0].time_ns.high, times[1].time_ns.high),
        ] {
            assert!((eight / one - 8.0).abs() < 1e-6, "{one} {eight}");
        }
        request.topic.proportional = false;
        let answer = answer(&request, &[], &[&summary], &[], MARGIN, |_| Vec::new());
        assert_eq!(answer.time, None);
    }

    #[test]
    fn a_change_has_its_condition_unless_every_case_agrees() {
        let mut request = open_run().0;
        let values = ["cached", "memory"].map(str::to_owned);
        request.open = [("frames".to_owned(), values.to_vec())].into();
        let under = |frames: usize, case: Case| Case {
            settings: [("frames".to_owned(), values[frames].clone())].into(),
            baseline: "touch".to_owned(),
            ..case
        };
        // What a second case says; whether the first contradicts it, and whether it has its condition then.
        for (second, depends, is_conditional) in [
            (advised("populate", &[], &[]), false, false),
            (advised("thp", &["populate"], &[]), false, false),
            (advised("touch", &[], &["populate"]), false, true),
            (Case::default(), false, true),
            (advised("touch", &[], &[]), true, true),
        ] {
            let mut first = under(0, advised("populate", &[], &[]));
            let mut also = [under(1, second)];
            assert_eq!(conditions(&request, &mut first, &mut also), depends);
            assert_eq!(!first.condition.is_empty(), is_conditional, "{also:?}");
        }
        let mut usual = under(0, advised("touch", &[], &[]));
        let mut open = [under(1, Case::default())];
        conditions(&request, &mut usual, &mut open);
        assert!(usual.condition.is_empty(), "no change needs no condition");
    }

    #[test]
    fn where_the_fastest_is_open_what_is_shown_to_be_faster_is_advised() {
        let populate = ("populate".to_owned(), Vec::new());
        assert_eq!(
            advised_at(Verdict::Faster { at_least: 0.2 }),
            [populate.clone(), populate.clone()]
        );
        assert_eq!(
            advised_at(Verdict::NotSettled),
            [populate, ("touch".to_owned(), vec!["populate".to_owned()])]
        );
    }
}
