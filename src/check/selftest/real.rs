//! Runs of real cells as an ordinary run makes them: processes of their own, cold starts, Java. Each comparison holds a
//! baseline, its hidden duplicate, and the same method with exactly 5 % more to do.

use crate::plan::{self, Choice, Laboratory, Terms, Wish, catalog, input};
use crate::worker::{self, Language, NATIVE, Worker};
use crate::{run::Runner, run::progress::Progress, run::signals::Signals};
use anyhow::{Context, Result};
use judge::selftest::real::{CellWork, MORE_PERCENT, RealRun};
use judge::{Circumstances, evidence::Evidence};
use record::experiment::{Experiment, ParameterList};
use record::sizes::BYTES;
use record::{cell::Selector, folder::RunFolder, kind::Kind, state::State};
use stats::verdicts::MARGIN;
use std::path::Path;

/// One comparison: a method at an amount of work and at 5 % more of it.
#[derive(Clone, Copy)]
struct Regime {
    experiment: &'static str,
    methods: &'static [&'static str],
    /// The parameter that says how much is done.
    amount: &'static str,
    /// A multiple of twenty units, so that 5 % more is a whole number of them.
    base: u64,
    /// Values of other parameters, where the first default is not the one.
    set: &'static [(&'static str, &'static str)],
}

/// A round trip between two processes, in C and in Java.
const MESSAGE: Regime = Regime {
    experiment: "message",
    methods: &["unix-stream"],
    amount: "ops",
    base: 100,
    set: &[("wait", "block"), ("pin", "l3")],
};

/// Beyond 5 % more calls or pages a sample may take this much longer, because it leaves a page table's page sooner.
const STEP_OF_COUNTS: f64 = 0.01;
/// Beyond 5 % more bytes to copy. What a byte costs depends on the caches that it and its neighbours share, and on the frames
/// that a size happens to get: 5 % more of a copy within the second-level cache cost 7 to 13 % here, run after run.
const STEP_OF_BYTES: f64 = 0.15;

impl Regime {
    fn amount(&self) -> CellWork {
        let step = match self.experiment {
            "copy" | "transfer" | "read" => STEP_OF_BYTES,
            _ => STEP_OF_COUNTS,
        };
        let most = (1.0 + MORE_PERCENT as f64 / 100.0) * (1.0 + step);
        CellWork {
            parameter: self.amount.to_owned(),
            least: self.base,
            most,
        }
    }
}

/// The cells of a run of native methods. The first has one method more, which does it in another way.
const FIRST: &[Regime] = &[
    Regime {
        experiment: "fault",
        methods: &["touch", "populate"],
        amount: BYTES,
        base: 4_096_000,
        set: &[],
    },
    MESSAGE,
    Regime {
        experiment: "share",
        methods: &["sysv-shm"],
        amount: "ops",
        base: 100_000,
        set: &[],
    },
];

/// Those of the next run: fewer at once, so that each gets its launches.
const SECOND: &[Regime] = &[
    Regime {
        experiment: "allocate",
        methods: &["malloc-zero"],
        amount: BYTES,
        base: 4_096_000,
        set: &[],
    },
    // Both buffers stay within the second-level cache of any machine, with the 5 % too.
    Regime {
        experiment: "copy",
        methods: &["memcpy"],
        amount: BYTES,
        base: 20 * 4096,
        set: &[],
    },
    Regime {
        experiment: "transfer",
        methods: &["shm-ring"],
        amount: BYTES,
        base: 5 << 20,
        set: &[],
    },
    Regime {
        experiment: "read",
        methods: &["read"],
        amount: BYTES,
        base: WHOLE_FOLIOS,
        set: &[("cache", "hot"), ("place", "disk")],
    },
];

/// Bytes of a capture that lies in whole huge folios with and without the 5 %: 21 MiB cost 9 % more than 20 here.
const WHOLE_FOLIOS: u64 = 40 << 20;
const JAVA: &[Regime] = &[
    MESSAGE,
    Regime {
        experiment: "read",
        methods: &["channel"],
        amount: BYTES,
        base: WHOLE_FOLIOS,
        set: &[("cache", "hot"), ("place", "disk")],
    },
];

/// The experiments that [`alone`] knows.
pub const EXPERIMENTS: [&str; 7] = [
    "fault", "message", "share", "allocate", "copy", "transfer", "read",
];

