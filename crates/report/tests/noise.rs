//! The document of `doctor --noise`.

use pagewise_report::doctor::noise as document;
use pagewise_report::terminal::{Screen, render};
use record::machine::preflight::Gaps;
use record::machine::preflight::Preflight;

fn text(seen: &Preflight) -> String {
    let text = render(&document(seen), &Screen::new(200, false), false).plain();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn seen(lost_ns: u64) -> Preflight {
    let gaps = Gaps {
        cpu: 0,
        elapsed_ns: 1_000_000,
        reads: 40_000,
        clock_read_ps: 24_000,
        lost_ns,
        largest_gap_ns: lost_ns,
        over: vec![(5000, 1)],
    };
    Preflight {
        seconds: 1.0,
        gaps: vec![gaps],
        ..Preflight::default()
    }
}

#[test]
fn what_no_counter_shows_is_said() {
    assert!(text(&seen(1000)).contains("Quiet"));
    let noisy = text(&seen(100_000));
    assert!(
        noisy.contains("10.00 % of a busy process's time") && noisy.contains("No counter"),
        "{noisy}"
    );
    let busy = Preflight {
        busy_cpus: 1.5,
        ..seen(100_000)
    };
    assert!(!text(&busy).contains("No counter"));
}
