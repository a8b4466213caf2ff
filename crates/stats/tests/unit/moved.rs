use super::*;

#[test]
fn order_is_seen_and_disorder_is_not() {
    let rising: Vec<f64> = (0..12).map(f64::from).collect();
    assert!(neighbours_alike(&rising).expect("twelve") < 1e-4);
    let swinging: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
    assert!(neighbours_alike(&swinging).expect("twelve") > 0.99);
    assert_eq!(neighbours_alike(&[1.0; 9]), Ok(1.0));
    assert_eq!(
        neighbours_alike(&[1.0; 7]),
        Err(Undefined::TooFew { got: 7, needed: 8 })
    );
}

#[test]
fn equal_values_share_the_mean_of_their_ranks() {
    assert_eq!(
        mid_ranks(&[3.0, 0.0, 7.0, -0.0, 3.0, 3.0]),
        [4.0, 1.5, 6.0, 1.5, 4.0, 4.0]
    );
}

#[test]
fn a_large_step_is_seen_in_ten_launches() {
    let step = [
        -0.36, -0.31, -0.38, -0.33, -0.35, 0.04, 0.09, 0.05, 0.08, 0.04,
    ];
    assert!(
        neighbours_alike(&step).expect("ten") > MOVED_AT,
        "ranks alone do not see it"
    );
    assert!(alike_by_chance(&step).expect("ten") < MOVED_AT);
}

#[test]
fn values_without_order_are_rarely_said_to_have_one() {
    let mut rng = crate::rng::Seeded::new(7);
    let mut unit = || (rng.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let shapes: [fn(f64, f64) -> f64; 4] = [
        |u, v| (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos(),
        |u, _| (std::f64::consts::PI * (u - 0.5)).tan(),
        |u, _| if u < 0.3 { 1.0 } else { 0.0 },
        |u, v| if u < 0.05 { 9.0 * v } else { v },
    ];
    for n in [8, 10, 14, 24, 40] {
        for (number, shape) in shapes.iter().enumerate() {
            let mut said = 0;
            for _ in 0..4000 {
                let values: Vec<f64> = (0..n).map(|_| shape(unit(), unit())).collect();
                said += u32::from(alike_by_chance(&values).expect("enough") <= MOVED_AT);
            }
            // Values of two kinds only have few ratios, and the nearest may lie beyond one in a hundred.
            let most = if number == 2 { 80 } else { 56 };
            assert!(said <= most, "{n} launches, shape {number}: {said} of 4000");
        }
    }
}

#[test]
fn an_outlier_is_no_movement() {
    let mut values = [3.0, 1.0, 4.0, 1.5, 5.0, 0.9, 2.6, 5.3, 5.8, 0.7];
    let before = neighbours_alike(&values).expect("ten");
    values[8] = 1e12;
    assert_eq!(neighbours_alike(&values).expect("ten"), before);
}
