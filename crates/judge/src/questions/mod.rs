//! Questions that people ask, answered by contrasts: claims of others, advice, figures of articles.

pub mod advise;
pub mod claims;
pub mod published;
