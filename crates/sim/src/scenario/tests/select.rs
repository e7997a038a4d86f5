//! Interface selection, rate control and a measured channel: readings, and refusals with their reasons.

use super::{errors, spec};
use crate::phy::PathLoss;
use crate::scenario::spec::{DeliveryLoss, Mac};
use airbraid_engine::converge::select::{Measure, MilliDb, Spread};
use airbraid_mac::rate_control::RateControl;
use airbraid_units::{Bytes, Duration, Metres};

fn text(radio: &str, select: &str) -> String {
    format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"?\"\n[run]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11a\"\n{radio}\n\
         [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\nradios = [36, {{ channel = 1, standard = \"802.11b\" }}]\n\
         [[node]]\nname = \"b\"\nposition = [\"9 m\", \"0 m\"]\nradios = [36, {{ channel = 1, standard = \"802.11b\" }}]\n\
         [[trunk]]\nname = \"ucl\"\nbetween = [\"a\", \"b\"]\n{select}\n"
    )
}

#[test]
fn selection_has_the_papers_defaults_and_takes_what_is_said() {
    assert_eq!(spec(&text("", "")).trunks[0].radios().unwrap().select, None);
    let select = spec(&text("", "select = { measure = \"snr\" }")).trunks[0].radios().unwrap().select.unwrap();
    assert_eq!(select.thresholds, [MilliDb(25_000); 2]);
    assert_eq!((select.policy.measure, select.policy.spread), (Measure::SnrThreshold, Spread::Choose));
    assert_eq!((select.policy.weight, select.is_failing_over, select.overhead), (100, true, Bytes::ZERO));
    let said = "select = { measure = \"ett\", spread = { within = 2.5 }, threshold = \"-3.5 dB\", seal = true }";
    let select = spec(&text("", said)).trunks[0].radios().unwrap().select.unwrap();
    assert_eq!(
        (select.policy.measure, select.policy.spread),
        (Measure::ExpectedTime, Spread::Stripe { within: 2_500 })
    );
    assert_eq!((select.thresholds[1], select.overhead), (MilliDb(-3_500), Bytes::new(28)));
    // An empty table is a selection, too.
    assert!(spec(&text("", "select = {}")).trunks[0].radios().unwrap().select.is_some());
}

/// A member that sends an MPDU again without limit never says that it failed.
#[test]
fn selection_over_block_acknowledgements_needs_radios_that_give_up() {
    let ax = |radio: &str, table: &str| {
        let radio = format!("{radio}\nerror = \"sinr\"");
        let select = format!("select = {table}");
        text(&radio, &select).replace("802.11a\"", "802.11ax\"").replace(", standard = \"802.11b\"", "")
    };
    let limited = spec(&ax("block_ack_retry_limit = 20", "{ measure = \"ett\" }"));
    assert!(limited.trunks[0].radios().unwrap().select.unwrap().is_failing_over);
    assert!(spec(&ax("ampdu = \"off\"", "{}")).trunks[0].radios().unwrap().select.is_some());
    assert!(!spec(&ax("", "{ fail_over = false }")).trunks[0].radios().unwrap().select.unwrap().is_failing_over);
    let refused = errors(&ax("", "{}"));
    assert!(refused.contains("radio `a/ch36` never gives back a packet"), "{refused}");
    assert!(refused.contains("block_ack_retry_limit"), "{refused}");
    // The same holds of packets that go by another member.
    let resends = |radio: &str| {
        text(radio, "policy = { resequencer = { method = \"fifo\", resends = 2 } }")
            .replace("802.11a\"", "802.11ax\"")
            .replace(", standard = \"802.11b\"", "")
    };
    assert!(errors(&resends("")).contains("radio `a/ch36` never gives back a packet"), "{}", errors(&resends("")));
    assert_eq!(errors(&resends("block_ack_retry_limit = 4")), "no error");
    let unused = text("", "policy = { resequencer = { resends = 2 } }");
    assert!(super::plan(&unused).cells.len() == 1, "read whichever method is chosen, as its neighbours");
}

#[test]
fn a_policy_that_a_choice_never_uses_is_noted() {
    let notes = |table: &str| {
        let said = format!("select = {table}\npolicy = {{ distributor = \"srr\" }}");
        super::plan(&text("queue = 100", &said)).warnings.iter().any(|w| w.contains("[trunk.policy] changes nothing"))
    };
    assert!(notes("{}"));
    assert!(!notes("{ spread = \"all\" }"));
    assert!(!super::plan(&text("", "select = {}")).warnings.iter().any(|w| w.contains("[trunk.policy]")));
}

