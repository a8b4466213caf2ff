//! A profile under way: one look at the command, then blocks of a clean run, a run whose page faults are followed and
//! the prices,
//! in random order, until the interval of what faults cost is narrow or the time is over.

mod price;

use std::ffi::OsString;
use std::time::Instant;

use anyhow::{Context, Result};
use record::folder::Kept;
use record::profile::{ProfilePlan, ProfileRun, What};
use record::trial::Ending;
use stats::interval::LEAST_LAUNCHES;
use stats::orders::rounds;

use super::guard::Scratch;
use super::kept::session;
use super::progress::Progress;
use super::signals::Signals;
use super::trial::launch;

/// The most blocks of a profile.
const MOST_BLOCKS: usize = 60;
/// Blocks in which faults are followed and events of small price are priced; the others only narrow the interval.
const FULL_BLOCKS: usize = 8;
/// Half-width of the share of CPU time at which it is done.
const NARROW: f64 = 0.002;

struct Profile<'a> {
    kept: &'a mut Kept<ProfilePlan, ProfileRun>,
    signals: &'a Signals,
    scratch: Scratch,
    begun: Instant,
    progress: Progress,
}

/// Runs what the plan says and the folder does not have yet.
pub fn run(kept: &mut Kept<ProfilePlan, ProfileRun>, signals: &Signals) -> Result<()> {
    let scratch = Scratch::new("prices")?;
    let budget_s = kept.plan.budget_s;
    session(kept, budget_s, signals, |kept| {
        let mut profile = Profile { kept, signals, scratch, begun: Instant::now(), progress: Progress::new() };
        let result = profile.all();
        profile.progress.finish();
        result
    })
}

impl Profile<'_> {
    fn all(&mut self) -> Result<()> {
        self.progress.step("a first run", self.kept.plan.budget_s);
        // The first run finds what the command reads not yet in the page cache; the second is looked at.
        for what in [What::Clean, What::Looked] {
            if !self.done(-1, what) {
                self.one(-1, what)?;
            }
            if self.stopped() {
                return Ok(());
            }
        }
        let most = self.kept.plan.blocks.unwrap_or(MOST_BLOCKS);
        // An interrupted profile goes on in the middle of its last block.
        let first = self.kept.launches.iter().filter_map(|r| usize::try_from(r.block).ok()).max().unwrap_or(0);
        for block in first..most {
            if block > first && !self.goes_on(block) {
                break;
            }
            let parts = self.parts(block);
            let orders = rounds(parts.len(), 1, self.kept.plan.seed.wrapping_add(block as u64));
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
        self.kept.launches.iter().any(|r| r.block == block && r.what == what)
    }

    /// Parts of a block.
    fn parts(&self, block: usize) -> Vec<What> {
        let mut parts = vec![What::Clean, What::PriceBase];
        let of = |what: What| self.kept.launches.iter().filter(move |r| r.what == what);
        if self.kept.plan.thp != "never" && self.kept.plan.huge_page_bytes > 0 {
            parts.push(What::PriceHuge);
        }
        let unseen = of(What::Followed).any(|r| r.cost.as_ref().is_some_and(|c| c.faults_unseen.is_some()));
        if !self.kept.plan.totals_only && !unseen && block < FULL_BLOCKS {
            parts.push(What::Followed);
        }
        // The prices stand in every block, for the price of a block belongs to the run of that block.
        parts.extend([What::PriceEvents, What::PriceCow]);
        let hopeless = |what: &What| of(*what).next().is_some_and(|r| !r.failed.is_empty()) && *what != What::PriceBase;
        parts.retain(|what| !hopeless(what));
        parts
    }

    fn stopped(&self) -> bool {
        self.signals.arrived().is_some() || judge::profile::given_up(&self.kept.plan, &self.kept.launches).is_some()
    }

    /// Tells whether another block is run: by the interval's width and the time, never by what came out.
    fn goes_on(&mut self, blocks: usize) -> bool {
        let spent = self.begun.elapsed().as_secs_f64();
        let each = spent / blocks as f64;
        if let Some(wanted) = self.kept.plan.blocks {
            self.progress.step(&format!("{blocks} blocks"), each * wanted.saturating_sub(blocks) as f64);
            return true;
        }
        self.progress.step(&format!("{blocks} blocks"), (self.kept.plan.budget_s - spent).max(0.0));
        if blocks < LEAST_LAUNCHES {
            return true;
        }
        let narrow =
            judge::profile::half_width(&self.kept.plan, &self.kept.launches).is_some_and(|width| width <= NARROW);
        let enough = narrow && blocks >= FULL_BLOCKS;
        !enough && spent + each <= self.kept.plan.budget_s
    }

    fn one(&mut self, block: i64, what: What) -> Result<()> {
        let run = if what.is_command() {
            self.command(block, what)?
        } else {
            let bytes =
                judge::profile::footprint_bytes(&self.kept.plan, &self.kept.launches).context("nothing ran yet")?;
            price::price(what, block, bytes, self.scratch.path(), self.signals)?
        };
        // What the user's signal ended says nothing.
        if self.signals.arrived().is_none() && run.cost.as_ref().is_none_or(|c| c.end != Ending::Stopped) {
            self.kept.folder.append_launch(&run)?;
            self.kept.launches.push(run);
        }
        Ok(())
    }

    fn command(&self, block: i64, what: What) -> Result<ProfileRun> {
        let plan = &self.kept.plan;
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
