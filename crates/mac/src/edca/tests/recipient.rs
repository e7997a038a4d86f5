//! The receiving end beside a model that knows numbers without end and looks at each of them.

use super::super::frames::{Content, DataMpdus, MpduSet, Ppdu, Vector};
use super::super::recipient::Recipient;
use super::air::{Payload, msdus_of_run};
use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::phy::OFDM_RATES;
use crate::service::MacOutput;
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// 10.25.6.6 over numbers that never wrap round.
struct Naive {
    window: u64,
    start: u64,
    buffer: BTreeMap<u64, u32>,
    /// Everything that has come, and the newest number of the scoreboard.
    came: std::collections::BTreeSet<u64>,
    newest: u64,
}

impl Naive {
    fn hand_up(&mut self, until: u64, out: &mut Vec<u32>) {
        while let Some((&number, &id)) = self.buffer.first_key_value() {
            if number >= until && number != self.start {
                break;
            }
            self.buffer.pop_first();
            out.push(id);
            self.start = self.start.max(number + 1);
        }
        self.start = self.start.max(until);
        while let Some(id) = self.buffer.remove(&self.start) {
            out.push(id);
            self.start += 1;
        }
    }

    fn on_mpdu(&mut self, number: u64, id: u32, out: &mut Vec<u32>) {
        if number + self.window >= self.newest {
            self.came.insert(number);
        }
        self.newest = self.newest.max(number + 1);
        if number < self.start || self.buffer.contains_key(&number) {
            return;
        }
        self.buffer.insert(number, id);
        let until = (number + 1).saturating_sub(self.window);
        self.hand_up(until.max(self.start), out);
    }

    fn on_request(&mut self, number: u64, out: &mut Vec<u32>) {
        self.newest = self.newest.max(number + self.window);
        if number > self.start {
            self.hand_up(number, out);
        }
    }
}

/// A time of events whose times do not matter.
const NOW: Instant = Instant::from_nanos(1_000_000_000);

/// A PPDU of MPDUs of 100 byte, by number and packet.
fn ppdu(mpdus: &[(u16, u32)]) -> Arc<Ppdu<Payload>> {
    let mut data = DataMpdus::with_capacity(mpdus.len());
    for (place, &(sequence, id)) in mpdus.iter().enumerate() {
        data.push(sequence, 1, 104 * place as u32 + 4, 100, Payload { id, size: 60, priority: 0 }, &[]);
    }
    let size = Bytes::new(104 * mpdus.len() as u64);
    data.time(size, OFDM_RATES[0].bit_rate);
    let header = Frame {
        kind: FrameKind::Data,
        retry: false,
        power_management: false,
        sequence: mpdus[0].0,
        from: Address(0),
        to: Address(1),
        size,
        rate: OFDM_RATES[0],
        nav: Duration::ZERO,
        reservation: Reservation::default(),
        payload: None,
    };
    Arc::new(Ppdu { header, vector: Vector::NonHt(OFDM_RATES[0]), tid: 0, content: Content::Data(data) })
}

fn drain(outputs: &mut VecDeque<MacOutput<Payload>>) -> Vec<u32> {
    let ids = |output: MacOutput<Payload>| match output {
        MacOutput::DeliverRun { ppdu, mpdus, .. } => {
            msdus_of_run(&ppdu, mpdus).iter().map(|packet| packet.id).collect()
        }
        _ => vec![],
    };
    outputs.drain(..).flat_map(ids).collect()
}

