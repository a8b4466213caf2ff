// Rows of a table, cloned and sorted; strings that grow by push.
fn main() {
    let row = |r: i32| (0..2000).map(|c| f64::from((r * 7919 + c * 104_729) % 65_537)).collect();
    let rows: Vec<Vec<f64>> = (0..2000).map(row).collect();
    let mut sum = 0.0;
    for round in 0..3 {
        let mut copy = rows.clone();
        copy.iter_mut().for_each(|row| row[round] += 1.0);
        sum += copy.iter().map(|row| row[round]).sum::<f64>();
    }
    let mut text = String::new();
    for i in 0..3_000_000u32 {
        text.push(char::from(b'a' + (i % 26) as u8));
        text.push_str("xyz");
    }
    println!("{sum} {}", text.len());
}
