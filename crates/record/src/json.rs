//! JSON of what is kept and printed. The code that reads or writes a shape is most of what a large type takes. These macros
//! compile it beside the type, once, rather than in every crate that opens a run or prints a result.

use serde_json::{Result, Value};

/// A type that is read from JSON.
pub trait FromJson: Sized {
    /// Reads JSON text. Errors: it is none, or has another shape.
    fn from_json(text: &[u8]) -> Result<Self>;
}

/// A type that is written as JSON.
pub trait ToJson {
    /// Its JSON, with fields in their order. Errors: a map has keys that are no texts.
    fn to_json(&self) -> Result<Value>;
}

/// Compiles the reading of types with serde's trait.
#[macro_export]
macro_rules! read_from_json {
    ($($shape:ty),+ $(,)?) => {$(
        impl $crate::json::FromJson for $shape {
            #[inline(never)]
            fn from_json(text: &[u8]) -> serde_json::Result<Self> {
                serde_json::from_slice(text)
            }
        }
    )+};
}

/// Compiles the writing of types with serde's trait.
#[macro_export]
macro_rules! written_to_json {
    ($($shape:ty),+ $(,)?) => {$(
        impl $crate::json::ToJson for $shape {
            #[inline(never)]
            fn to_json(&self) -> serde_json::Result<serde_json::Value> {
                serde_json::to_value(self)
            }
        }
    )+};
}

read_from_json!(Value);
written_to_json!(Value);
