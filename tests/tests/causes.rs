//! Scenarios built to be limited by one thing each: the line of the flow names it first, with its place.

use airbraid_sim::limits::{Limit, first};
use airbraid_sim::{RunOptions, run};
use airbraid_tests::spec;

/// Runs a scenario of this many seconds whose flow is `f`, and gives what is named first.
fn named(seconds: u32, body: &str) -> Limit {
    let text = format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"What limits f?\"\n{body}\n[run]\nduration = \"{seconds} s\"\n"
    );
    let spec = spec(&text);
    let output = run(&spec, 1, RunOptions { limits: true, ..RunOptions::default() }).unwrap();
    let flow = output.result.flows.iter().find(|flow| flow.name == "f").unwrap();
    first(&[flow.limits.as_ref().unwrap()]).unwrap()
}

fn holds(seconds: u32, body: &str, cause: &str, place: &str) {
    let limit = named(seconds, body);
    assert_eq!((limit.cause, limit.place.as_str()), (cause, place), "{limit:?}\n{body}");
}

fn wired(name: &str) -> String {
    format!("[[node]]\nname = \"{name}\"\n")
}

fn radio(name: &str, metres: u32, channels: &str) -> String {
    format!("[[node]]\nname = \"{name}\"\nposition = [\"{metres} m\", \"0 m\"]\nradios = {channels}\n")
}

fn air(rate: &str, more: &str) -> String {
    format!("[radio]\nstandard = \"802.11b\"\nrate = \"{rate} Mbit/s\"\n{more}\n")
}

fn link(between: [&str; 2], rate: &str, delay: &str, more: &str) -> String {
    let [a, b] = between;
    format!(
        "[[link]]\nname = \"{a}{b}\"\nbetween = [\"{a}\", \"{b}\"]\nrate = \"{rate} Mbit/s\"\n\
         delay = \"{delay} ms\"\n{more}\n"
    )
}

fn tcp(name: &str, buffer: &str, more: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ tcp = \"sack\", receive_buffer = \"{buffer}\" }}\n{more}\n"
    )
}

fn udp(name: &str, from: &str, source: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"b\"\n\
         transport = {{ udp = \"1200 byte\" }}\nsource = {source}\n"
    )
}

/// Two hosts on a link.
fn on_link(rate: &str, delay: &str, more: &str, flow: &str) -> String {
    wired("a") + &wired("b") + &link(["a", "b"], rate, delay, more) + flow
}

/// Two stations 100 m apart.
fn on_air(rate: &str, more: &str, flow: &str) -> String {
    air(rate, more) + &radio("a", 0, "[1]") + &radio("b", 100, "[1]") + flow
}

const LINK: &str = "link ab, a to b";

#[test]
fn a_small_window_on_a_long_link_is_named() {
    holds(20, &on_link("50", "50", "", &tcp("f", "65535 byte", "")), "receive_window", "");
}

#[test]
fn a_small_send_buffer_on_a_long_link_is_named() {
    let flow = tcp("f", "4 MiB", "").replace(" }\n", ", send_buffer = \"64 KiB\" }\n");
    holds(20, &on_link("50", "50", "", &flow), "send_buffer", "");
}

#[test]
fn a_slow_link_is_named() {
    holds(20, &on_link("5", "10", "queue = 100", &tcp("f", "256 KiB", "")), "rate", LINK);
}

#[test]
fn the_slower_of_two_links_is_named() {
    let way = wired("a") + &wired("m") + &wired("b") + &link(["a", "m"], "20", "5", "");
    let body = way + &link(["m", "b"], "3", "5", "queue = 100") + &tcp("f", "256 KiB", "");
    holds(20, &body, "rate", "link mb, m to b");
}

#[test]
fn a_source_that_has_little_to_send_is_named() {
    holds(20, &on_link("5", "10", "", &tcp("f", "65535 byte", "source = { rate = \"1 Mbit/s\" }")), "application", "");
    holds(20, &on_link("5", "10", "", &udp("f", "a", "{ rate = \"1 Mbit/s\" }")), "application", "");
}

#[test]
fn datagrams_that_exceed_a_link_name_the_link() {
    holds(20, &on_link("5", "10", "", &udp("f", "a", "{ rate = \"8 Mbit/s\" }")), "rate", LINK);
}

#[test]
fn a_link_that_loses_packets_is_named() {
    let flow = tcp("f", "1 MiB", "");
    holds(30, &on_link("20", "20", "forward = { loss = \"3 %\" }", &flow), "losses", LINK);
    holds(
        20,
        &on_link("50", "10", "forward = { loss = \"60 %\" }", &udp("f", "a", "{ rate = \"2 Mbit/s\" }")),
        "losses",
        LINK,
    );
}

