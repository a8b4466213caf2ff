//! Where the answer changes with the size: a coarse look at all sizes, then halving what lies between two answers until it
//! is narrow enough. What is launched next depends on the answers' order only; how long a size is measured never does.

use super::Ending;

/// Neighbouring sizes of the coarse look differ by this factor at most.
const COARSE: f64 = 8.0;

/// A size with no answer between two answers is looked at so often.
const LOOKS: usize = 3;

/// What was found at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The size.
    pub size: u64,
    /// The way that is shown to cost less there; `None` where nothing is shown.
    pub way: Option<String>,
    /// How often it was looked at by this search.
    pub looks: usize,
}

/// What is measured next.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// These sizes.
    At(Vec<u64>),
    /// Nothing more.
    Done(Ending),
}

/// Until every change of the answer lies between two sizes that are near enough.
#[derive(Clone, Copy, Debug)]
pub struct Crossover {
    /// The smallest size.
    pub from: u64,
    /// The largest.
    pub to: u64,
    /// Sizes are multiples of this.
    pub step: u64,
    /// Two sizes are near enough where the larger is at most this multiple of the smaller.
    pub near: f64,
    /// Seconds for all of it.
    pub budget_s: f64,
}

impl Crossover {
    /// What to measure next. `size_s` is what the last look took for each of its sizes, in seconds.
    pub fn next(&self, seen: &[Seen], spent_s: f64, size_s: f64) -> Look {
        let coarse: Vec<u64> = self.coarse().into_iter().filter(|size| !near(seen, *size)).collect();
        if spent_s + size_s > self.budget_s {
            return Look::Done(Ending::BudgetSpent);
        }
        if !coarse.is_empty() {
            return Look::At(coarse);
        }
        if let Some(size) = between(seen) {
            return Look::At(vec![size]);
        }
        let width = |gap: &(u64, u64)| gap.1 as f64 / gap.0.max(1) as f64;
        let changes = || seen.windows(2).filter(|two| two[0].way != two[1].way).map(|two| (two[0].size, two[1].size));
        let wide = changes().filter(|gap| width(gap) > self.near);
        let middles = wide.filter_map(|gap| Some((width(&gap), self.middle(gap)?)));
        match middles.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, middle)) => Look::At(vec![middle]),
            // What has no answer makes a band wide: more launches may bring one.
            None if unsettled(seen).is_some() => Look::At(unsettled(seen).into_iter().collect()),
            None if changes().next().is_some() => Look::Done(Ending::Precise),
            None => Look::Done(Ending::NothingOpen),
        }
    }

    /// How many more looks the search should take, by how far apart two different answers lie: what is left of the time is
    /// shared among them.
    pub fn looks_left(&self, seen: &[Seen]) -> usize {
        let answers: Vec<&Seen> = seen.iter().filter(|s| s.way.is_some()).collect();
        let changes = answers.windows(2).filter(|two| two[0].way != two[1].way);
        let halvings = |two: &[&Seen]| {
            let octaves = (two[1].size as f64 / two[0].size.max(1) as f64).ln() / self.near.ln();
            octaves.log2().ceil().max(0.0) as usize + 1
        };
        changes.map(halvings).sum::<usize>().max(1)
    }

    /// The sizes of the coarse look, ascending.
    fn coarse(&self) -> Vec<u64> {
        let octaves = (self.to as f64 / self.from as f64).ln() / COARSE.ln();
        let parts = (octaves - 1e-9).ceil().max(1.0);
        let at =
            |part: u32| (self.from as f64).ln() + f64::from(part) / parts * (self.to as f64 / self.from as f64).ln();
        let mut sizes: Vec<u64> = (0..=parts as u32).map(|part| self.round(at(part).exp())).collect();
        sizes.dedup();
        sizes
    }

    fn round(&self, size: f64) -> u64 {
        let step = self.step.max(1);
        (((size / step as f64).round() as u64).max(1) * step).clamp(self.from, self.to)
    }

    /// The size halfway between two on a logarithmic scale; `None` where no other lies between them.
    fn middle(&self, (low, high): (u64, u64)) -> Option<u64> {
        let middle = self.round((low as f64 * high as f64).sqrt());
        (low < middle && middle < high).then_some(middle)
    }
}

/// Whether a size that was measured stands for this one in the coarse look.
fn near(seen: &[Seen], size: u64) -> bool {
    seen.iter().any(|s| {
        let factor = s.size as f64 / size as f64;
        (0.75..=1.34).contains(&factor)
    })
}

