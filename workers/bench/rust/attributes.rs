//! The attributes `#[pagewise::bench]` and `#[pagewise::baseline]` of a user's functions.
extern crate proc_macro;

use proc_macro::{TokenStream, TokenTree};

/// Marks a function that `pagewise bench FILE.rs` measures.
#[proc_macro_attribute]
pub fn bench(_: TokenStream, function: TokenStream) -> TokenStream {
    marked('b', function)
}

/// Marks the function that the others are compared with; without one it is the first.
#[proc_macro_attribute]
pub fn baseline(_: TokenStream, function: TokenStream) -> TokenStream {
    marked('B', function)
}

/// The function as it stands, with a mark behind it.
fn marked(kind: char, function: TokenStream) -> TokenStream {
    let mut tokens = function.clone().into_iter();
    let is_fn = |token: TokenTree| token.to_string() == "fn";
    let name = if tokens.any(is_fn) { tokens.next() } else { None };
    let takes_nothing = tokens.next().is_some_and(|parameters| parameters.to_string().replace(' ', "") == "()");
    let mark = match name {
        Some(name) if takes_nothing => {
            // Behind the parameters stands the type of what it returns, or the body.
            let returns = matches!(tokens.next(), Some(TokenTree::Punct(_)));
            format!("::pagewise::function!({kind:?}, {name}, {returns});")
        }
        _ => "::core::compile_error!(\"pagewise measures a function without parameters: fn name() { … }\");".to_owned(),
    };
    let mark: TokenStream = mark.parse().expect("a call of a macro");
    function.into_iter().chain(mark).collect()
}
