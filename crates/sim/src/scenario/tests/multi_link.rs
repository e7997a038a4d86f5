//! Trunks of multi-link devices: their links, and what cannot be.

use super::{BASE, errors, spec};
use crate::scenario::spec::Mac;
use airbraid_mac::edca::{Allocation, RequestLink};
use airbraid_units::Duration;

/// A third device, with a trunk to `b`.
const THIRD: &str = "[[node]]\nname = \"third\"\nposition = [\"0 m\", \"1 m\"]\nradios = [36, 40, 44]\n\
                     [[trunk]]\nname = \"other\"\nbetween = [\"b\", \"third\"]\nover = \"mld\"\n";

/// The base with radios of this standard and a trunk of devices with these keys; `more` stands at the end.
fn text(standard: &str, keys: &str, more: &str) -> String {
    let radios = format!("standard = \"{standard}\"\nband = \"5 GHz\"\nwidth = \"20 MHz\"");
    let text = BASE.replacen("rate = \"11 Mbit/s\"", &radios, 1).replace("radios = [1, 5]", "radios = [36, 40, 44]");
    text.replacen("between = [\"a\", \"b\"]", &format!("between = [\"a\", \"b\"]\nover = \"mld\"\n{keys}"), 1) + more
}

#[test]
fn every_channel_that_both_ends_share_is_a_link() {
    let spec = spec(&text("802.11be", "", ""));
    let trunk = spec.multi_link_trunks().next().unwrap();
    assert_eq!((trunk.name.as_str(), trunk.between), ("air", [0, 1]));
    assert_eq!(trunk.members, [[0, 0], [1, 1], [2, 2]]);
    assert!(spec.trunks[0].radios().is_none() && spec.trunks[0].links().is_none());
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let errors = errors(text);
    assert!(errors.contains(expected), "says\n{errors}\nand not\n{expected}");
}

#[test]
fn what_no_device_can_be_is_refused_with_the_remedy() {
    refused(&text("802.11a", "", "").replacen("width = \"20 MHz\"", "", 1), "has no block acknowledgements");
    refused(&text("802.11be", "policy = { queue = 5 }", ""), "`policy`");
    refused(&text("802.11be", "request_link = \"first\"", ""), "`first` is not known here");
    let parallel = "[[trunk]]\nname = \"other\"\nbetween = [\"b\", \"a\"]\nmembers = [\"ch44\"]\nover = \"mld\"\n";
    refused(&text("802.11be", "", parallel), "trunks `air` and `other` use the same radios");
    refused(&text("802.11be", "", &parallel.replacen("over = \"mld\"\n", "", 1)), "use the same radios");
    let apart = text("802.11be", "members = [\"ch36\", \"ch40\"]", parallel);
    assert_eq!(spec(&apart).multi_link_trunks().count(), 2);
}

/// An agreement is for all links: its window is the least of their radios, whichever has it.
#[test]
fn unlike_links_have_the_least_window() {
    let with = |radio: &str| {
        let radios = format!("radios = [36, {{ name = \"ch40\", channel = 40, {radio} }}, 44]");
        let spec = spec(&text("802.11be", "", "").replacen("radios = [36, 40, 44]", &radios, 1));
        let aggregations = spec.nodes.iter().flat_map(|node| &node.radios).map(|radio| match &radio.mac {
            Mac::Edca(config) => (config.aggregation.window, config.aggregation.ampdu_frames),
            _ => panic!("no EDCA"),
        });
        aggregations.collect::<Vec<_>>()
    };
    assert!(with("width = \"20 MHz\"").iter().all(|one| *one == (1_024, 1_024)));
    assert!(with("standard = \"802.11ax\"").iter().all(|one| *one == (256, 256)));
    let short = with("block_ack_window = 64, ampdu_frames = 20");
    assert!(short.iter().all(|one| one.0 == 64) && short[1].1 == 20 && short[0].1 == 64, "{short:?}");
}

