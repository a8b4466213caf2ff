//! The forecast of jobs that take minutes.

use pagewise_schedule::long::{JobTrial, LongForecast};

#[test]
fn a_long_job_is_forecast_by_its_trial_and_the_budget_holds_it() {
    // 10 s for each of the first touches, and 0.2 s for a million operations.
    let trial = |seconds, is_file| JobTrial { seconds, is_file };
    let both = LongForecast::new(1e9, [trial([12.0, 16.0], true), trial([12.0, 16.0], false)].into_iter());
    assert!((both.least_s - 420.0).abs() < 1e-6 && (both.most_s - 1260.0).abs() < 1e-6, "{both:?}");
    assert!(both.budget_s(1) > both.most_s && both.budget_s(4) > 4.0 * both.most_s);
    let busy = LongForecast::new(1e9, [trial([20.0, 15.0], false)].into_iter());
    assert!((busy.least_s - 500.0).abs() < 1e-6, "{busy:?}");
}
