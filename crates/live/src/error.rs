//! What keeps a lab from working: what, where, and how to mend it.

use std::fmt::Display;

/// Why a lab did not work; nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What was asked for cannot be had: status 2.
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
