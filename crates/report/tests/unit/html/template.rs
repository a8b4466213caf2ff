use super::hash;

#[test]
fn hashes_are_those_of_the_standard_tools() {
    // printf abc | openssl dgst -sha256 -binary | base64
    assert_eq!(
        hash("abc").to_string(),
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    );
}
