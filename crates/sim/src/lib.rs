//! The discrete-event wireless simulator: from a scenario to a result.
//!
//! [`scenario`] reads the file, [`run()`] plays it once with one seed, [`result`] is what comes out, [`metric`] its
//! numbers by name. The radio channel is [`phy`]; everything that happens is in `world`. [`models`] are formulas beside
//! it, without a run.

pub mod facts;
mod failure;
pub mod killer;
pub mod limits;
pub mod metric;
pub mod models;
pub mod phy;
mod queue;
pub mod record;
mod recorder;
pub mod result;
mod run;
pub mod scenario;
mod side_by_side;
mod timers;
mod world;

pub use failure::RunError;
pub use recorder::{CAPTURE, FRAMES, PERFETTO, Payloads, Recorder, Recordings, TIMELINE};
pub use run::{RunOptions, RunOutput, run};
pub use side_by_side::{Task, Threads};
pub use world::{
    Delivery, DropReason, External, FlowId, FrameEvent, HostAddress, Level, LinkDirection, LinkTrunkEnd, Loss, Msdu,
    MsduKind, NodeId, Observer, PayloadHandle, RadioId, RadioTrunkEnd, Record, World, drawn,
};