#[test]
fn a_queue_that_is_too_short_for_the_round_trip_is_named() {
    holds(30, &on_link("20", "60", "queue = 3", &tcp("f", "4 MiB", "")), "queue", LINK);
}

#[test]
fn other_flows_on_a_link_are_named() {
    let flows: String = (0..3).map(|number| tcp(&format!("o{number}"), "1 MiB", "")).collect();
    holds(30, &on_link("10", "10", "queue = 100", &(tcp("f", "1 MiB", "") + &flows)), "other_flows", LINK);
}

#[test]
fn a_transfer_that_ends_before_its_window_has_grown_names_slow_start() {
    let flow = tcp("f", "4 MiB", "source = { file = \"400 kB\" }");
    holds(20, &on_link("50", "100", "queue = 1000", &flow), "slow_start", "");
}

#[test]
fn packets_out_of_order_are_named() {
    let link = "queue = 200\njitter = \"15 ms\"\nreorder = true";
    holds(30, &on_link("20", "20", link, &tcp("f", "1 MiB", "")), "reordering", "");
}

#[test]
fn a_slow_radio_is_named() {
    holds(10, &on_air("2", "", &tcp("f", "65535 byte", "")), "airtime", "a's radio");
}

#[test]
fn other_stations_are_named() {
    let others: String = (0..4)
        .map(|n| radio(&format!("o{n}"), 10 + 10 * n, "[1]") + &udp(&format!("g{n}"), &format!("o{n}"), "\"greedy\""))
        .collect();
    holds(10, &on_air("11", "", &(others + &tcp("f", "65535 byte", ""))), "other_flows", "a's radio");
}

#[test]
fn bit_errors_and_hidden_stations_are_retries() {
    holds(20, &on_air("11", "error = { ber = 8e-5 }", &tcp("f", "65535 byte", "")), "retries", "a's radio");
    let hidden = air("2", "carrier_sense_range = \"250 m\"") + &radio("a", 0, "[1]") + &radio("b", 200, "[1]");
    let body = hidden + &radio("c", 400, "[1]") + &udp("g", "c", "\"greedy\"") + &udp("f", "a", "\"greedy\"");
    holds(10, &body, "retries", "a's radio");
}

#[test]
fn a_radio_on_which_nothing_arrives_is_named() {
    let limit = named(10, &on_air("11", "error = { ber = 0.1 }", &tcp("f", "65535 byte", "")));
    assert_eq!((limit.cause, limit.place.as_str()), ("losses", "a's radio"));
    assert!(limit.detail.starts_with("retry limit"), "{limit:?}");
}

#[test]
fn a_slow_link_behind_a_radio_is_named() {
    let way = air("11", "") + &radio("a", 0, "[1]") + &radio("ap", 100, "[1]") + &wired("b");
    holds(20, &(way + &link(["ap", "b"], "2", "20", "") + &tcp("f", "256 KiB", "")), "rate", "link apb, ap to b");
}

#[test]
fn a_chain_names_its_medium() {
    let chain: String = (0..5).map(|n| radio(["a", "n1", "n2", "n3", "b"][n as usize], 200 * n, "[1]")).collect();
    let limit = named(20, &(air("2", "") + &chain + &tcp("f", "65535 byte", "")));
    assert_eq!(limit.cause, "airtime", "{limit:?}");
}

#[test]
fn three_radios_as_a_trunk_are_named_together() {
    let nodes = radio("a", 0, "[1, 5, 9]") + &radio("b", 100, "[1, 5, 9]");
    let body = air("2", "") + &nodes + "[[trunk]]\nname = \"t\"\nbetween = [\"a\", \"b\"]\n" + &tcp("f", "256 KiB", "");
    holds(10, &body, "airtime", "trunk t at a");
}

/// Two multi-link devices a metre apart, with a fast link on 5 GHz and this second one.
fn devices(second: &str, radio: &str, more: &str) -> String {
    let radio = format!(
        "[radio]\nstandard = \"802.11be\"\nband = \"5 GHz\"\nwidth = \"80 MHz\"\nmcs = 11\nqueue = 4000\n{radio}\n"
    );
    let radios = format!("[36, {{ name = \"second\", {second} }}]");
    let trunk = "[[trunk]]\nname = \"t\"\nover = \"mld\"\nbetween = [\"a\", \"b\"]\n";
    format!("{radio}{}{}{trunk}{more}", self::radio("a", 0, &radios), self::radio("b", 1, &radios))
}

const CLEAN: &str = "channel = 37, band = \"6 GHz\"";
const SLOW: &str = "channel = 1, band = \"2.4 GHz\", width = \"20 MHz\", mcs = 0";

fn goodput(body: &str) -> f64 {
    let text = format!("schema = 1\ntitle = \"t\"\nquestion = \"q\"\n{body}\n[run]\nduration = \"1 s\"\n");
    run(&spec(&text), 1, RunOptions::default()).unwrap().result.flows[0].goodput_bps
}