#[test]
fn a_radio_of_another_standard_inherits_neither_rate_control_nor_bursts() {
    let spec = spec(&text("rate_control = { method = \"periodic\", period = \"100 ms\" }\nburst = 2", ""));
    let dcf = |radio: usize| match &spec.nodes[0].radios[radio].mac {
        Mac::Dcf(dcf) => *dcf,
        other => panic!("{other:?}"),
    };
    assert_eq!(dcf(0).rate_control, RateControl::Periodic { period: Duration::from_millis(100) });
    assert_eq!((dcf(0).burst, dcf(0).basic_rates), (2, 0b0001_0101));
    assert_eq!((dcf(1).rate_control, dcf(1).burst, dcf(1).basic_rates), (RateControl::Fixed, 1, 1));
}

#[test]
fn a_channel_is_read_as_it_was_measured() {
    let radio = "path_loss = { model = \"measured\", points = [[\"5 m\", \"80 dB\"], [\"15 m\", \"90 dB\"]] }\n\
                 shadowing = { deviation = \"2 dB\" }\n\
                 delivery_loss = { by_distance = [[\"5 m\", \"1 %\", 1], [\"15 m\", \"4 %\", 5]] }";
    let spec = spec(&text(radio, ""));
    let radio = &spec.nodes[1].radios[0];
    let PathLoss::Measured(loss) = radio.radio.path_loss else { panic!("not measured") };
    assert_eq!(loss.at(Metres(10.0)), 85.0);
    let shadowing = radio.radio.shadowing.unwrap();
    assert_eq!((shadowing.deviation.at(Metres(7.0)), shadowing.time), (2.0, Duration::from_millis(500)));
    let DeliveryLoss::Wear(wear) = &radio.delivery_loss else { panic!("no losses by distance") };
    assert_eq!((wear.share.at(Metres(10.0)), wear.burst.at(Metres(10.0))), (0.025, 3.0));
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let radio = |line: &str| errors(&text(line, ""));
    let select = |table: &str| errors(&text("", &format!("select = {table}")));
    let cases = [
        (radio("rate_control = \"onoe\""), "`onoe` is not known here"),
        (radio("rate_control = { method = \"periodic\", period = \"0 s\" }"), "`period` must last longer"),
        (radio("burst = 0"), "a burst of 0 frames"),
        (radio("path_loss = \"measured\""), "measured needs its points"),
        (
            radio("path_loss = { model = \"measured\", points = [[\"5 m\", \"80 dB\"], [\"9 m\", \"70 dB\"]] }"),
            "does not rise",
        ),
        (
            radio("path_loss = { model = \"measured\", points = [[\"9 m\", \"80 dB\"], [\"5 m\", \"90 dB\"]] }"),
            "no curve",
        ),
        (radio("shadowing = \"some\""), "allowed: \"none\""),
        (radio("shadowing = { deviation = \"99 dB\" }"), "no path varies so"),
        (radio("delivery_loss = { by_distance = [[\"5 m\", \"1 %\", 0.5]] }"), "one packet at least"),
        (radio("delivery_loss = { by_distance = [[\"5 m\", \"1 %\"]] }"), "a distance, a share and a length"),
        (select("{ measure = \"luck\" }"), "`luck` is not known here"),
        (select("{ spread = \"both\" }"), "allowed: \"choose\", \"all\", { within = 2.5 }"),
        (select("{ spread = { within = 0.5 } }"), "times the best is none"),
        (select("{ beacon = \"0 s\" }"), "`beacon` must be above zero"),
        (select("{ beacon = \"2 s\" }"), "a beacon each 2 s, and a member without any for 1 s is dead"),
        (select("{ silence = \"100 ms\" }"), "make `silence` longer than `beacon`"),
        (select("{ weight = 0 }"), "never learned"),
        (select("{ weight = 0.0004 }"), "never learned"),
        (select("{ threshold = \"25\" }"), "the unit is missing"),
        (select("{ treshold = \"25 dB\" }"), "did you mean `threshold`"),
    ];
    for (said, reason) in cases {
        assert!(said.contains(reason), "{reason}\n  is not in\n{said}");
    }
    let other = text("mac = \"mcmac\"", "select = {}").replace(", { channel = 1, standard = \"802.11b\" }", "");
    assert!(errors(&other).contains("it is told by DCF"), "{}", errors(&other));
    let burst = text("mac = \"mcmac\"\nburst = 2", "");
    assert!(errors(&burst).contains("of DCF alone"), "{}", errors(&burst));
}
