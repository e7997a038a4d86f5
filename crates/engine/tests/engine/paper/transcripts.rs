//! Transcripts of a trunk: what comes, what it does, what it waits for.

use crate::paper::model::Packet;
use airbraid_engine::trunk::paper::{
    FrameFate, Numbering, PaperInput, PaperOutput, PaperPolicy, PaperTrunk, Resequencer, TrunkHeader,
};
use airbraid_engine::trunk::{LateMode, Member};
use airbraid_engine::{Machine, step};
use airbraid_units::{Duration, Instant, SeqNum};
use std::fmt::Write;

/// A trunk and what it has done so far.
struct Scene {
    trunk: PaperTrunk<Packet>,
    now: Instant,
    text: String,
}

impl Scene {
    fn new(policy: PaperPolicy) -> Self {
        Self { trunk: PaperTrunk::new(policy, 2, 7), now: Instant::ZERO, text: String::new() }
    }

    fn receiving(resequencer: Resequencer) -> Self {
        Self::new(PaperPolicy { resequencer, ..PaperPolicy::default() })
    }

    /// Time passes until `ms`, and the timers with it.
    fn at(&mut self, ms: u64) -> &mut Self {
        let end = Instant::ZERO + Duration::from_millis(ms);
        while let Some(wake) = self.trunk.poll_timeout().filter(|wake| wake.at <= end) {
            self.now = wake.at;
            self.drive(wake.why, None);
        }
        self.now = end;
        self
    }

    /// A frame of the sender's life `epoch` comes.
    fn frame_of(&mut self, epoch: u16, number: u32, member: u8) -> &mut Self {
        let header = TrunkHeader { epoch, member: Member(member), number: SeqNum(number), ..TrunkHeader::default() };
        let packet = Packet { id: u64::from(number), len: 1_500, segments: 1, bucket: 0 };
        self.drive(&format!("frame {number} by member {member}"), Some(PaperInput::Frame { header, packet }));
        self
    }

    fn frame(&mut self, number: u32, member: u8) -> &mut Self {
        self.frame_of(1, number, member)
    }

    fn packet(&mut self, id: u64, segments: u32) -> &mut Self {
        self.drive(&format!("packet {id}"), Some(PaperInput::Packet(Packet { id, len: 1_500, segments, bucket: 3 })));
        self
    }

    fn finished(&mut self, member: u8) -> &mut Self {
        self.drive(
            &format!("member {member} finished"),
            Some(PaperInput::Finished(Member(member), FrameFate::Unknown)),
        );
        self
    }

    fn drive(&mut self, what: &str, input: Option<PaperInput<Packet>>) {
        let mut done = vec![];
        let wake = step(&mut self.trunk, self.now, input, |output| {
            done.push(match output {
                PaperOutput::Deliver(packet) => format!("deliver {}", packet.id),
                PaperOutput::Drop(packet, reason) => format!("drop {} ({reason:?})", packet.id),
                PaperOutput::Transmit { header: h, packet, .. } => format!(
                    "member {} sends {} as {}, its {}th, previous {}, bucket {}: {}",
                    h.member.0, packet.id, h.number, h.member_number, h.member_previous, h.bucket, h.bucket_number
                ),
                PaperOutput::Control { control, .. } => format!("{control:?}"),
                PaperOutput::Release(packet) => format!("release {}", packet.id),
            });
        });
        let ms = |at: Instant| format!("{}.{:03}", at.as_nanos() / 1_000_000, at.as_nanos() / 1_000 % 1_000);
        let wake = wake.map_or(String::new(), |wake| format!("  [{} at {}]", wake.why, ms(wake.at)));
        let done = if done.is_empty() { "-".to_owned() } else { done.join(", ") };
        writeln!(self.text, "{:>8} {what}: {done}{wake}", ms(self.now)).unwrap();
    }

    /// Compares with a transcript whose indentation does not count.
    #[track_caller]
    fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.text), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}

#[test]
fn what_two_members_reorder_is_put_in_order() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(1).frame(1, 0).at(2).frame(3, 0).at(3).frame(4, 0).at(4).frame(2, 1).at(5).frame(6, 1).frame(5, 0);
    scene.at(100).reads(
        "
        1.000 frame 1 by member 0: deliver 1
        2.000 frame 3 by member 0: -  [trunk.reorder at 12.000]
        3.000 frame 4 by member 0: -  [trunk.reorder at 12.000]
        4.000 frame 2 by member 1: deliver 2, deliver 3, deliver 4
        5.000 frame 6 by member 1: -  [trunk.reorder at 15.000]
        5.000 frame 5 by member 0: deliver 5, deliver 6
        ",
    );
    assert_eq!(scene.trunk.receiver_counts().waited, Duration::from_millis(2 + 1));
}