/// Everything that limits the first flow.
fn causes(seconds: u32, body: &str) -> Vec<Limit> {
    let text = format!("schema = 1\ntitle = \"t\"\nquestion = \"q\"\n{body}\n[run]\nduration = \"{seconds} s\"\n");
    let output = run(&spec(&text), 1, RunOptions { limits: true, ..RunOptions::default() }).unwrap();
    output.result.flows[0].limits.clone().unwrap().causes
}

#[test]
fn the_media_of_all_links_of_a_device_are_named_by_their_rates() {
    let flow = udp("f", "a", "\"greedy\"");
    let shares = |second: &str| {
        let causes = causes(1, &devices(second, "", &flow));
        assert!(causes.iter().all(|limit| limit.cause == "airtime"), "{causes:?}");
        ["radio ch36 of a", "radio second of a"]
            .map(|place| causes.iter().find(|limit| limit.place == place).map_or(0.0, |limit| limit.share))
    };
    let [first, second] = shares(CLEAN);
    assert!((first - 0.5).abs() < 0.01 && (second - 0.5).abs() < 0.01, "{first} {second}");
    let [first, second] = shares(SLOW);
    assert!(first > 0.97 && second > 0.0, "{first} {second}");
}

#[test]
fn a_window_that_waits_for_a_slow_link_is_named() {
    let flow = udp("f", "a", "\"greedy\"");
    // A longer one is divided among the links, and costs airtime by its short PPDUs alone.
    let short = devices(SLOW, "block_ack_window = 8", &flow);
    holds(1, &short, "block_ack_window", "radio ch36 of a");
    // It is what limits: a longer one gives more than half again.
    let [short, long] = [short, devices(SLOW, "", &flow)].map(|body| goodput(&body));
    assert!(long > 1.5 * short, "{long} and {short}");
    holds(1, &devices(SLOW, "", &flow), "airtime", "radio ch36 of a and 1 more");
}

#[test]
fn stations_on_one_link_of_a_device_are_named_with_the_link() {
    let old = "radio = { standard = \"802.11ax\", width = \"80 MHz\" }\n";
    let station = |n: u32| {
        let name = format!("o{n}");
        format!("{}{old}", radio(&name, 1 + n, "[36]")) + &udp(&format!("g{n}"), &name, "\"greedy\"")
    };
    let others: String = (1..6).map(station).collect();
    let flow = udp("f", "a", "\"greedy\"");
    let causes = causes(2, &devices(CLEAN, "eifs = false", &(flow + &others)));
    let of_others: Vec<&Limit> = causes.iter().filter(|limit| limit.cause == "other_flows").collect();
    assert!(
        matches!(&of_others[..], [Limit { place, share, .. }] if place == "radio ch36 of a" && *share > 0.3),
        "{causes:?}"
    );
}

#[test]
fn a_small_receive_window_over_devices_is_named() {
    let far = link(["b", "c"], "10000", "40", "queue = 1000");
    let flow = tcp("f", "256 KiB", "").replace("to = \"b\"", "to = \"c\"");
    holds(5, &devices(CLEAN, "", &(wired("c") + &far + &flow)), "receive_window", "");
}

#[test]
fn the_share_of_the_window_is_absent_where_no_device_is_on_the_way() {
    let has = |body: &str| {
        let text = format!("schema = 1\ntitle = \"t\"\nquestion = \"q\"\n{body}\n[run]\nduration = \"1 s\"\n");
        let output = run(&spec(&text), 1, RunOptions { limits: true, ..RunOptions::default() }).unwrap();
        airbraid_sim::metric::of(&output.result).iter().any(|(name, _)| name == "flow.f.limited_by_block_ack_window")
    };
    assert!(has(&devices(CLEAN, "", &udp("f", "a", "\"greedy\""))));
    assert!(!has(&on_air("11", "", &udp("f", "a", "\"greedy\""))));
}

/// Two links as one trunk.
fn bonded(rates: [&str; 2], flow: &str) -> String {
    let links: String = ["fibre", "lte"]
        .iter()
        .zip(rates)
        .map(|(name, rate)| link(["a", "b"], rate, "20", "").replace("name = \"ab\"", &format!("name = \"{name}\"")))
        .collect();
    let policy = "policy = { distributor = \"earliest_delivery\" }";
    let trunk = format!("[[trunk]]\nname = \"t\"\nover = \"links\"\nbetween = [\"a\", \"b\"]\n{policy}\n");
    wired("a") + &wired("b") + &links + &trunk + flow
}

#[test]
fn a_trunk_over_links_is_named_unless_the_window_is_too_small_for_it() {
    let large = tcp("f", "1 MiB", "").replace("\"sack\"", "\"cubic\", profile = \"linux\"");
    holds(20, &bonded(["8", "4"], &large), "rate", "trunk t at a");
    holds(20, &bonded(["20", "5"], &tcp("f", "65535 byte", "")), "receive_window", "");
}

