//! The fate of a frame that begins while another is on the air, under both receivers.
//!
//! Four stations as in `benches/ns2/first_frame.tcl`: r at 0 m, s at 250 m sends to r, i at -500 m to j at -700 m. r
//! senses i and cannot decode it; s and i do not sense each other. At r the frame of s is 12 dB above that of i.

use airbraid_mac::{Access, Frame, FrameKind};
use airbraid_sim::{DropReason, FrameEvent, Loss, Msdu, NodeId, Observer, Record, World};
use airbraid_tests::spec;
use airbraid_units::Instant;
use std::cell::RefCell;

const R: u32 = 0;
const S: u32 = 1;
const I: u32 = 2;
const J: u32 = 3;

/// A frame's end at a station, the frame's sender, and what became of it.
type End = (u32, u32, Result<(), Loss>);

/// Notes the ends of some frames.
#[derive(Debug)]
struct Ends<'a> {
    counts: fn(&Frame<Msdu>) -> bool,
    seen: &'a RefCell<Vec<End>>,
}

impl Observer for Ends<'_> {
    fn on_transmission(&mut self, _now: Instant, _event: &FrameEvent<'_>, _access: Access) {}
    fn on_reception(&mut self, _now: Instant, event: &FrameEvent<'_>, _dbm: f64, result: Result<(), Loss>) {
        if (self.counts)(event.frame) {
            self.seen.borrow_mut().push((event.radio.index() as u32, event.frame.from.0, result));
        }
    }
    fn on_drop(&mut self, _now: Instant, _node: NodeId, _packet: &Record, _reason: DropReason) {}
    fn on_delivery(&mut self, _now: Instant, _node: NodeId, _packet: &Record) {}
}

/// The ends of the data frames at their first attempts. `packets`: sender, start \[us\], payload \[byte\].
fn ends(receiver: &str, packets: &[(u32, u32, u32)]) -> Vec<End> {
    ends_of(receiver, packets, |frame| frame.kind == FrameKind::Data && !frame.retry)
}

/// The ends of the frames that count.
fn ends_of(receiver: &str, packets: &[(u32, u32, u32)], counts: fn(&Frame<Msdu>) -> bool) -> Vec<End> {
    let pairs = [("r", "s"), ("s", "r"), ("i", "j")];
    let flows: String = packets
        .iter()
        .map(|&(from, start_us, size)| {
            let (name, to) = pairs[from as usize];
            format!(
                "[[flow]]\nname = \"{name}\"\nfrom = \"{name}\"\nto = \"{to}\"\ntransport = {{ udp = \"{size} byte\" }}\n\
                 source = {{ file = \"{size} byte\" }}\nstart = \"{start_us} us\"\n"
            )
        })
        .collect();
    let text = format!(
        r#"
schema   = 1
title    = "First frame"
question = "Who holds the receiver?"
run      = {{ duration = "100 ms" }}
radio    = {{ standard = "802.11b", rate = "11 Mbit/s", receiver = "{receiver}" }}
node     = [
  {{ name = "r", position = ["0 m", "0 m"], radios = [1] }},
  {{ name = "s", position = ["250 m", "0 m"], radios = [1] }},
  {{ name = "i", position = ["-500 m", "0 m"], radios = [1] }},
  {{ name = "j", position = ["-700 m", "0 m"], radios = [1] }},
]
{flows}"#
    );
    let seen = RefCell::new(Vec::new());
    let spec = spec(&text);
    let mut world = World::new(&spec, 1, Some(Box::new(Ends { counts, seen: &seen }))).unwrap();
    world.run(&mut |_| true).unwrap();
    drop(world);
    seen.into_inner()
}

/// The first end at `station` of a frame of `from`.
fn fate(ends: &[End], station: u32, from: u32) -> Option<Result<(), Loss>> {
    ends.iter().find(|(at, by, _)| (*at, *by) == (station, from)).map(|&(_, _, result)| result)
}

/// ns-2.35 loses the frame of s, with `COL` in its trace.
#[test]
fn energy_that_cannot_be_decoded_holds_the_receiver_of_ns2_alone() {
    let packets = [(I, 0, 1_472), (S, 600, 1_472)];
    let (standard, ns2) = (ends("standard", &packets), ends("ns2", &packets));
    assert_eq!(fate(&standard, R, S), Some(Ok(())), "{standard:?}");
    // The later end is that of the lost frame.
    assert_eq!(fate(&ns2, R, S), Some(Err(Loss::Collision)), "{ns2:?}");
    assert_eq!((fate(&standard, J, I), fate(&ns2, J, I)), (Some(Ok(())), Some(Ok(()))));
}

/// ns-2.35 receives both.
#[test]
fn a_later_frame_that_is_weaker_by_the_capture_ratio_does_no_harm_to_either() {
    for receiver in ["standard", "ns2"] {
        let ends = ends(receiver, &[(S, 0, 1_472), (I, 600, 1_472)]);
        assert_eq!((fate(&ends, R, S), fate(&ends, J, I)), (Some(Ok(())), Some(Ok(()))), "{receiver}: {ends:?}");
    }
}

/// A frame that begins while a station transmits holds it afterwards in ns-2.
#[test]
fn a_frame_missed_by_transmitting_holds_the_receiver_of_ns2_alone() {
    // r and i begin in the same slot, so that neither defers to the other. The ACK of s comes while i still transmits.
    let sent_again = |receiver: &str| {
        let ends =
            ends_of(receiver, &[(R, 0, 400), (I, 0, 1_472)], |frame| frame.kind == FrameKind::Data && frame.retry);
        fate(&ends, S, R)
    };
    assert_eq!(sent_again("standard"), None);
    assert_eq!(sent_again("ns2"), Some(Ok(())));
}