#[test]
fn each_new_first_hole_has_the_whole_hold_time() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(1).frame(2, 0).at(3).frame(5, 0).at(9).frame(1, 1).at(30);
    scene.reads(
        "
        1.000 frame 2 by member 0: -  [trunk.reorder at 11.000]
        3.000 frame 5 by member 0: -  [trunk.reorder at 11.000]
        9.000 frame 1 by member 1: deliver 1, deliver 2  [trunk.reorder at 19.000]
        19.000 trunk.reorder: deliver 5
        ",
    );
}

#[test]
fn the_timer_gives_up_all_holes_at_once() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(2, 0).at(8).frame(4, 0).frame(7, 0).at(20).frame(8, 0).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        8.000 frame 4 by member 0: -  [trunk.reorder at 10.000]
        8.000 frame 7 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2, deliver 4, deliver 7
        20.000 frame 8 by member 0: deliver 8
        ",
    );
}

#[test]
fn a_frame_that_comes_with_the_expiry_comes_in_time() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(2, 0);
    // The frame is given first, the timer not served before it.
    scene.now = Instant::ZERO + Duration::from_millis(10);
    scene.frame(1, 1).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        10.000 frame 1 by member 1: deliver 1, deliver 2
        ",
    );
    // One that does not fill the hole goes out with the rest.
    scene.at(20).frame(4, 0);
    scene.now = Instant::ZERO + Duration::from_millis(30);
    scene.frame(6, 1);
    assert!(scene.text.ends_with("30.000 frame 6 by member 1: deliver 4, deliver 6\n"), "{}", scene.text);
}

#[test]
fn a_late_packet_lengthens_the_timer_and_the_one_that_runs() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene
        .at(0)
        .frame(2, 0)
        .at(12)
        .frame(1, 1)
        .at(20)
        .frame(4, 0)
        .at(25)
        .frame(6, 0)
        .at(32)
        .frame(3, 1)
        .at(40)
        .frame(8, 0);
    scene.at(41).frame(5, 1).at(60).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2
        12.000 frame 1 by member 1: deliver 1  [trunk.decay at 1012.000]
        20.000 frame 4 by member 0: -  [trunk.reorder at 31.000]
        25.000 frame 6 by member 0: -  [trunk.reorder at 31.000]
        31.000 trunk.reorder: deliver 4, deliver 6  [trunk.decay at 1012.000]
        32.000 frame 3 by member 1: deliver 3  [trunk.decay at 1032.000]
        40.000 frame 8 by member 0: -  [trunk.reorder at 52.000]
        41.000 frame 5 by member 1: deliver 5  [trunk.reorder at 53.000]
        53.000 trunk.reorder: deliver 8  [trunk.decay at 1041.000]
        ",
    );
    assert_eq!(scene.trunk.hold_time(), Duration::from_millis(13));
    assert_eq!(scene.trunk.receiver_counts().late, 3);
}

#[test]
fn a_quiet_second_halves_the_timer_once() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(2, 0).at(12).frame(1, 1).at(900).frame(4, 0).at(950).frame(3, 0).at(9_000).frame(6, 0).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2
        12.000 frame 1 by member 1: deliver 1  [trunk.decay at 1012.000]
        900.000 frame 4 by member 0: -  [trunk.reorder at 911.000]
        911.000 trunk.reorder: deliver 4  [trunk.decay at 1012.000]
        950.000 frame 3 by member 0: deliver 3  [trunk.decay at 1950.000]
        1950.000 trunk.decay: -
        9000.000 frame 6 by member 0: -  [trunk.reorder at 9006.000]
        ",
    );
}

#[test]
fn halving_while_the_timer_runs_shortens_it() {
    let config = Resequencer { initial: Duration::from_millis(99), ..Resequencer::default() };
    let mut scene = Scene::receiving(config);
    scene.at(0).frame(2, 0).at(100).frame(1, 1).at(1_030).frame(4, 0).at(1_099).frame(6, 0).at(2_000).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 99.000]
        99.000 trunk.reorder: deliver 2
        100.000 frame 1 by member 1: deliver 1  [trunk.decay at 1100.000]
        1030.000 frame 4 by member 0: -  [trunk.decay at 1100.000]
        1099.000 frame 6 by member 0: -  [trunk.decay at 1100.000]
        1100.000 trunk.decay: deliver 4, deliver 6
        ",
    );
}

