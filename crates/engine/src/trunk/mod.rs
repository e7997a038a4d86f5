//! The trunk.
mod policy;
pub use policy::{Distributor, LateMode, Policy, Resequencer};
