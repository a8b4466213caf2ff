use super::*;

#[test]
fn every_price_is_a_cell_that_the_worker_knows() {
    let workers = worker::all(&[], &[]).unwrap();
    for mode in [
        LaunchMode::PriceBase,
        LaunchMode::PriceHuge,
        LaunchMode::PriceEvents,
        LaunchMode::PriceCow,
    ] {
        let cell = cell(mode, 8 << 20);
        let method = worker::find(&workers, "c-O3")
            .unwrap()
            .method(&cell.experiment, &cell.method);
        let method = method.unwrap_or_else(|| panic!("no {}", cell.name()));
        let wanted: Vec<&str> = method.keys.iter().map(|(key, _)| key.as_str()).collect();
        for key in &wanted {
            assert!(
                cell.parameters.contains_key(*key),
                "{} needs {key}",
                cell.name()
            );
        }
        assert_eq!(cell.parameters.len(), wanted.len(), "{}", cell.name());
    }
}
