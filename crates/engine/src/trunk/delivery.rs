//! The end of a packet's way through a trunk.

/// Treatment of a packet that comes after its place was given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateMode {
    /// Deliver it at once, out of order: TCP would retransmit it otherwise.
    #[default]
    Tcp,
    /// Discard it: order holds, always.
    Strict,
}
