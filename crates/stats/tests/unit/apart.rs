use super::super::multiplicity::benjamini_hochberg;
use super::super::quantile::quantile;
use super::super::rng::Seeded;
use super::*;

fn normal(rng: &mut Seeded) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

#[test]
fn quantiles_without_one_are_those_of_the_others() {
    let sorted = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    for place in 0..sorted.len() {
        let mut others: Vec<f64> = sorted.to_vec();
        others.remove(place);
        for p in [0.1, 0.25, 0.5, 0.75, 0.9] {
            assert!(
                (quantile_without(&sorted, place, p) - quantile(&mut others, p).unwrap()).abs()
                    < 1e-12
            );
        }
    }
}

#[test]
fn a_twice_as_slow_one_is_found_among_eight_and_its_company_is_not() {
    let values = [0.01, -0.02, 0.0, 0.015, 0.7, -0.01, 0.02, -0.005];
    let found = apart(&values, &[0.005; 8], 0.05).unwrap();
    assert!(
        found[4].p < 0.005 && (found[4].by - 0.7).abs() < 0.02,
        "{:?}",
        found[4]
    );
    assert!(found.iter().enumerate().all(|(i, a)| i == 4 || a.p == 1.0));
    assert_eq!(
        apart(&values[..4], &[0.0; 4], 0.05).unwrap_err(),
        Undefined::TooFew { got: 4, needed: 5 }
    );
}

#[test]
fn fleets_of_like_machines_have_odd_ones_rarely_whatever_their_number() {
    for (nodes, fleets, scatter) in [(5, 600, 0.2), (8, 600, 0.2), (20, 300, 0.2), (200, 60, 0.2)] {
        let mut rng = Seeded::new(20_261_121 + nodes as u64);
        let mut wrong = 0;
        for _ in 0..fleets {
            let cells = (0..5).map(|_| {
                (0..nodes)
                    .map(|_| scatter * normal(&mut rng))
                    .collect::<Vec<f64>>()
            });
            // Without a margin, so that nothing hides what the spread gets wrong.
            let p: Vec<f64> = cells
                .flat_map(|v| apart(&v, &vec![0.0; nodes], 0.0).unwrap())
                .map(|a| a.p)
                .collect();
            wrong += usize::from(benjamini_hochberg(&p).iter().any(|p| *p <= 0.01));
        }
        assert!(
            wrong as f64 <= 0.02 * fleets as f64,
            "{wrong} of {fleets} fleets of {nodes}"
        );
    }
}

#[test]
fn errors_of_their_own_are_no_oddness() {
    let values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.4];
    assert!(apart(&values, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.5], 0.0).unwrap()[5].p > 0.1);
    assert!(apart(&values, &[0.001; 6], 0.0).unwrap()[5].p < 1e-4);
}
