//! The recordings of one run agree with each other: times and numbers of frames, as their bytes say them.

use crate::record::RecordedFile;
use crate::scenario::Scenario;
use crate::{FRAMES, PERFETTO, Recordings, RunOptions, TIMELINE, run};
use std::collections::BTreeSet;

const SCENARIO: &str = r#"
schema = 1
title = "A trunk beside another flow"
question = "Do the recordings agree?"
[run]
duration = "0.4 s"
[radio]
standard = "802.11b"
rate = "11 Mbit/s"
rts_threshold = "500 byte"
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [1, 6]
[[node]]
name = "b"
position = ["100 m", "0 m"]
radios = [1, 6]
[[node]]
name = "c"
position = ["0 m", "100 m"]
radios = [1]
[[trunk]]
name = "air"
between = ["a", "b"]
[[flow]]
name = "download"
from = "a"
to = "b"
transport = { tcp = "newreno" }
source = "greedy"
[[flow]]
name = "beside"
from = "c"
to = "b"
transport = { udp = "500 byte" }
source = { rate = "3 Mbit/s" }
"#;

/// Bytes, and a place in them.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (byte, rest) = self.0.split_first().expect("the block goes on");
        self.0 = rest;
        *byte
    }
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return value;
            }
        }
        panic!("a varint has at most ten bytes");
    }
    fn change(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.varint();
        }
    }
    fn packet(&mut self) {
        self.skip(3);
    }
}

/// The blocks of a file.
fn blocks(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (block, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        blocks.push(block);
        bytes = rest;
    }
    blocks
}

/// The times of transmissions \[ns\], and the numbers of receptions, deliveries and drops.
#[derive(Debug, Default, PartialEq)]
struct Read {
    sent: Vec<u64>,
    heard: usize,
    delivered: usize,
    dropped: usize,
    more: More,
}

/// Facts that the readable lines do not have in this form.
#[derive(Debug, Default, PartialEq)]
struct More {
    /// Radios that send.
    radios: BTreeSet<u64>,
    /// Radios at which something is queued.
    queues: BTreeSet<u64>,
    /// MPDUs of the longest aggregate.
    mpdus_most: u64,
}

fn read_block(block: &[u8], read: &mut Read) {
    let (mut bytes, mut time, mut sets) = (Reader(&block[1..]), 0i64, Vec::new());
    while !bytes.0.is_empty() {
        let tag = bytes.byte();
        if tag & 7 != 0 {
            time += bytes.change();
        }
        let has = |bit: u8| tag & bit != 0;
        match tag & 7 {
            0 => {
                bytes.byte();
                bytes.skip(5);
                read.more.mpdus_most = read.more.mpdus_most.max(bytes.varint() >> 1);
            }
            1 => {
                read.sent.push(time as u64);
                read.more.radios.insert(bytes.varint());
                bytes.skip(1 + usize::from(!has(64)) + usize::from(has(32)));
                if bytes.varint() >= 2 {
                    bytes.varint();
                }
                if has(16) {
                    bytes.packet();
                }
            }
            2 => {
                if !has(16) {
                    bytes.varint();
                }
                let first = bytes.varint();
                match (has(32), first) {
                    (false, _) => {
                        bytes.byte();
                        read.heard += 1;
                    }
                    (true, 0) => {
                        let mut size = 0;
                        for _ in 0..bytes.varint() {
                            bytes.varint();
                            size += bytes.varint() as usize;
                        }
                        sets.push(size);
                        read.heard += size;
                    }
                    (true, number) => read.heard += sets[number as usize - 1],
                }
            }
            3 => {
                read.more.queues.insert(bytes.varint());
                bytes.skip(usize::from(!has(64)));
                if has(8) {
                    bytes.packet();
                }
            }
            4 => {
                bytes.varint();
                bytes.byte();
                bytes.varint();
                if has(16) {
                    bytes.packet();
                }
            }
            5 => {
                read.delivered += 1;
                bytes.varint();
                if has(16) {
                    bytes.packet();
                }
            }
            6 => {
                read.dropped += 1;
                bytes.skip(2);
                bytes.packet();
            }
            _ => {
                bytes.varint();
                bytes.change();
            }
        }
    }
}

fn files() -> Vec<RecordedFile> {
    files_of(SCENARIO)
}

fn files_of(text: &str) -> Vec<RecordedFile> {
    let scenario = Scenario::parse("test.toml", text).unwrap();
    let plan = scenario.plan().unwrap();
    let recordings = Recordings { pcap: true, timeline: true, frames: true, perfetto: true };
    run(&plan.cells[0].spec, 7, RunOptions { recordings, ..RunOptions::default() }).unwrap().files
}

fn bytes<'a>(files: &'a [RecordedFile], name: &str) -> &'a [u8] {
    files.iter().find(|file| file.name == name).and_then(|file| file.bytes.as_deref()).unwrap()
}

