use super::*;

#[test]
fn the_worst_whole_second_is_found() {
    let text = "1000,104857600,3,0,5;1000,1048576,40,900000,7;20,10,0,0,0".to_owned();
    let words = slowest("read@c-O3", &[text]);
    assert!(
        words.contains("1.0 MiB/s from the device (median 100 MiB/s), 40 major faults"),
        "{words}"
    );
    assert!(words.contains("waited for memory 900 ms"), "{words}");
}

#[test]
fn a_pass_of_less_than_a_second_is_told_too() {
    let words = slowest("x", &["500,1048576,0,-1,-1".to_owned()]);
    assert!(
        words.contains("2.0 MiB/s") && words.contains("not known"),
        "{words}"
    );
}