/// The numbers that have gone up, and when each was complete.
fn complete_at(now: Instant, outputs: &VecDeque<MacOutput<Payload>>) -> Vec<(u16, Instant)> {
    let mut times = vec![];
    for output in outputs {
        let MacOutput::DeliverRun { ppdu, mpdus, complete } = output else { continue };
        for mpdu in &ppdu.data().unwrap().mpdus()[mpdus.start as usize..mpdus.end as usize] {
            times.push((mpdu.sequence, now - complete.ago(mpdu.behind)));
        }
    }
    times
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn it_hands_up_and_answers_as_the_model_does(
        window in prop_oneof![Just(1u16), Just(2), Just(8), Just(64), Just(1_024)],
        start in 0u64..5_000,
        steps in prop::collection::vec((any::<bool>(), 0u64..12, 0u64..3), 1..200),
    ) {
        let mut naive = Naive {
            window: u64::from(window),
            start,
            buffer: BTreeMap::new(),
            came: std::collections::BTreeSet::new(),
            newest: start + u64::from(window),
        };
        let mut recipient = Recipient::new(window, (start % 4_096) as u16);
        let mut outputs = VecDeque::new();
        for (id, (is_mpdu, ahead, scale)) in (0..).zip(steps) {
            // Some before the buffer, most in it, some beyond.
            let reach = [1, u64::from(window) / 4 + 1, u64::from(window) / 2 + 1][scale as usize];
            // A number half of all ahead is an old one.
            let ahead_of_start = (ahead * reach).min(2_000);
            let number = (naive.start + ahead_of_start).saturating_sub((3 * reach).min(1_500)).max(start);
            let mut expected = vec![];
            if is_mpdu || ahead > 6 {
                naive.on_mpdu(number, id, &mut expected);
                let ppdu = ppdu(&[((number % 4_096) as u16, id)]);
                recipient.on_ppdu(NOW, (&ppdu, ppdu.data().unwrap()), (None, 0), &mut outputs);
            } else {
                naive.on_request(number, &mut expected);
                recipient.on_request(NOW, (number % 4_096) as u16, &mut outputs);
            }
            prop_assert_eq!(drain(&mut outputs), expected);
            prop_assert_eq!(recipient.holding() as usize, naive.buffer.len());
            let answer = recipient.answer();
            let first = naive.newest - u64::from(window);
            prop_assert_eq!(u64::from(answer.start), first % 4_096);
            for number in first..naive.newest {
                let came = naive.came.contains(&number);
                prop_assert_eq!(answer.acknowledges((number % 4_096) as u16), came, "{}", number);
            }
        }
    }

    /// Two links carry MPDUs of one agreement, some in vain: each goes up with the same time whether it is heard of as
    /// it ends or with its PPDU.
    #[test]
    fn what_goes_up_with_its_ppdu_has_the_time_at_which_it_was_complete(
        choices in prop::collection::vec((0usize..2, 1usize..12, 0u64..4, any::<u16>()), 1..40),
    ) {
        let (mut waiting, mut next, mut ids) = (vec![], 0u16, 0u32);
        let mut free = [Instant::from_nanos(1_000_000); 2];
        let mut sent = vec![];
        for (link, count, pause, lost) in choices {
            // What was lost is sent first, then what is new.
            let from_waiting = waiting.len().min(count);
            let mut numbers: Vec<u16> = waiting.drain(..from_waiting).collect();
            while numbers.len() < count {
                numbers.push(next);
                next += 1;
            }
            let mpdus: Vec<(u16, u32)> = numbers.iter().map(|number| { ids += 1; (*number, ids) }).collect();
            let ppdu = ppdu(&mpdus);
            let end = free[link] + Duration::from_micros(7 * pause) + OFDM_RATES[0].bit_rate.time_for(ppdu.header.size);
            free[link] = end;
            let mut intact = MpduSet::default();
            for (place, (number, _)) in mpdus.iter().enumerate() {
                if lost >> place & 1 == 0 { intact.insert(place) } else { waiting.push(*number) }
            }
            sent.push((end, ppdu, intact));
        }
        let one_by_one = {
            let mut ends: Vec<(Instant, usize, u32)> = vec![];
            for (number, (end, ppdu, _)) in sent.iter().enumerate() {
                let mpdus = ppdu.data().unwrap().mpdus().iter().zip(0..);
                ends.extend(mpdus.map(|(mpdu, place)| (*end - mpdu.behind, number, place)));
            }
            ends.sort();
            let mut recipient = Recipient::new(1_024, 0);
            let mut times = vec![];
            for (now, number, place) in ends {
                let (end, ppdu, intact) = &sent[number];
                if intact.contains(place as usize) {
                    let mut outputs = VecDeque::new();
                    recipient.on_mpdus((now, *end - now), (ppdu, ppdu.data().unwrap()), place..place + 1, &mut outputs);
                    times.extend(complete_at(now, &outputs));
                }
            }
            times
        };
        sent.sort_by_key(|(end, ..)| *end);
        let mut recipient = Recipient::new(1_024, 0);
        let mut times = vec![];
        for (now, ppdu, intact) in &sent {
            let mut outputs = VecDeque::new();
            recipient.on_ppdu(*now, (ppdu, ppdu.data().unwrap()), (Some(intact), 0), &mut outputs);
            times.extend(complete_at(*now, &outputs));
        }
        let numbers = |times: &[(u16, Instant)]| times.iter().copied().collect::<BTreeMap<_, _>>();
        prop_assert_eq!(numbers(&one_by_one), numbers(&times));
        prop_assert!(times.is_sorted_by_key(|(_, at)| *at), "{:?}", times);
    }
}