/// Over several links nothing is asked for, unless it is said where.
#[test]
fn what_is_in_doubt_is_asked_for_where_the_scenario_says() {
    let first = |text: &str| spec(text).multi_link_trunks().next().unwrap().request_link;
    let requests = |keys: &str| first(&text("802.11be", keys, ""));
    assert_eq!(requests(""), RequestLink::None);
    assert_eq!(requests("allocation = \"expected\""), RequestLink::None);
    assert_eq!(requests("request_link = \"any\""), RequestLink::Any);
    assert_eq!(requests("allocation = \"expected\"\nrequest_link = \"data\""), RequestLink::OfData);
    assert_eq!(requests("mode = \"single\""), RequestLink::Any, "one radio has one scoreboard");
    let as_ns3 = text("802.11be", "", "").replace("width = \"20 MHz\"", "width = \"20 MHz\"\nrules = \"ns-3\"");
    assert_eq!(first(&as_ns3), RequestLink::OfData);
}

#[test]
fn links_on_channels_that_overlap_are_refused() {
    // 36 and 44 are in one channel of 80 MHz, 52 is in the next.
    let on = |third: u32, more: &str| {
        let text = text("802.11be", "", "").replace("width = \"20 MHz\"", &format!("width = \"80 MHz\"{more}"));
        text.replace("radios = [36, 40, 44]", &format!("radios = [36, {third}]"))
    };
    refused(&on(44, ""), "links `ch36` and `ch44` are on channels that overlap");
    assert_eq!(spec(&on(52, "")).multi_link_trunks().next().unwrap().members.len(), 2);
    assert_eq!(spec(&on(44, "\noverlap = \"ignored\"")).multi_link_trunks().next().unwrap().members.len(), 2);
}

#[test]
fn ends_of_unlike_widths_share_a_link_if_they_have_one_primary_channel() {
    let with = |ap: &str, station: &str| {
        let text = text("802.11be", "members = [[\"x\", \"x\"]]", "");
        let radio = |keys: &str| format!("radios = [{{ name = \"x\", {keys} }}]");
        let text = text.replacen("radios = [36, 40, 44]", &radio(ap), 1);
        text.replacen("radios = [36, 40, 44]", &radio(station), 1)
    };
    let wide = "channel = 42, width = \"80 MHz\", primary = 40";
    assert_eq!(spec(&with(wide, "channel = 40")).multi_link_trunks().next().unwrap().members, [[0, 0]]);
    refused(&with(wide, "channel = 36"), "the radios are on different channels: 42 and 36");
    let turned = "channel = 42, width = \"80 MHz\", primary = 44";
    refused(&with(wide, turned), "the primary channels of the radios are different: 5200 and 5220 MHz");
}

#[test]
fn one_radio_is_the_station_s_unless_the_file_says_otherwise() {
    let modes = |keys: &str, more: &str| {
        let spec = spec(&text("802.11be", keys, more));
        let trunk = spec.multi_link_trunks().next().unwrap();
        trunk.emlsr.map(|emlsr| emlsr.is_some())
    };
    assert_eq!(modes("", ""), [false, false]);
    assert_eq!(modes("mode = \"emlsr\"", ""), [false, true]);
    assert_eq!(modes("mode = { a = \"emlsr\" }", ""), [true, false]);
    // `b` has another trunk, so it is the access point.
    assert_eq!(modes("mode = \"emlsr\"", THIRD), [true, false]);
}

#[test]
fn one_link_at_a_time_is_awake_at_the_station() {
    let trunk = |keys: &str| spec(&text("802.11be", keys, "")).multi_link_trunks().next().unwrap().clone();
    let us = Duration::from_micros;
    let plain = trunk("mode = \"single\"");
    assert_eq!((plain.single, plain.request_link), ([None, Some(us(800))], RequestLink::Any));
    assert_eq!(trunk("mode = { a = \"single\" }\nswitch_delay = \"300 us\"").single, [Some(us(300)), None]);
    let refuse = |keys: &str, why: &str| refused(&text("802.11be", &format!("{keys}\nmode = \"single\""), ""), why);
    refuse("request_link = \"data\"", "one link is awake at a time, and the request goes on that one");
    refuse("allocation = \"slci\"", "packets that are put to links would wait for a link that sleeps");
    assert_eq!(trunk("mode = \"single\"\nallocation = \"expected\"").allocation, Allocation::Expected);
    refuse("tid_to_link = { vo = [\"ch44\"] }", "packets of a TID would wait for a link that sleeps");
    refused(
        &text("802.11be", "mode = { a = \"single\", b = \"single\" }", ""),
        "neither end has a radio for each link",
    );
    refused(&text("802.11be", "mode = { a = \"single\", b = \"emlsr\" }", ""), "neither end has a radio for each link");
    let third = THIRD.to_owned() + "mode = { b = \"single\" }\n";
    refused(&text("802.11be", "mode = { b = \"single\" }", &third), "end at a device of which one link is awake");
}

