//! Kinds of kept folders: `plan.json` says which, so that no verb guesses.

use serde::{Deserialize, Serialize};

/// The worker of a user's own functions, which `bench` makes.
pub const OWN_WORKER: &str = "own";

/// The verb that made a folder, and thereby the shape of its plan and launches.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// Methods measured by `run`. A plan that names no kind is of this one.
    #[default]
    Run,
    /// Claims checked by `claims`.
    Claims,
    /// Questions answered by `advise`.
    Advise,
    /// Known effects measured by `check --selftest`.
    Selftest,
    /// Settings or commands tried on a user's program.
    Try,
    /// Memory costs of a user's program.
    Profile,
    /// Commands compared as a benchmark.
    Bench,
}

impl Kind {
    /// The verb that completes an interrupted one.
    pub fn resumed_by(self) -> Kind {
        match self {
            Kind::Try | Kind::Profile | Kind::Bench => self,
            Kind::Run | Kind::Claims | Kind::Advise | Kind::Selftest => Kind::Run,
        }
    }

    /// Word of JSON and of the command line.
    pub fn word(self) -> &'static str {
        self.into()
    }
}
