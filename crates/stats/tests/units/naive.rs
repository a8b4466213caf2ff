use pagewise_stats::t::naive;

#[test]
fn it_announces_what_lies_apart() {
    let judged = naive(&[10.0, 11.0, 9.0, 10.0], &[20.0, 22.0, 18.0, 20.0]).expect("samples");
    assert!((judged.ratio - 2.0).abs() < 1e-12);
    assert!(judged.announces(0.05) && !judged.announces(1e-9));
}
