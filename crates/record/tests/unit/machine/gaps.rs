use super::*;

const TEXT: &str = "probe-gaps\t1\tpagewise-helper\ncpu\t1\nelapsed_ns\t1000000\nreads\t40000\nclock_read_ps\t24000\nlost_ns\t40000\n\
    largest_gap_ns\t30000\ngaps_over\t5000\t2\ngaps_over\t20000\t1\ndone\n";

#[test]
fn a_probe_is_read() {
    let gaps = Gaps::parse(TEXT).unwrap();
    assert_eq!((gaps.cpu, gaps.over.as_slice()), (1, &[(5000, 2), (20_000, 1)][..]));
    assert!((gaps.lost_share() - 0.04).abs() < 1e-12 && (gaps.clock_read_ns() - 24.0).abs() < 1e-12);
}

#[test]
fn a_probe_that_ended_early_is_none() {
    assert!(Gaps::parse(TEXT.trim_end_matches("done\n")).is_err());
    assert!(Gaps::parse("hello\n").is_err());
    assert!(Gaps::parse("cpu\n").is_err());
}