#[test]
fn all_pairs_of_links_disturb_each_other_unless_the_file_names_them() {
    let pairs = |keys: &str| spec(&text("802.11be", keys, "")).multi_link_trunks().next().unwrap().pairs.clone();
    let none = Vec::<[usize; 2]>::new();
    assert_eq!(pairs(""), [none.clone(), none.clone()]);
    assert_eq!(pairs("mode = \"nstr\""), [none.clone(), vec![[0, 1], [0, 2], [1, 2]]]);
    assert_eq!(pairs("mode = { a = \"nstr\" }\nnstr_pairs = [[\"ch40\", \"ch44\"]]"), [vec![[1, 2]], none]);
}

#[test]
fn modes_that_no_device_has_are_refused_with_the_remedy() {
    refused(&text("802.11be", "mode = \"nstr2\"", ""), "`nstr2` is not known here");
    refused(&text("802.11be", "mode = \"nstr\"\nnstr_pairs = [[\"ch36\"]]", ""), "a pair of links is needed");
    refused(&text("802.11be", "mode = \"nstr\"\nnstr_pairs = [[\"ch36\", \"ch36\"]]", ""), "a link is no pair");
    refused(&text("802.11be", "mode = { a = \"emlsr\", b = \"emlsr\" }", ""), "neither end has a radio for each link");
    refused(&text("802.11be", "mode = \"emlsr\"\npadding_delay = \"1 s\"", ""), "a delay of 1 s is too long");
    refused(&text("802.11be", "mode = \"emlsr\"\npadding_delay = \"257 us\"", ""), "at most 256 us");
    refused(&text("802.11be", "mode = \"single\"\nswitch_delay = \"6 ms\"", ""), "at most 5.484 ms");
    refused(&text("802.11be", "mode = \"nstr\"\nmedium_sync_delay = \"9 ms\"", ""), "at most 8.16 ms");
    refused(&text("802.11be", "mode = \"nstr\"\nnstr_pairs = []", ""), "write mode = \"str\"");
    refused(&text("802.11be", "mode = { nobody = \"str\" }", ""), "`nobody`");
    refused(&text("802.11be", "mode = { b = \"emlsr\" }", THIRD), "trunks `air` and `other` give a node two modes");
}

#[test]
fn links_carry_the_traffic_that_is_mapped_to_them() {
    let trunk = |keys: &str| spec(&text("802.11be", keys, "")).multi_link_trunks().next().unwrap().clone();
    let plain = trunk("");
    assert_eq!((plain.allocation, plain.tids, plain.window), (Allocation::Shared, vec![0xff; 3], None));
    let mapped = trunk("tid_to_link = { vo = [\"ch44\"], 0 = [\"ch36\", \"ch40\"] }\nallocation = \"slci\"");
    // Voice is TID 6 and 7.
    assert_eq!(mapped.tids, [0b0011_1111, 0b0011_1111, 0b1111_1110]);
    assert_eq!(mapped.allocation, Allocation::LeastOccupied);
    let spec = spec(&text("802.11be", "block_ack_window = 100", ""));
    for radio in spec.nodes.iter().flat_map(|node| &node.radios) {
        let Mac::Edca(config) = &radio.mac else { panic!("no EDCA") };
        assert_eq!((config.aggregation.window, config.aggregation.ampdu_frames), (100, 100));
    }
    refused(&text("802.11be", "tid_to_link = { 9 = [\"ch36\"] }", ""), "`9` is no TID");
    refused(&text("802.11be", "tid_to_link = { vo = [] }", ""), "a TID needs a link");
    let twice = "tid_to_link = { be = [\"ch36\"], 3 = [\"ch40\"] }";
    refused(&text("802.11be", twice, ""), "`3` maps a TID that is mapped already");
    refused(&text("802.11be", "tid_to_link = { vo = [\"ch1\"] }", ""), "`ch1`");
    refused(&text("802.11be", "tid_to_link = \"vo\"", ""), "a table is needed");
    refused(&text("802.11be", "block_ack_window = 1025", ""), "no window of 1025 MPDUs");
    refused(&text("802.11be", "allocation = \"best\"", ""), "`best` is not known here");
}
