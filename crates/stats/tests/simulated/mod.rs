//! A machine that is simulated: its noise has long memory, timer ticks, drift, two levels, launches that differ, and
//! cells that run differently after a certain other one.

use pagewise_stats::estimate::Point;
use pagewise_stats::orders::rounds;
use pagewise_stats::rng::Seeded;
use std::f64::consts::TAU;
use std::path::Path;

/// Every 4 ms (250 Hz) the machine does something else for 30 µs.
const TICK_US: f64 = 4_000.0;
const TICK_COST_US: f64 = 30.0;

/// A standard normal number (Box & Muller).
pub fn normal(rng: &mut Seeded) -> f64 {
    (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (TAU * rng.unit()).cos()
}

/// Noise with standard deviation 0.03 whose correlation falls from 0.45 at one sample to 0.25 at 100 and 0.15 at 1000:
/// white noise plus first-order series that forget after 10, 300 and 8000 samples.
pub fn long_memory(length: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seeded::new(seed);
    let parts = [(0.181_f64, 10.0_f64), (0.12, 300.0), (0.166, 8_000.0)]
        .map(|(share, memory)| (share.sqrt(), (-1.0 / memory).exp()));
    let mut states = [0; 3].map(|_| normal(&mut rng));
    (0..length)
        .map(|_| {
            let mut sum = 0.533_f64.sqrt() * normal(&mut rng);
            for (state, (weight, keep)) in states.iter_mut().zip(parts) {
                *state = keep * *state + (1.0 - keep * keep).sqrt() * normal(&mut rng);
                sum += weight * *state;
            }
            0.03 * sum
        })
        .collect()
}

/// The noise of every recorded stream, as logarithms relative to its median.
pub fn recorded() -> Vec<Vec<f64>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    let files = std::fs::read_dir(folder)
        .expect("the folder of streams")
        .map(|entry| entry.expect("an entry").path());
    let streams = files.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    streams
        .map(|path| relative_logs(&std::fs::read_to_string(path).expect("a text file")))
        .collect()
}

fn relative_logs(text: &str) -> Vec<f64> {
    let costs = text.lines().filter(|line| !line.starts_with('#'));
    let logs: Vec<f64> = costs
        .map(|cost| cost.trim().parse::<f64>().expect("a number").ln())
        .collect();
    assert!(
        logs.len() >= 20_000,
        "a stream of {} samples is too short",
        logs.len()
    );
    let centre = pagewise_stats::quantile::median(&mut logs.clone()).expect("positive costs");
    logs.into_iter().map(|log| log - centre).collect()
}

/// What the simulated machine and its cells are like.
#[derive(Clone)]
pub struct Machine<'a> {
    /// Logarithms of the noise, sample after sample, common to all cells.
    pub noise: &'a [f64],
    /// The true cost of each cell in microseconds.
    pub costs: &'a [f64],
    /// The standard deviation of the logarithm by which a cell differs from launch to launch.
    pub launch_sd: f64,
    /// The share by which the whole machine slows down in the course of a hundred thousand samples.
    pub drift: f64,
    /// The factor of a second speed into which the machine falls, and from which it recovers, every 300 samples or so.
    pub second_level: f64,
    /// The factor on a sample that follows the last cell.
    pub carry_over: f64,
    /// Whether ticks interrupt the samples.
    pub ticks: bool,
}

impl Machine<'_> {
    /// A machine with nothing but the given noise, ticks, and launches that differ by 2.8 %.
    pub fn new<'a>(noise: &'a [f64], costs: &'a [f64]) -> Machine<'a> {
        Machine {
            noise,
            costs,
            launch_sd: 0.028,
            drift: 0.0,
            second_level: 1.0,
            carry_over: 1.0,
            ticks: true,
        }
    }

    /// Starts a run somewhere in the noise.
    pub fn run(&self, seed: u64) -> Run<'_> {
        let mut rng = Seeded::new(seed);
        let time = rng.below(self.noise.len());
        Run {
            machine: self,
            elapsed_us: TICK_US * rng.unit(),
            slow: rng.below(2) == 1,
            rng,
            time,
            samples: 0,
        }
    }
}

/// A run on the simulated machine: time goes on from launch to launch.
pub struct Run<'a> {
    machine: &'a Machine<'a>,
    rng: Seeded,
    time: usize,
    samples: usize,
    elapsed_us: f64,
    slow: bool,
}

impl Run<'_> {
    /// One launch of so many rounds in balanced order: the samples of each cell in microseconds, by round.
    pub fn launch(&mut self, count: usize) -> Vec<Vec<f64>> {
        let orders = rounds(self.machine.costs.len(), count, self.rng.bits());
        self.launch_in(&orders)
    }

    /// One launch in the given orders.
    pub fn launch_in(&mut self, orders: &[Vec<usize>]) -> Vec<Vec<f64>> {
        let machine = self.machine;
        let cells = machine.costs.len();
        let levels: Vec<f64> = (0..cells)
            .map(|_| machine.launch_sd * normal(&mut self.rng))
            .collect();
        let mut samples = vec![Vec::with_capacity(orders.len()); cells];
        let mut before = None;
        for &cell in orders.iter().flatten() {
            let carried = if before == Some(cells - 1) {
                machine.carry_over
            } else {
                1.0
            };
            samples[cell].push(self.sample(machine.costs[cell] * carried, levels[cell]));
            before = Some(cell);
        }
        samples
    }

    fn sample(&mut self, cost: f64, level: f64) -> f64 {
        let machine = self.machine;
        self.slow ^= self.rng.below(300) == 0;
        let speed = if self.slow { machine.second_level } else { 1.0 };
        let drifted = 1.0 + machine.drift * self.samples as f64 / 1e5;
        let work = cost * drifted * speed * (level + machine.noise[self.time]).exp();
        self.time = (self.time + 1) % machine.noise.len();
        self.samples += 1;
        let before = (self.elapsed_us / TICK_US).floor();
        let ticks = ((self.elapsed_us + work) / TICK_US).floor() - before;
        let elapsed = work
            + if machine.ticks {
                ticks * TICK_COST_US
            } else {
                0.0
            };
        self.elapsed_us += elapsed;
        elapsed
    }
}

/// The point of each launch of a run: its second cell against its first.
pub fn points(launches: &[Vec<Vec<f64>>]) -> Vec<Point> {
    let mut points = Vec::new();
    for cells in launches {
        let rounds = cells[1].iter().zip(&cells[0]);
        let logs: Vec<f64> = rounds.map(|(m, b)| (m / b).ln()).collect();
        points.push(Point::of_rounds(&logs).expect("positive times"));
    }
    points
}
