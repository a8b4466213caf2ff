use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    #[serde(with = "super")]
    per_launch: Vec<LaunchValues>,
}

fn cell() -> Cell {
    let values = |pairs: &[(&str, f64)]| {
        pairs
            .iter()
            .map(|(name, ns)| ((*name).to_owned(), *ns))
            .collect()
    };
    let launch = |launch, wall: &[(&str, f64)]| LaunchValues {
        launch,
        block: launch as i32 - 1,
        rounds: 3,
        wall_ns: values(wall),
        cpu_ns: values(&[("read", 7.0)]),
        tail_ns: BTreeMap::new(),
    };
    Cell {
        per_launch: vec![
            launch(2, &[("open", 1.5), ("read", 8.0)]),
            launch(5, &[("read", 9.25)]),
        ],
    }
}

#[test]
fn launches_come_back_from_columns() {
    let text = serde_json::to_string(&cell()).unwrap();
    let expected = "{\"per_launch\":{\"launch\":[2,5],\"block\":[1,4],\"rounds\":[3,3],\
        \"wall_ns\":{\"open\":[1.5,null],\"read\":[8.0,9.25]},\"cpu_ns\":{\"read\":[7.0,7.0]}}}";
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell());
    assert!(
        serde_json::from_str::<Cell>(&text.replace("[1,4]", "[1]")).is_err(),
        "a column is short"
    );
}
