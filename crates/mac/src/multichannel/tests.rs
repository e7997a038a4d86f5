//! Transcripts of multi-channel stations, their throughput beside the closed form, and what holds whatever happens.
//!
//! Everything at 1 Mbit/s with the long preamble, as in the paper: RTS, CTS and CRN last 360 us, an ACK 304, a packet of
//! 1024 byte 8608, one of 40 byte 736; SIFS 10, DIFS 50, slot 20 us.

use super::{ChannelChoice, Multichannel, MultichannelConfig, Scheduling};
use crate::dcf::DcfConfig;
use crate::frame::{Address, Channel, ChannelSet, Frame, FrameKind, Reservation};
use crate::medium::{Medium, Payload, Signal, at, stream_drawing};
use crate::phy::{Preamble, Standard};
use crate::service::{MacInput, Outcome};
use airbraid_engine::{Machine, Stream};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const TO_A: Address = Address(0);
const TO_B: Address = Address(1);
const TO_C: Address = Address(2);
const TO_D: Address = Address(3);
/// Nobody has this address.
const TO_Z: Address = Address(25);

type Stations = Medium<Multichannel<Payload>>;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// The parameters of the paper.
fn config(is_bidirectional: bool) -> MultichannelConfig {
    let mut dcf = DcfConfig::new(Standard::Dot11b, Preamble::Long);
    dcf.data_rate = dcf.control_rate;
    dcf.llc_header = Bytes::ZERO;
    dcf.nav_reset = false;
    MultichannelConfig::new(dcf, is_bidirectional)
}

fn with(is_bidirectional: bool, change: impl FnOnce(&mut MultichannelConfig)) -> MultichannelConfig {
    let mut config = config(is_bidirectional);
    change(&mut config);
    config
}

/// Stations that all hear each other at once; each draws as its list says first.
fn stations(config: MultichannelConfig, draws: &[&[u32]]) -> Stations {
    let station = |(i, draws): (usize, &&[u32])| {
        Multichannel::new(config, Address(i as u32), stream_drawing(draws), Stream::new(7, i as u64, "choice"))
    };
    Medium::of(draws.iter().enumerate().map(station).collect(), us(0))
}

/// Cuts the links of a row in which each hears its neighbours alone.
fn make_chain(medium: &mut Stations) {
    let n = medium.stations.len();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        if i.abs_diff(j) != 1 {
            medium.delay[i][j] = None;
        }
    }
}

#[test]
fn mcmac_agrees_on_the_control_channel_and_exchanges_on_another() {
    let mut medium = stations(config(false), &[&[9], &[], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(100), B, TO_A, 2, 40);
    medium.run(at(10_400));
    medium.reads(
        "
    ",
    );
}

#[test]
fn bi_mcmac_lets_the_receiver_answer_with_data() {
    let mut medium = stations(config(true), &[&[9], &[5], &[]]);
    medium.send(at(100), A, TO_B, 1, 1_024);
    medium.send(at(120), B, TO_A, 2, 40);
    medium.run(at(11_300));
    medium.reads(
        "
    ",
    );
}
