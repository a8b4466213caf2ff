//! A profile under way: one look at the command, then blocks of a clean run, a run whose page faults are followed and
//! the prices,
//! in random order, until the interval of what faults cost is narrow or the time is over.

mod price;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use record::profile::{KIND, PROFILE_SCHEMA, ProfilePlan, ProfileRun, ProfileSummary, What};
use record::trial::Ending;
use stats::interval::LEAST_LAUNCHES;
use stats::orders::rounds;

use super::kept::{KeptFolder, PAGE};
use super::progress::Progress;
use super::signals::Signals;
use super::trial::launch;

/// The most blocks of a profile.
const MOST_BLOCKS: usize = 60;
/// Blocks in which faults are followed and events of small price are priced; the others only narrow the interval.
const FULL_BLOCKS: usize = 8;
/// Half-width of the share of CPU time at which it is done.
const NARROW: f64 = 0.002;

/// A kept profile.
#[derive(Debug)]
pub struct Kept(KeptFolder);

impl Kept {
    /// Makes the folder and writes the plan into it.
    pub fn create(path: &Path, plan: &ProfilePlan) -> Result<Kept> {
        KeptFolder::create(path, plan, KIND).map(Kept)
    }

    /// The profile of this name or path; `None` where it is something else or nothing.
    pub fn open(name: &str, below: &Path) -> Option<Kept> {
        KeptFolder::open(name, below, KIND).map(Kept)
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// What was planned, if it is of this schema.
    pub fn plan(&self) -> Result<ProfilePlan> {
        self.0.plan(PROFILE_SCHEMA)
    }

    /// All runs.
    pub fn runs(&self) -> Result<Vec<ProfileRun>> {
        self.0.runs()
    }

    /// Writes what came out, and its page.
    pub fn finish(&self, summary: &ProfileSummary, page: &str) -> Result<()> {
        self.0.finish(summary)?;
        self.0.write_text(PAGE, page)
    }
}

struct Profile<'a> {
    plan: &'a ProfilePlan,
    kept: &'a Kept,
    signals: &'a Signals,
    scratch: PathBuf,
    runs: Vec<ProfileRun>,
    begun: Instant,
    progress: Progress,
}

/// Runs what the plan says and returns all runs, those that the folder had already included.
pub fn run(plan: &ProfilePlan, kept: &Kept, signals: &Signals) -> Result<Vec<ProfileRun>> {
    let scratch = std::env::temp_dir().join(format!("pagewise-{}", plan.run));
    std::fs::create_dir_all(&scratch).with_context(|| format!("cannot make {}", scratch.display()))?;
    let mut profile =
        Profile { plan, kept, signals, scratch, runs: kept.runs()?, begun: Instant::now(), progress: Progress::new() };
    let result = profile.all();
    profile.progress.finish();
    let _ = std::fs::remove_dir_all(&profile.scratch);
    result.map(|()| profile.runs)
}

impl Profile<'_> {
    fn all(&mut self) -> Result<()> {
        self.progress.step("a first run", self.plan.budget_s);
        // The first run finds what the command reads not yet in the page cache; the second is looked at.
        for what in [What::Clean, What::Looked] {
            if !self.done(-1, what) {
                self.one(-1, what)?;
            }
            if self.stopped() {
                return Ok(());
            }
        }
        let most = self.plan.blocks.unwrap_or(MOST_BLOCKS);
        // An interrupted profile goes on in the middle of its last block.
        let first = self.runs.iter().filter_map(|r| usize::try_from(r.block).ok()).max().unwrap_or(0);
        for (block, seed) in (0..most).zip(self.plan.seed..).skip(first) {
            if block > first && !self.goes_on(block) {
                break;
            }
            let parts = self.parts(block);
            let orders = rounds(parts.len(), 1, seed);
            for part in orders.into_iter().flatten() {
                if !self.done(block as i64, parts[part]) {
                    self.one(block as i64, parts[part])?;
                }
                if self.stopped() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn done(&self, block: i64, what: What) -> bool {
        self.runs.iter().any(|r| r.block == block && r.what == what)
    }

    /// What a block consists of.
    fn parts(&self, block: usize) -> Vec<What> {
        let mut parts = vec![What::Clean, What::PriceBase];
        let of = |what: What| self.runs.iter().filter(move |r| r.what == what);
        if self.plan.thp != "never" && self.plan.huge_page_bytes > 0 {
            parts.push(What::PriceHuge);
        }
        let unseen = of(What::Followed).any(|r| r.cost.as_ref().is_some_and(|c| c.faults_unseen.is_some()));
        if !self.plan.totals_only && !unseen && block < FULL_BLOCKS {
            parts.push(What::Followed);
        }
        // The prices stand in every block, for the price of a block belongs to the run of that block.
        parts.extend([What::PriceEvents, What::PriceCow]);
        let hopeless = |what: &What| of(*what).next().is_some_and(|r| !r.failed.is_empty()) && *what != What::PriceBase;
        parts.retain(|what| !hopeless(what));
        parts
    }

    fn stopped(&self) -> bool {
        self.signals.arrived().is_some() || judge::profile::given_up(self.plan, &self.runs).is_some()
    }

    /// Whether another block is run: by the interval's width and the time, never by what came out.
    fn goes_on(&mut self, blocks: usize) -> bool {
        let spent = self.begun.elapsed().as_secs_f64();
        let each = spent / blocks as f64;
        if let Some(wanted) = self.plan.blocks {
            self.progress.step(&format!("{blocks} blocks"), each * wanted.saturating_sub(blocks) as f64);
            return true;
        }
        self.progress.step(&format!("{blocks} blocks"), (self.plan.budget_s - spent).max(0.0));
        if blocks < LEAST_LAUNCHES {
            return true;
        }
        let narrow = judge::profile::half_width(self.plan, &self.runs).is_some_and(|width| width <= NARROW);
        let enough = narrow && blocks >= FULL_BLOCKS;
        !enough && spent + each <= self.plan.budget_s
    }

    fn one(&mut self, block: i64, what: What) -> Result<()> {
        let run = match what.is_command() {
            true => self.command(block, what)?,
            false => {
                let bytes = judge::profile::footprint_bytes(self.plan, &self.runs).context("nothing ran yet")?;
                price::price(what, block, bytes, &self.scratch, self.signals)?
            }
        };
        // What the user's signal ended says nothing.
        if self.signals.arrived().is_none() && run.cost.as_ref().is_none_or(|c| c.end != Ending::Stopped) {
            self.kept.0.append(&run)?;
            self.runs.push(run);
        }
        Ok(())
    }

    fn command(&self, block: i64, what: What) -> Result<ProfileRun> {
        let plan = self.plan;
        let mut options: Vec<OsString> = vec!["--limit-ms".into(), (plan.time_limit_s * 1e3).ceil().to_string().into()];
        if let Some(input) = &plan.input {
            options.extend(["--input".into(), input.into()]);
        }
        if plan.discard_output {
            options.extend(["--discard", "1"].map(OsString::from));
        }
        match what {
            What::Looked => options.extend(["--proof", "1"].map(OsString::from)),
            What::Followed => options.extend(["--faults", "1"].map(OsString::from)),
            _ => {}
        }
        let (cost, messages) = launch::start(&plan.directory, &options, &plan.command, self.signals)?;
        Ok(ProfileRun { block, what, cost: Some(cost), messages, phases: Default::default(), failed: String::new() })
    }
}
