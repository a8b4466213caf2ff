//! Many questions asked of one run: p values adjusted so that the chance of a false answer does not grow with their number.

/// Holm's (1979) adjusted p values: calling those at most α significant makes *any* false call with probability at most
/// α, whatever the dependence. The order of the input is kept.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, &index) in order.iter().enumerate() {
        let remaining = (p_values.len() - place) as f64;
        largest = largest.max(remaining * p_values[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// Benjamini & Hochberg's (1995) adjusted p values: of those called at most α, a *share* of at most α is false on average,
/// for independent or positively dependent tests. The order of the input is kept.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let count = p_values.len() as f64;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (place, &index) in order.iter().enumerate().rev() {
        smallest = smallest.min(count / (place + 1) as f64 * p_values[index]);
        adjusted[index] = smallest;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    order
}
