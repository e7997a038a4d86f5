//! Multi-link devices as a run tells of them: the counts of their links.

use airbraid_sim::result::{MultiLinkTrunkResult, RunResult, TrunkResult};
use airbraid_sim::{RunOptions, run};
use airbraid_tests::spec;

/// Two devices with links on 5 and 6 GHz, and a flow that fills its queue; `more` stands behind the trunk.
fn devices(radio: &str, trunk: &str, more: &str) -> String {
    let radios = "radios = [36, { name = \"six\", channel = 37, band = \"6 GHz\" }]";
    let node = |name: &str, metres: u32| {
        format!("[[node]]\nname = \"{name}\"\nposition = [\"{metres} m\", \"0 m\"]\n{radios}\n")
    };
    let head = "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"500 ms\"\n[radio]\n\
                standard = \"802.11be\"\nband = \"5 GHz\"\nwidth = \"80 MHz\"\nmcs = 11\nqueue = 8000\neifs = false\n";
    let trunk = format!("[[trunk]]\nname = \"t\"\nbetween = [\"a\", \"b\"]\nover = \"mld\"\n{trunk}\n");
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = { udp = \"1472 byte\" }\n";
    format!("{head}{radio}\n{}{}{trunk}{flow}{more}", node("a", 0), node("b", 1))
}

/// An older station that sends all it can to `a` on the link of 5 GHz.
fn neighbour(name: &str, north: i32) -> String {
    format!(
        "[[node]]\nname = \"{name}\"\nposition = [\"0 m\", \"{north} m\"]\nradios = [36]\n\
         radio = {{ standard = \"802.11ax\", width = \"80 MHz\" }}\n[[flow]]\nname = \"of_{name}\"\nfrom = \"{name}\"\n\
         to = \"a\"\ntransport = {{ udp = \"1472 byte\" }}\n"
    )
}

fn neighbours() -> String {
    (1..=4).map(|n| neighbour(&format!("old{n}"), if n % 2 == 0 { n } else { -n })).collect()
}

fn result(text: &str) -> RunResult {
    run(&spec(text), 1, RunOptions::default()).unwrap().result
}

/// The direction of the trunk that `a` sends.
fn trunk(result: &RunResult) -> &MultiLinkTrunkResult {
    result.trunks.iter().find_map(TrunkResult::multi_link).expect("it has carried something")
}

#[test]
fn the_counts_of_the_links_are_those_of_their_macs() {
    let result = result(&devices("", "", ""));
    let trunk = trunk(&result);
    assert_eq!((trunk.from.as_str(), trunk.to.as_str(), result.trunks.len()), ("a", "b", 1));
    for member in &trunk.members {
        let mac = result.macs.iter().find(|mac| mac.node == "a" && mac.radio == member.link).unwrap();
        assert!(member.counts.mpdus > 1_000, "{member:?}");
        assert_eq!(member.counts.mpdus, mac.edca.unwrap().mpdus, "{}", member.link);
        assert_eq!(member.counts.retries, mac.counts.retries, "{}", member.link);
        assert!((member.airtime - mac.airtime).abs() < 1e-9, "{} and {}", member.airtime, mac.airtime);
    }
    assert_eq!(trunk.counts.mpdus, trunk.members.iter().map(|member| member.counts.mpdus).sum::<u64>());
    let shares: f64 = trunk.members.iter().map(|member| member.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert_eq!((trunk.counts.window_stalls, trunk.counts.retries), (0, 0), "nothing is lost");
}

#[test]
fn mpdus_wait_for_those_of_a_crowded_link_and_not_for_those_of_an_equal_one() {
    let crowded = result(&devices("", "", &neighbours()));
    let trunk = trunk(&crowded);
    let left = trunk.counts.mpdus - trunk.counts.retries - trunk.delivered;
    assert!(left < 1_024, "{left} MPDUs are missing, and no more than a window can be on the way");
    assert!(trunk.held_most > 0 && trunk.held_most < 1_024, "{}", trunk.held_most);
    assert!(trunk.resequencing_delay_mean_s > 0.0 && trunk.resequencing_delay_mean_s < 0.02, "{trunk:?}");
    // The link that has begun first ends first.
    assert_eq!(self::trunk(&result(&devices("", "", ""))).held_most, 0);
}

/// A request on the link of the data must get through the crowd there, and the window waits for its answer. One on any
/// link, or none, which is the default, leaves the clean link at work.
#[test]
fn a_crowded_link_lets_the_clean_one_stand_still_where_its_request_must_go_there() {
    let clean = |keys: &str| trunk(&result(&devices("", keys, &neighbours()))).members[1].clone();
    let still = clean("request_link = \"data\"");
    // Each request is made once.
    assert!(still.counts.stalled.as_secs_f64() > 0.02 && still.counts.window_stalls > 0, "{still:?}");
    assert!(still.counts.stalled.as_secs_f64() + still.airtime * 0.5 < 0.51, "both at once: {still:?}");
    for keys in ["request_link = \"any\"", ""] {
        let busy = clean(keys);
        assert!(busy.counts.stalled < still.counts.stalled / 4, "{keys}: {busy:?}");
    }
}

#[test]
fn metrics_of_devices_have_the_names_that_the_reference_promises() {
    let result = result(&devices("", "", ""));
    let metrics = airbraid_sim::metric::of(&result);
    let find = |name: &str| metrics.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    for name in ["trunk.t.mpdus", "trunk.t.a.held_most", "trunk.t.a.six.stalled_s", "trunk.t.a.ch36.share"] {
        assert!(find(name).is_some(), "{name}");
    }
    assert_eq!(find("trunk.t.b.mpdus"), None, "the other direction has carried nothing");
    let expected =
        "[expect]\n\"trunk.t.a.six.share\" = { min = \"40 %\" }\n\"trunk.t.a.retried\" = { max = \"1 %\" }\n";
    assert_eq!(spec(&(devices("", "", "") + expected)).multi_link_trunks().count(), 1);
}