/// The same from the readable lines.
fn read_lines(text: &str) -> Read {
    let count = |what: &str| text.lines().filter(|line| line[18..].contains(what)).count();
    let nanos = |line: &str| line[..18].replace([' ', '.'], "").parse::<u64>().unwrap();
    let mut sent: Vec<u64> = text.lines().filter(|line| line.contains("  TX  ")).map(nanos).collect();
    sent.sort_unstable();
    Read {
        sent,
        heard: count("  RX "),
        delivered: count("  DELIVER "),
        dropped: count("  DROP "),
        more: More::default(),
    }
}

#[test]
fn blocks_and_lines_have_the_same_frames_at_the_same_times() {
    let files = files();
    let blocks = blocks(bytes(&files, FRAMES));
    let [header, data @ .., end] = &blocks[..] else { panic!("a header and an end") };
    let mut read = Read::default();
    data.iter().for_each(|block| read_block(block, &mut read));
    read.sent.sort_unstable();
    let lines = read_lines(std::str::from_utf8(bytes(&files, TIMELINE)).unwrap());
    assert!(read.sent.len() > 500 && read.delivered > 50, "{} frames are too few to say anything", read.sent.len());
    let more = std::mem::take(&mut read.more);
    assert_eq!((&more.queues, more.mpdus_most), (&BTreeSet::from([0, 1, 2, 3, 4]), 0));
    assert_eq!(read, lines);
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    assert_eq!(header["radios"][3]["name"], "b/ch6");
    let end: serde_json::Value = serde_json::from_slice(end).unwrap();
    assert_eq!(end["frames"], read.sent.len());
}

/// The begun slices of a trace by category, and the fields that its packets have.
fn read_trace(trace: &[u8]) -> [usize; 2] {
    let (mut packets, mut slices) = (Reader(trace), [0; 2]);
    while !packets.0.is_empty() {
        assert_eq!(packets.varint(), 1 << 3 | 2, "a trace is a row of packets");
        let length = packets.varint() as usize;
        let (packet, rest) = packets.0.split_at(length);
        packets.0 = rest;
        if let Some(event) = message(packet, 11)
            && number(event, 9) == Some(1)
        {
            // Categories are interned in the order in which they are first needed: a frame is sent before it is heard.
            slices[number(event, 3).unwrap() as usize - 1] += 1;
        }
    }
    slices
}

/// The fields of a message: number, and value or bytes.
fn fields(message: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let (mut reader, mut all) = (Reader(message), Vec::new());
    while !reader.0.is_empty() {
        let key = reader.varint();
        let (value, length) = match key & 7 {
            0 => (reader.varint(), 0),
            1 => (0, 8),
            2 => (0, reader.varint() as usize),
            other => panic!("wire type {other} is never written"),
        };
        let (bytes, rest) = reader.0.split_at(length);
        reader.0 = rest;
        all.push((key >> 3, value, bytes));
    }
    all
}

fn message(within: &[u8], field: u64) -> Option<&[u8]> {
    fields(within).into_iter().find(|(number, ..)| *number == field).map(|(_, _, bytes)| bytes)
}

fn number(within: &[u8], field: u64) -> Option<u64> {
    fields(within).into_iter().find(|(number, ..)| *number == field).map(|(_, value, _)| value)
}

#[test]
fn a_trace_has_a_slice_for_each_frame_that_is_sent_or_heard() {
    let files = files();
    let lines = read_lines(std::str::from_utf8(bytes(&files, TIMELINE)).unwrap());
    assert_eq!(read_trace(bytes(&files, PERFETTO)), [lines.sent.len(), lines.heard]);
}

#[test]
fn all_recordings_have_the_same_bytes_twice() {
    assert!(files() == files(), "two runs of one seed differ");
}

#[test]
fn links_of_a_device_have_rows_of_their_own_and_one_queue() {
    let text = r#"
schema = 1
title = "Two links"
question = "Whose queue is it?"
[run]
duration = "50 ms"
[radio]
standard = "802.11be"
band = "5 GHz"
width = "80 MHz"
mcs = 11
queue = 2000
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [36, { name = "six", channel = 37, band = "6 GHz" }]
[[node]]
name = "b"
position = ["1 m", "0 m"]
radios = [36, { name = "six", channel = 37, band = "6 GHz" }]
[[trunk]]
name = "air"
between = ["a", "b"]
over = "mld"
[[flow]]
name = "down"
from = "a"
to = "b"
transport = { udp = "1472 byte" }
"#;
    let files = files_of(text);
    let blocks = blocks(bytes(&files, FRAMES));
    let [header, data @ .., _] = &blocks[..] else { panic!("a header and an end") };
    let mut read = Read::default();
    data.iter().for_each(|block| read_block(block, &mut read));
    assert_eq!(read.more.radios, BTreeSet::from([0, 1, 2, 3]), "both links send, and both answer");
    assert_eq!(read.more.queues, BTreeSet::from([0]), "the queue of the device, at its first link");
    assert!(read.more.mpdus_most > 200 && read.more.mpdus_most <= 1_024, "{:?}", read.more);
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    let queues: Vec<_> = header["radios"].as_array().unwrap().iter().map(|radio| radio["queue"].as_str()).collect();
    assert_eq!(queues, [Some("device a"), Some("device a"), Some("device b"), Some("device b")]);
}
