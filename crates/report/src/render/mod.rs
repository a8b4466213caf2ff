//! A report as data ([`document`]), and the three renderers that show any document. Foreign text passes [`escape`].

pub mod document;
pub mod escape;
pub mod html;
pub mod markdown;
pub(crate) mod plot;
pub mod styled;
pub mod terminal;
