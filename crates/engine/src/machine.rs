//! The contract between a protocol and whatever drives it, and the only driver loop there is.
//!
//! A host calls [`step`] with one input (or none, when a timer is due), carries out every output, and calls again at
//! the wake-up that it was told. It never calls a machine from inside an output. A parent machine drains its children
//! inside its own `handle_*`, because a child's output may become the parent's.

use airbraid_units::Instant;

/// When a machine wants to be called again, and which of its timers asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The absolute time of the earliest timer.
    pub at: Instant,
    /// The timer's name, for transcripts and logs: `"trunk.reorder"`.
    pub why: &'static str,
}

/// A deterministic state machine without I/O: equal seed and equal calls give equal outputs.
pub trait Machine {
    /// Everything the world can tell it.
    type Input;
    /// Everything it can ask of the world.
    type Output;

    /// Absorbs one input in bounded work; `now` never decreases from call to call.
    fn handle_input(&mut self, now: Instant, input: Self::Input);
    /// Fires every timer that is due; an early call changes nothing.
    fn handle_timeout(&mut self, now: Instant);
    /// Takes the next output; `None` means drained.
    fn poll_output(&mut self) -> Option<Self::Output>;
    /// The earliest pending timer. Once drained it is later than the last `now`.
    fn poll_timeout(&self) -> Option<Wake>;
}

/// Drives `machine` once: one input (or its due timers), then every output to `carry_out`, then the next wake-up.
///
/// # Panics
/// If the machine, drained, asks to be woken at once: it would spin.
#[inline(always)]
pub fn step<M: Machine>(
    machine: &mut M,
    now: Instant,
    input: Option<M::Input>,
    mut carry_out: impl FnMut(M::Output),
) -> Option<Wake> {
    match input {
        Some(input) => machine.handle_input(now, input),
        None => machine.handle_timeout(now),
    }
    while let Some(output) = machine.poll_output() {
        carry_out(output);
    }
    let wake = machine.poll_timeout();
    if let Some(wake) = wake {
        assert!(wake.at > now, "{} asks to be woken at {}, and it is {now}: it would spin", wake.why, wake.at);
    }
    wake
}
