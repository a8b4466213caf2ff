//! t
/// t
pub fn render(_: &crate::machine::environment::Environment, _: &[u8]) -> String {
    String::new()
}
