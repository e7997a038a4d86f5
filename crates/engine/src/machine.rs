//! The contract between a protocol and its host, and the only driver loop there is.
//!
//! A host calls [`step`] with one input (or none, when a timer is due), carries out every output, and calls again at
//! the wake-up that it was told. It never calls a machine from inside an output. A parent machine drains its children
//! inside its own `handle_*`, because a child's output may become the parent's.

use airbraid_units::Instant;
use std::fmt;

/// The time at which a machine wants to be called again, and the timer that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The absolute time of the earliest timer.
    pub at: Instant,
    /// The timer's name, for transcripts and logs: `"trunk.reorder"`.
    pub why: &'static str,
}

/// A deterministic state machine without I/O: equal seed and equal calls give equal outputs.
pub trait Machine {
    /// Everything that the host can tell it.
    type Input;
    /// Everything that it can tell its host.
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

/// A machine that, drained, asks to be woken at a time that is not later than now: it would spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin {
    pub wake: Wake,
    /// The time of the step.
    pub now: Instant,
}

impl fmt::Display for Spin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wake: Wake { at, why }, now } = self;
        write!(f, "{why} asks to be woken at {at}, and it is {now}: it would spin")
    }
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
    carry_out: impl FnMut(M::Output),
) -> Option<Wake> {
    turn(machine, now, input, carry_out);
    let wake = machine.poll_timeout();
    if wake.is_some_and(|wake| wake.at <= now) {
        spin(machine, now);
    }
    wake
}

/// Ends with the name of the timer that would spin: asked for again, so that nobody else needs it.
#[cold]
#[inline(never)]
fn spin<M: Machine>(machine: &M, now: Instant) {
    if let Some(wake) = machine.poll_timeout() {
        panic!("{}", Spin { wake, now });
    }
}

/// Does the same as [`step`], for a host that drives many machines and must not end because of one.
///
/// # Errors
/// [`Spin`] if the machine, drained, asks to be woken at once. All its outputs were given to `carry_out`.
#[inline(always)]
pub fn try_step<M: Machine>(
    machine: &mut M,
    now: Instant,
    input: Option<M::Input>,
    carry_out: impl FnMut(M::Output),
) -> Result<Option<Wake>, Spin> {
    turn(machine, now, input, carry_out);
    match machine.poll_timeout() {
        Some(wake) if wake.at <= now => Err(Spin { wake, now }),
        wake => Ok(wake),
    }
}

/// One input, or the due timers, and every output.
#[inline(always)]
fn turn<M: Machine>(machine: &mut M, now: Instant, input: Option<M::Input>, mut carry_out: impl FnMut(M::Output)) {
    match input {
        Some(input) => machine.handle_input(now, input),
        None => machine.handle_timeout(now),
    }
    while let Some(output) = machine.poll_output() {
        carry_out(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    /// Wants to be woken at a fixed time after the beginning, whatever the time is.
    struct Stubborn(Duration);

    impl Machine for Stubborn {
        type Input = ();
        type Output = ();
        fn handle_input(&mut self, _: Instant, (): ()) {}
        fn handle_timeout(&mut self, _: Instant) {}
        fn poll_output(&mut self) -> Option<()> {
            None
        }
        fn poll_timeout(&self) -> Option<Wake> {
            Some(Wake { at: Instant::ZERO + self.0, why: "stubborn" })
        }
    }

    #[test]
    fn a_machine_that_would_spin_is_told() {
        let mut machine = Stubborn(Duration::from_secs(1));
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(try_step(&mut machine, at(0), None, |()| {}).map(|wake| wake.map(|wake| wake.at)), Ok(Some(at(1))));
        for now in [at(1), at(2)] {
            let spin = try_step(&mut machine, now, Some(()), |()| {}).unwrap_err();
            assert_eq!((spin.wake.at, spin.wake.why, spin.now), (at(1), "stubborn", now));
        }
    }

    #[test]
    #[should_panic(expected = "stubborn asks to be woken")]
    fn a_simulation_ends_with_it() {
        step(&mut Stubborn(Duration::from_secs(1)), Instant::ZERO + Duration::from_secs(1), None, |()| {});
    }
}
