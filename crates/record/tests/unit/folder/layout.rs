use super::*;

#[test]
fn fields_and_elements_have_lines_and_come_back() {
    let value = serde_json::json!({ "a": 1.5, "\"b": [{ "c": [1, 2] }, {}], "d": { "e": {} }, "f": [1, 2], "g": {} });
    let text = one_a_line(&value).unwrap();
    let lines = [
        "{",
        "  \"a\": 1.5,",
        "  \"\\\"b\": [",
        "    {\"c\":[1,2]},",
        "    {}",
        "  ],",
        "  \"d\": {",
        "    \"e\": {}",
        "  },",
        "  \"f\": [1,2],",
        "  \"g\": {}",
        "}",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
}