#[test]
fn nodes_out_of_range_name_the_gap() {
    let body = air("11", "") + &radio("a", 0, "[1]") + &radio("b", 2000, "[1]") + &tcp("f", "65535 byte", "");
    for text in [
        body.clone(),
        format!("routing = \"aodv\"\n{body}"),
        body.replace("tcp = \"sack\", receive_buffer = \"65535 byte\"", "udp = \"1200 byte\""),
    ] {
        let limit = named(5, &text);
        assert_eq!(limit.cause, "route", "{text}");
        assert_eq!(limit.detail, "no path from a to b: nearest node b, 2000 m from a, range 250 m");
    }
}

#[test]
fn routes_that_form_a_circle_are_named() {
    let node = |name: &str, via: &str| wired(name) + &format!("routes = [{{ to = \"b\", via = \"{via}\" }}]\n");
    let links = link(["a", "r"], "5", "10", "") + &link(["r", "b"], "5", "10", "");
    let limit = named(5, &(node("a", "r") + &node("r", "a") + &wired("b") + &links + &tcp("f", "65535 byte", "")));
    assert_eq!((limit.cause, limit.detail.as_str()), ("route", "the routes form a circle"));
}

#[test]
fn a_link_that_is_switched_off_is_named() {
    let change = "[[at]]\ntime = \"2 s\"\nlink = \"ab\"\nstate = \"down\"\n";
    holds(20, &on_link("5", "10", "", &(tcp("f", "65535 byte", "") + change)), "down", LINK);
}

#[test]
fn slots_elsewhere_are_named() {
    let ap = |name: &str, at: &str, channel: u32| {
        format!(
            "[[node]]\nname = \"{name}\"\nposition = [{at}]\n\
             radios = [{{ name = \"air\", channel = {channel}, mac = \"access_point\" }}]\n"
        )
    };
    let station =
        "[[node]]\nname = \"b\"\nposition = [\"0 m\", \"0 m\"]\nradios = [{ name = \"air\", mac = \"slotted\" }]\n";
    let radio = "[radio]\nstandard = \"802.11a\"\nrate = \"24 Mbit/s\"\nqueue = 200\n";
    let slots = "[[slots]]\nname = \"s\"\nradio = \"b/air\"\naccess_points = [\"one/air\", \"two/air\"]\n\
                 duty = [\"1/4\", \"3/4\"]\nslot = \"12.5 ms\"\n";
    let nodes = wired("a") + station + &ap("one", "\"10 m\", \"0 m\"", 36) + &ap("two", "\"0 m\", \"10 m\"", 44);
    let links = link(["a", "one"], "100", "5", "queue = 1000") + &link(["a", "two"], "100", "5", "queue = 1000");
    let flow = tcp("f", "512 KiB", "via = \"one/air\"");
    holds(20, &(radio.to_owned() + &nodes + &links + slots + &flow), "slots", "one");
}

#[test]
fn the_shares_of_a_flow_add_up_to_one() {
    for body in [
        on_link("20", "20", "forward = { loss = \"1 %\" }", &tcp("f", "1 MiB", "")),
        devices(SLOW, "block_ack_window = 64", &udp("f", "a", "\"greedy\"")),
    ] {
        let text = format!("schema = 1\ntitle = \"t\"\nquestion = \"q\"\n{body}\n[run]\nduration = \"5 s\"\n");
        let output = run(&spec(&text), 1, RunOptions { limits: true, ..RunOptions::default() }).unwrap();
        let metrics = airbraid_sim::metric::of(&output.result);
        let shares = metrics.iter().filter(|(name, _)| name.starts_with("flow.f.limited_by_")).map(|(_, share)| share);
        let sum: f64 = shares.sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}\n{body}");
    }
}

#[test]
fn the_account_and_samples_change_nothing_in_a_run() {
    let spec = spec(&format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n{}\n[run]\nduration = \"5 s\"\n",
        on_air(
            "11",
            "error = { ber = 1e-5 }",
            &(tcp("f", "1 MiB", "") + &udp("g", "b", "\"greedy\"").replace("to = \"b\"", "to = \"a\""))
        )
    ));
    let facts = |limits: bool, courses: bool| {
        let output = run(&spec, 1, RunOptions { limits, courses, ..RunOptions::default() }).unwrap();
        assert_eq!(output.courses.is_some(), courses);
        let mut result = output.result;
        for flow in &mut result.flows {
            (flow.limited_by, flow.limits) = (None, None);
        }
        serde_json::to_string(&result).unwrap()
    };
    let bare = facts(false, false);
    assert_eq!(bare, facts(true, false));
    assert_eq!(bare, facts(false, true));
}