/// The experiment with one value for each parameter, but two for the amount of work, which no longer tells groups apart.
fn narrowed(experiments: &[Experiment], regime: &Regime) -> Result<Experiment> {
    let mut experiment = catalog::find(experiments, regime.experiment)?.clone();
    for (name, parameter) in &mut experiment.parameters {
        parameter.default.truncate(1);
        if let Some((_, value)) = regime.set.iter().find(|(key, _)| key == name) {
            parameter.default = vec![(*value).to_owned()];
        }
    }
    let amount = experiment.parameters.get_mut(regime.amount);
    let amount = amount
        .with_context(|| format!("{} has no parameter {}", regime.experiment, regime.amount))?;
    let more = regime.base / 100 * (100 + MORE_PERCENT);
    amount.default = vec![regime.base.to_string(), more.to_string()];
    amount.option = true;
    experiment.budget_s = None;
    Ok(experiment)
}

/// Work and methods of successive runs.
const TURNS: [(Language, &[Regime]); 5] = [
    (Language::C, FIRST),
    (Language::C, SECOND),
    (Language::Java, JAVA),
    (Language::C, FIRST),
    (Language::C, SECOND),
];

/// Share of the time for a run of Java's methods, relative to a native one's: two JVMs start and warm up each launch.
const JAVA_WEIGHT: f64 = 2.6;

/// The weight of the run of this number when the time is shared out.
pub fn weight(number: usize) -> f64 {
    match TURNS[number % TURNS.len()].0 {
        Language::Java => JAVA_WEIGHT,
        _ => 1.0,
    }
}

/// The run of this number; `None` where no such worker is there.
pub fn run(
    folder: &Path,
    laboratory: &Laboratory,
    number: usize,
    budget_s: f64,
    seed: u64,
    signals: &Signals,
) -> Result<Option<RealRun>> {
    let (language, regimes) = TURNS[number % TURNS.len()];
    // The native worker that is measured is the optimised one.
    let is_measured = |w: &&Worker| {
        w.language() == Some(language) && (language != Language::C || w.name == NATIVE)
    };
    let Some(worker) = laboratory.workers.iter().find(is_measured) else {
        return Ok(None);
    };
    if worker.start().is_err() {
        return Ok(None);
    }
    let name = format!("selftest-real-{}-{seed:x}", std::process::id());
    // The budget is what ends an ordinary run that was given one.
    let terms = Terms {
        kind: Kind::Selftest,
        ..Terms::usual(name, seed, budget_s, (0.0, MARGIN))
    };
    let (state, evidence) = measure(folder, laboratory, worker, regimes, terms, signals)?;
    let amounts = regimes
        .iter()
        .map(|r| (r.experiment.to_owned(), r.amount()))
        .collect();
    let summary = judge::summarise(&state, &evidence, Circumstances::default())?;
    Ok(Some(RealRun {
        worker: worker.name.clone(),
        amounts,
        summary,
    }))
}

/// One experiment's native method, its hidden duplicate and the same with 5 % more to do, and nothing beside them.
pub fn alone(
    folder: &Path,
    laboratory: &Laboratory,
    experiment: &str,
    terms: Terms,
    signals: &Signals,
) -> Result<(State, Evidence)> {
    let mut regimes = FIRST.iter().chain(SECOND);
    let regime = regimes
        .find(|regime| regime.experiment == experiment)
        .with_context(|| format!("{experiment} has no such cells"))?;
    // The other way of doing it stays out.
    let regime = Regime {
        methods: &regime.methods[..1],
        ..*regime
    };
    let worker = worker::find(&laboratory.workers, NATIVE)?;
    measure(folder, laboratory, worker, &[regime], terms, signals)
}

/// The cells of these regimes in one run.
fn measure(
    folder: &Path,
    laboratory: &Laboratory,
    worker: &Worker,
    regimes: &[Regime],
    terms: Terms,
    signals: &Signals,
) -> Result<(State, Evidence)> {
    let Laboratory {
        experiments,
        workers,
    } = laboratory;
    let narrow: Vec<Experiment> = regimes
        .iter()
        .map(|r| narrowed(experiments, r))
        .collect::<Result<_>>()?;
    let mut selectors = Vec::new();
    for regime in regimes {
        for method in regime.methods {
            let cell = format!("{}/{method}@{}", regime.experiment, worker.name);
            selectors.push(Selector::parse(&cell)?);
        }
    }
    let mut wish = Wish::new(selectors, ParameterList::Default);
    input::complete(&mut wish, &narrow)?;
    let folder = RunFolder::create(folder)?;
    let plan = plan::build(&narrow, workers, Choice::Wished(&wish), terms)?;
    folder.write_sealed("plan.json", &plan)?;
    Runner::new(plan, &folder, workers, signals, Progress::new())?.run()
}