/// The size with no answer between two answers that was looked at least often.
fn unsettled(seen: &[Seen]) -> Option<u64> {
    let first = seen.iter().position(|s| s.way.is_some())?;
    let last = seen.iter().rposition(|s| s.way.is_some())?;
    let open = seen[first..=last].iter().filter(|s| s.way.is_none() && s.looks < LOOKS);
    open.min_by_key(|s| s.looks).map(|s| s.size)
}

/// A size with no answer although those around it have the same one: what it lacks is launches.
fn between(seen: &[Seen]) -> Option<u64> {
    let answers: Vec<&Seen> = seen.iter().filter(|s| s.way.is_some()).collect();
    let same = answers.windows(2).filter(|two| two[0].way == two[1].way);
    let mut open = same.flat_map(|two| seen.iter().filter(|s| two[0].size < s.size && s.size < two[1].size));
    open.find(|s| s.looks < LOOKS).map(|s| s.size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::advise::{choices, flips, pooled, segments};
    use record::advice::Point;
    use record::summary::Estimate;
    use stats::rng::Seeded;
    use stats::t::t_interval;

    const KIB: u64 = 1024;

    fn strategy() -> Crossover {
        Crossover { from: 16 * KIB, to: 64 * KIB * KIB, step: 4 * KIB, near: 1.5, budget_s: 1e9 }
    }

    fn seen(all: &[(u64, &str)]) -> Vec<Seen> {
        let one = |(size, way): &(u64, &str)| Seen {
            size: *size,
            way: (!way.is_empty()).then(|| (*way).to_owned()),
            looks: 1,
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn the_coarse_look_comes_first_and_takes_what_is_known() {
        let Look::At(all) = strategy().next(&[], 0.0, 0.0) else { panic!("nothing to do") };
        assert_eq!((all[0], all[all.len() - 1]), (16 * KIB, 64 * KIB * KIB));
        assert!(all.windows(2).all(|two| two[1] as f64 / two[0] as f64 <= COARSE * 1.1), "{all:?}");
        let Look::At(rest) = strategy().next(&seen(&[(16 * KIB, "a")]), 0.0, 0.0) else { panic!("nothing to do") };
        assert_eq!(rest, all[1..]);
    }

    #[test]
    fn the_time_is_shared_among_the_looks_that_are_left() {
        let left = |all: &[(u64, &str)]| strategy().looks_left(&seen(all));
        assert_eq!(left(&[(1000, "a"), (8000, "a")]), 1);
        // 8 is 1.5 to the power of 5.1: halved three times it is below 1.5, and one look may have to be repeated.
        assert_eq!(left(&[(1000, "a"), (8000, "b")]), 4);
        assert_eq!(left(&[(1000, "a"), (1200, ""), (1500, "b")]), 1);
        assert_eq!(left(&[(1000, "a"), (8000, "b"), (64000, "a")]), 8);
    }

    #[test]
    fn only_what_lies_between_two_answers_is_halved() {
        let all = strategy().coarse();
        let (left, right) = all.split_at(3);
        let known = |a: &str, b: &str| -> Vec<Seen> {
            let left = left.iter().map(|s| (*s, a));
            seen(&left.chain(right.iter().map(|s| (*s, b))).collect::<Vec<_>>())
        };
        let Look::At(next) = strategy().next(&known("a", "b"), 0.0, 0.0) else { panic!("nothing to do") };
        assert!(left[2] < next[0] && next[0] < right[0] && next.len() == 1);
        assert_eq!(strategy().next(&known("a", "a"), 0.0, 0.0), Look::Done(Ending::NothingOpen));
        assert_eq!(strategy().next(&known("", ""), 0.0, 0.0), Look::Done(Ending::NothingOpen));
        assert_eq!(strategy().next(&known("a", "b"), 1e9, 1.0), Look::Done(Ending::BudgetSpent));
    }

    #[test]
    fn a_size_without_answer_in_a_band_is_looked_at_again_but_not_for_ever() {
        let mut all = seen(&[(16 * KIB, "a"), (20 * KIB, ""), (24 * KIB, "b"), (64 * KIB * KIB, "b")]);
        let search = Crossover { from: 16 * KIB, to: 24 * KIB, ..strategy() };
        assert_eq!(search.next(&all, 0.0, 0.0), Look::At(vec![20 * KIB]));
        all[1].looks = LOOKS;
        assert_eq!(search.next(&all, 0.0, 0.0), Look::Done(Ending::Precise));
    }

    #[test]
    fn a_size_between_two_equal_answers_is_looked_at_again_but_not_for_ever() {
        let near = Crossover { from: 100, to: 130, step: 1, near: 1.5, budget_s: 1e9 };
        let mut all = seen(&[(100, "a"), (115, ""), (130, "a")]);
        assert_eq!(near.next(&all, 0.0, 0.0), Look::At(vec![115]));
        all[1].looks = LOOKS;
        assert_eq!(near.next(&all, 0.0, 0.0), Look::Done(Ending::Precise));
    }

    /// One simulated machine: the logarithm of the ratio falls through zero at `at`; every launch adds noise.
    struct Machine {
        at: f64,
        slope: f64,
        noise: f64,
        random: Seeded,
    }

    impl Machine {
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.random.unit()).sum::<f64>() - 6.0
        }

        fn point(&mut self, bytes: u64) -> Point {
            let truth = (-self.slope * (bytes as f64 / self.at).ln()).clamp(-0.7, 0.7);
            let logs: Vec<f64> = (0..10).map(|_| truth + self.noise * self.normal()).collect();
            let found = t_interval(&logs, 0.95).unwrap();
            let (ratio, low, high) = (found.estimate.exp(), found.low.exp(), found.high.exp());
            Point {
                bytes,
                way: "way".to_owned(),
                cost: Estimate { ratio, low, high, level: 0.95, launches: 10, moved: None },
            }
        }
    }

    /// The whole search on one machine: the points, and how many looks they took.
    fn search(machine: &mut Machine) -> (Vec<Point>, usize) {
        let (mut points, mut looks): (Vec<Point>, usize) = (Vec::new(), 0);
        loop {
            let known = choices(&points, "obvious", 0.0);
            let known: Vec<Seen> = known.into_iter().map(|(size, way)| Seen { size, way, looks: LOOKS }).collect();
            let Look::At(sizes) = strategy().next(&known, 0.0, 0.0) else { return (points, looks) };
            points.extend(sizes.iter().map(|size| machine.point(*size)));
            points = pooled(points);
            looks += 1;
            assert!(looks < 40, "it ends");
        }
    }

    #[test]
    fn bands_contain_the_simulated_crossover_in_at_least_95_of_100() {
        let (mut with_band, mut right, mut wrong, mut widths) = (0, 0, 0, Vec::new());
        for seed in 0..600 {
            let mut random = Seeded::new(seed);
            let at = 40e3 * 500_f64.powf(random.unit());
            let (slope, noise) = (0.03 + 0.4 * random.unit(), 0.005 + 0.08 * random.unit());
            let mut machine = Machine { at, slope, noise, random };
            let (points, _) = search(&mut machine);
            let found = segments(&points, "obvious", 0.02);
            // No way is advised where it is the dearer one.
            let bad = found.iter().any(|s| match s.way == "way" {
                true => (s.from as f64) < at,
                false => s.to as f64 > at,
            });
            wrong += usize::from(bad);
            if let [flip] = &flips(&points, &found, "obvious")[..] {
                with_band += 1;
                right += usize::from((flip.above as f64) < at && at < flip.up_to as f64);
                widths.push(flip.up_to as f64 / flip.above as f64);
            }
        }
        assert!(with_band > 400, "{with_band} of 600 have a band");
        assert!(right * 100 >= with_band * 95, "{right} of {with_band} bands hold the crossover");
        assert!(wrong * 100 <= 600 * 5, "{wrong} of 600 advise the dearer way somewhere");
        widths.sort_by(f64::total_cmp);
        assert!(widths[widths.len() / 2] < 8.0, "the middle band is {} wide", widths[widths.len() / 2]);
    }

    #[test]
    fn a_clear_crossover_is_narrow_within_few_looks() {
        let mut machine = Machine { at: 3e6, slope: 0.5, noise: 0.005, random: Seeded::new(1) };
        let (points, looks) = search(&mut machine);
        let found = flips(&points, &segments(&points, "obvious", 0.02), "obvious");
        assert_eq!(found.len(), 1);
        assert!(found[0].above < 3_000_000 && 3_000_000 < found[0].up_to, "{found:?}");
        assert!((found[0].up_to as f64 / found[0].above as f64) < 2.3 && looks <= 8, "{found:?} after {looks}");
    }

    #[test]
    fn what_costs_the_same_is_never_told_apart() {
        let mut told = 0;
        for seed in 0..200 {
            let mut machine = Machine { at: 1.0, slope: 0.0, noise: 0.02, random: Seeded::new(seed) };
            told += usize::from(!segments(&search(&mut machine).0, "obvious", 0.02).is_empty());
        }
        assert!(told <= 10, "{told} of 200");
    }
}
