//! Mistakes that newcomers make: the message says what to write instead.

use super::*;

/// Asserts that what replaces `from` in the base is answered by `remedy`, in its first error.
fn mends(from: &str, to: &str, remedy: &str) {
    assert!(BASE.contains(from), "{from}");
    let told = errors(&BASE.replacen(from, to, 1));
    let first = told.lines().next().unwrap_or_default();
    assert!(told.lines().any(|line| line.contains(remedy)), "{to}\n  is not mended by {remedy}, but by\n{first}");
}

#[test]
fn a_word_of_another_program_is_told_as_ours() {
    const FLOW: &str = "[[flow]]\n";
    const LINK: &str = "rate = \"20 Mbit/s\"";
    const RADIO: &str = "rate = \"11 Mbit/s\"";
    const RUN: &str = "duration = \"10 s\"\n";
    let cases = [
        (FLOW, "rate = \"1 Mbit/s\"", "write source = { rate = \"1 Mbit/s\" }"),
        (FLOW, "size = \"1 MB\"", "write source = { file = \"10 MB\" }"),
        (FLOW, "tcp = \"cubic\"", "write transport = { tcp = \"newreno\" }"),
        (FLOW, "udp = \"100 byte\"", "write transport = { udp = \"1472 byte\" }"),
        (FLOW, "src = \"a\"", "it is called `from` here"),
        (FLOW, "destination = \"b\"", "it is called `to` here"),
        ("[[node]]\n", "channel = 1", "write radios = [1], a list of channels"),
        ("[[node]]\n", "x = 1", "write position = [\"100 m\", \"0 m\"], east and north"),
        (RADIO, "ber = 1e-5", "write error = { ber = 1e-5 }"),
        (RADIO, "loss = \"1 %\"", "a [[link]] has loss"),
        (RADIO, "range = \"100 m\"", "reception_range, carrier_sense_range and interference_range"),
        (RADIO, "rts = true", "write rts_threshold = \"0 byte\""),
        (LINK, "bandwidth = \"1 Mbit/s\"", "it is called `rate` here"),
        (LINK, "latency = \"1 ms\"", "it is called `delay` here"),
        (LINK, "from = \"a\"", "write between = [\"a\", \"b\"]"),
        ("[[trunk]]\n", "distributor = \"srr\"", "write `distributor` below [trunk.policy]"),
        (RUN, "runs = 5", "it is called `replications` here"),
        ("title = \"base\"\n", "nodes = 2", "write [[node]] for each of them"),
    ];
    for (below, line, remedy) in cases {
        mends(below, &format!("{}\n{line}\n", below.trim_end()), remedy);
    }
    let at = errors(&format!("{BASE}[[at]]\ntime = \"1 s\"\nlink = \"wan\"\ndown = true\n"));
    assert!(at.contains("write state = \"down\""), "{at}");
}

#[test]
fn a_source_or_a_transport_in_short_is_told_in_full() {
    let flow = |line: &str| errors(&format!("{BASE}{line}\n"));
    let cases = [
        ("source = \"1 Mbit/s\"", "a rate alone is no source", "write { rate = \"1 Mbit/s\" }"),
        ("source = \"10 MB\"", "a size alone is no source", "write { file = \"10 MB\" }"),
        ("source = \"much\"", "this source is not known", "\"greedy\", { rate"),
        ("transport = \"CUBIC\"", "this is a kind of TCP", "write { tcp = \"cubic\" }"),
    ];
    for (line, what, remedy) in cases {
        let told = flow(line);
        assert!(told.contains(what) && told.contains(remedy), "{told}");
    }
}

#[test]
fn brackets_and_quotes_of_another_kind_are_told() {
    let single = BASE.replace("[[node]]", "[node]");
    assert!(
        errors(&single).contains("duplicate key at `node`: write [[node]] for each of them"),
        "{}",
        errors(&single)
    );
    let twice = errors(&format!("{BASE}[run]\nseed = 1\n"));
    assert!(twice.contains("write [run] once, with all its keys below it"), "{twice}");
    mends("rate = \"11 Mbit/s\"", "rate = \"11 Mbit/s\"\nrate = \"1 Mbit/s\"", "write `rate` once in a table");
    mends("[run]", "[[run]]", "write [run], once");
    mends("rate = \"11 Mbit/s\"", "rate = \u{201c}11 Mbit/s\u{201d}", "word processor's: write straight ones");
}

#[test]
fn what_is_wrong_is_told_once() {
    let links = "[[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"a\", \"b\"]\nmembers = [\"wam\"]\n";
    let told = errors(&format!("{BASE}{links}"));
    assert!(told.contains("no link is called `wam`") && !told.contains("has 1 to 16 members"), "{told}");
    let none = "[[node]]\nname = \"c\"\n[[node]]\nname = \"d\"\n[[trunk]]\nname = \"t\"\nbetween = [\"c\", \"d\"]\n";
    let told = errors(&format!("{BASE}{none}"));
    assert!(told.contains("write over = \"links\" for a trunk over [[link]]s"), "{told}");
    let told = errors(&format!("{BASE}[sweep]\n\"flow.transport\" = [\"tcp\", \"udp\"]\n"));
    assert!(told.contains("a path names it, as in flow.f.KEY"), "{told}");
}
