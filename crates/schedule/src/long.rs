//! The forecast of published jobs that take minutes each, by a trial of fewer operations.

use crate::constants::{LONGER, TRIAL_OPS, WRITE_BACK};

/// The trial of one job.
#[derive(Clone, Copy, Debug)]
pub struct JobTrial {
    /// Seconds of its launches with each number of [`TRIAL_OPS`].
    pub seconds: [f64; 2],
    /// True if its memory is a file's, which is written back meanwhile.
    pub is_file: bool,
}

/// One launch of every job, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongForecast {
    /// Without write-back.
    pub least_s: f64,
    /// With write-back as slow as the published one.
    pub most_s: f64,
}

impl LongForecast {
    /// The forecast for jobs of this many operations.
    pub fn new(ops: f64, trials: impl Iterator<Item = JobTrial>) -> LongForecast {
        let [few, more] = TRIAL_OPS.map(|ops| ops as f64);
        let each = trials.map(|JobTrial { seconds: [few_s, more_s], is_file }| {
            // If the machine was busier during the first launch, all of the second one counts as operations.
            let op_s = if more_s > few_s { (more_s - few_s) / (more - few) } else { more_s / more };
            let job_s = more_s + op_s * (ops - more).max(0.0);
            (job_s, if is_file { job_s * WRITE_BACK } else { job_s })
        });
        let (least_s, most_s) = each.fold((0.0, 0.0), |sum, job| (sum.0 + job.0, sum.1 + job.1));
        LongForecast { least_s, most_s }
    }

    /// The budget in seconds that holds this many launches of each job, with a minute for everything else.
    pub fn budget_s(self, launches: u32) -> f64 {
        60.0 + LONGER * self.most_s * f64::from(launches)
    }
}