#[test]
fn repeated_halving_goes_on_to_the_minimum_and_ends() {
    let minimum = Duration::from_millis(2);
    let mut scene = Scene::receiving(Resequencer { repeat_halving: true, minimum, ..Resequencer::default() });
    scene.at(0).frame(2, 0).at(12).frame(1, 1).at(10_000).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2
        12.000 frame 1 by member 1: deliver 1  [trunk.decay at 1012.000]
        1012.000 trunk.decay: -  [trunk.decay at 2012.000]
        2012.000 trunk.decay: -  [trunk.decay at 3012.000]
        3012.000 trunk.decay: -
        ",
    );
    assert_eq!(scene.trunk.hold_time(), minimum);
}

#[test]
fn what_comes_twice_is_dropped_whether_held_delivered_or_late() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(1, 0).frame(1, 1).at(1).frame(3, 0).frame(3, 1).at(20).frame(2, 1).frame(2, 0).reads(
        "
        0.000 frame 1 by member 0: deliver 1
        0.000 frame 1 by member 1: drop 1 (Duplicate)
        1.000 frame 3 by member 0: -  [trunk.reorder at 11.000]
        1.000 frame 3 by member 1: drop 3 (Duplicate)  [trunk.reorder at 11.000]
        11.000 trunk.reorder: deliver 3
        20.000 frame 2 by member 1: deliver 2  [trunk.decay at 1020.000]
        20.000 frame 2 by member 0: drop 2 (Duplicate)  [trunk.decay at 1020.000]
        ",
    );
    assert_eq!(scene.trunk.hold_time(), Duration::from_millis(11), "duplicates teach nothing");
}

#[test]
fn the_strict_mode_drops_what_comes_late_and_learns_from_it() {
    let mut scene = Scene::receiving(Resequencer { mode: LateMode::Strict, ..Resequencer::default() });
    scene.at(0).frame(2, 0).at(12).frame(1, 1).at(13).frame(3, 0).reads(
        "
        0.000 frame 2 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2
        12.000 frame 1 by member 1: drop 1 (Late)  [trunk.decay at 1012.000]
        13.000 frame 3 by member 0: deliver 3  [trunk.decay at 1012.000]
        ",
    );
    assert_eq!(scene.trunk.hold_time(), Duration::from_millis(11));
}

#[test]
fn a_restarted_sender_is_followed_at_once() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame_of(1, 1, 0).frame_of(1, 3, 0).at(5).frame_of(2, 2, 0).at(6).frame_of(1, 2, 1);
    scene.frame_of(2, 1, 1).reads(
        "
        0.000 frame 1 by member 0: deliver 1
        0.000 frame 3 by member 0: -  [trunk.reorder at 10.000]
        5.000 frame 2 by member 0: deliver 3  [trunk.reorder at 15.000]
        6.000 frame 2 by member 1: drop 2 (Stale)  [trunk.reorder at 15.000]
        6.000 frame 1 by member 1: deliver 1, deliver 2
        ",
    );
    assert_eq!(scene.trunk.receiver_counts().resyncs, 1);
}

#[test]
fn a_leap_beyond_the_buffer_delivers_what_is_held_and_goes_on_behind() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(1, 0).frame(3, 0).at(1).frame(2_050, 0).frame(2_051, 1).at(2).frame(2_049, 1).reads(
        "
        0.000 frame 1 by member 0: deliver 1
        0.000 frame 3 by member 0: -  [trunk.reorder at 10.000]
        1.000 frame 2050 by member 0: deliver 3, deliver 2050
        1.000 frame 2051 by member 1: deliver 2051
        2.000 frame 2049 by member 1: deliver 2049  [trunk.decay at 1002.000]
        ",
    );
    // Too long ago to tell whether it came before: dropped whatever the mode.
    scene.at(3).frame(100_000, 0).frame(100_000 - 32_767, 0).frame(100_000 - 32_768, 0);
    assert!(scene.text.ends_with(
        "3.000 frame 67233 by member 0: deliver 67233  [trunk.decay at 1003.000]\n   \
         3.000 frame 67232 by member 0: drop 67232 (Stale)  [trunk.decay at 1003.000]\n"
    ));
}

#[test]
fn a_receiver_that_joins_late_takes_up_wherever_the_numbers_are() {
    for number in [2_500, 1 << 20, i32::MAX as u32, 1 << 31, u32::MAX, 0] {
        let mut scene = Scene::receiving(Resequencer::default());
        scene.at(0).frame(number, 0).frame(number.wrapping_add(1), 0).at(1).frame(number.wrapping_sub(1), 1);
        let stats = scene.trunk.receiver_counts();
        assert_eq!((stats.delivered, stats.late, stats.resyncs), (3, 1, 1), "{}", scene.text);
    }
}

