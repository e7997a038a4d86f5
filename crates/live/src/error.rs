//! The errors of a lab: the place, the cause, and the remedy.

use std::fmt::Display;

/// The reason why a lab did not work; nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The request is wrong: status 2.
    #[error("{0}")]
    Input(String),
    /// The system refused something: status 1.
    #[error("{0}")]
    Failed(String),
}

impl LabError {
    /// The system refused to do `what`.
    pub(crate) fn failed(what: impl Display) -> impl FnOnce(nix::Error) -> Self {
        move |error| Self::Failed(format!("{what}: {}", error.desc()))
    }
    /// The same for the standard library's errors.
    pub(crate) fn io(what: impl Display) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::Failed(format!("{what}: {error}"))
    }
}