#[test]
fn a_receiver_that_joins_early_waits_for_what_may_be_missing() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(2_048, 0).at(10).reads(
        "
        0.000 frame 2048 by member 0: -  [trunk.reorder at 10.000]
        10.000 trunk.reorder: deliver 2048
        ",
    );
}

#[test]
fn numbers_pass_the_wrap_in_order() {
    let mut scene = Scene::receiving(Resequencer::default());
    scene.at(0).frame(u32::MAX - 1, 0).frame(0, 0).frame(1, 0).at(1).frame(u32::MAX, 1).at(2).frame(u32::MAX, 0).reads(
        "
        0.000 frame 4294967294 by member 0: deliver 4294967294
        0.000 frame 0 by member 0: -  [trunk.reorder at 10.000]
        0.000 frame 1 by member 0: -  [trunk.reorder at 10.000]
        1.000 frame 4294967295 by member 1: deliver 4294967295, deliver 0, deliver 1
        2.000 frame 4294967295 by member 0: drop 4294967295 (Duplicate)
        ",
    );
}

#[test]
fn packets_take_turns_and_the_queue_restarts_at_the_member_that_became_free() {
    let mut scene = Scene::new(PaperPolicy { queue_limit: 2, ..PaperPolicy::default() });
    scene.packet(10, 1).packet(11, 3).packet(12, 1).packet(13, 2).packet(14, 1).finished(1).finished(1).finished(0);
    scene.packet(15, 1).finished(0).packet(16, 1).reads(
        "
        0.000 packet 10: member 0 sends 10 as 1, its 0th, previous 1, bucket 3: 0
        0.000 packet 11: member 1 sends 11 as 2, its 0th, previous 2, bucket 3: 1
        0.000 packet 12: -
        0.000 packet 13: -
        0.000 packet 14: drop 14 (QueueFull)
        0.000 member 1 finished: member 1 sends 12 as 5, its 1th, previous 2, bucket 3: 4
        0.000 member 1 finished: member 1 sends 13 as 6, its 2th, previous 5, bucket 3: 5
        0.000 member 0 finished: -
        0.000 packet 15: member 0 sends 15 as 8, its 1th, previous 1, bucket 3: 7
        0.000 member 0 finished: -
        0.000 packet 16: member 0 sends 16 as 9, its 2th, previous 8, bucket 3: 8
        ",
    );
    assert_eq!(scene.trunk.sender_counts().sent_by_member, [3, 3]);
    assert_eq!(scene.trunk.sender_counts().queue_drops, 1);
}

#[test]
fn numbered_on_arrival_a_packet_that_the_full_queue_refuses_leaves_a_gap() {
    let policy = PaperPolicy { queue_limit: 1, numbering: Numbering::Arrival, ..PaperPolicy::default() };
    let mut scene = Scene::new(policy);
    scene.packet(10, 1).packet(11, 1).packet(12, 2).packet(13, 3).finished(1).finished(0).packet(14, 1).reads(
        "
        0.000 packet 10: member 0 sends 10 as 1, its 0th, previous 1, bucket 3: 0
        0.000 packet 11: member 1 sends 11 as 2, its 0th, previous 2, bucket 3: 1
        0.000 packet 12: -
        0.000 packet 13: drop 13 (QueueFull)
        0.000 member 1 finished: member 1 sends 12 as 3, its 1th, previous 2, bucket 3: 2
        0.000 member 0 finished: -
        0.000 packet 14: member 0 sends 14 as 8, its 1th, previous 1, bucket 3: 7
        ",
    );
}

#[test]
fn a_member_whose_link_is_down_carries_nothing_until_it_is_up() {
    let mut scene = Scene::new(PaperPolicy { member_limit: 4, ..PaperPolicy::default() });
    let link = |scene: &mut Scene, is_up| scene.drive("link", Some(PaperInput::Link { member: Member(0), is_up }));
    link(&mut scene, false);
    scene.packet(10, 1).packet(11, 1).packet(12, 1).packet(13, 1);
    assert_eq!(scene.trunk.sender_counts().sent_by_member, [0, 4]);
    scene.packet(14, 1);
    assert_eq!(scene.trunk.queue_len(), 1, "the other one is full");
    link(&mut scene, true);
    assert_eq!((scene.trunk.sender_counts().sent_by_member.clone(), scene.trunk.queue_len()), (vec![1, 4], 0));
}
