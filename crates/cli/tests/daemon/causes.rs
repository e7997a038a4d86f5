//! Causes of a failed connection: at the end that can know it, in its log, its status, as a word and with a remedy.

use crate::addresses::socket_in;
use crate::names::Etc;
use crate::net::{Keys, Net, airbraid, text};
use crate::turns::can_run;
use serde_json::Value;

/// A replacement in a file: the wrong text, and the right one.
type Wrong<'a> = (&'a str, &'a str);

/// Two hosts with two links; near goes to far. Words of either file are replaced.
fn pair(test: &str, near: &[Wrong<'_>], far: &[Wrong<'_>]) -> (Net, [Keys; 2]) {
    let net = Net::new(test, &["near", "far"]);
    let (a, b) = (Keys::new(), Keys::new());
    for link in 0..2 {
        let addresses = [format!("10.9.{link}.1/24"), format!("10.9.{link}.2/24")];
        net.link(&format!("l{link}"), ["near", "far"], [&addresses[0], &addresses[1]]);
    }
    let mut ours = format!(
        "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l0\"\n[[uplink]]\nname = \"l1\"\n\
         [[peer]]\nname = \"other\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.2/32\"]\n\
         endpoint = {{ l0 = \"10.9.0.2:5182\", l1 = \"10.9.1.2:5182\" }}\n",
        b.public
    );
    let mut theirs = format!(
        "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"other\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\"]\n",
        a.public
    );
    for (text, wrong) in [(&mut ours, near), (&mut theirs, far)] {
        for (before, after) in wrong {
            assert!(text.contains(before), "{text}");
            *text = text.replace(before, after);
        }
    }
    net.site("near", &a, &ours);
    net.site("far", &b, &theirs);
    (net, [a, b])
}

/// Waits until a host's daemon names this cause for its peer; returns its status.
fn wait_cause(net: &Net, host: &str, cause: &str) -> Value {
    net.wait(host, cause, |status| status["peers"][0]["cause"] == cause)
}

/// The log has one line with these words at INFO, and `status` prints them.
fn is_told(net: &Net, host: &str, cause: &str, words: &str) {
    let is_line = |line: &&str| line.contains(" INFO ") && line.contains(cause) && line.contains(words);
    let log = || std::fs::read_to_string(net.folder.join(format!("{host}.log"))).unwrap();
    // It is logged at the next look.
    net.wait(host, "it is logged", |_| log().lines().any(|line| is_line(&line)));
    assert_eq!(log().lines().filter(is_line).count(), 1, "`{cause}` and `{words}`, once: {}", log());
    let shown = text(&airbraid(&["status", &net.daemon(host)]).stdout);
    assert!(shown.contains(cause) && shown.contains(words), "{shown}");
}

#[test]
fn nobody_listens_there() {
    if !can_run("nobody_listens_there") {
        return;
    }
    let (mut net, _) = pair("closed", &[], &[]);
    net.up("near");
    let status = wait_cause(&net, "near", "port-closed");
    assert!(status["peers"][0]["remedy"].as_str().unwrap().contains("nobody listens on its UDP port 5182"), "{status}");
    is_told(&net, "near", "port-closed", "nobody listens on its UDP port 5182");
    // It goes on trying, and the cause is gone when it has succeeded.
    net.up("far");
    let status = net.wait_members("near", 2);
    assert_eq!(status["peers"][0]["cause"], Value::Null);
    assert!(status["peers"][0]["answered_s"].as_f64().is_some_and(|took| took > 0.0), "{status}");
}

#[test]
fn there_is_no_route() {
    if !can_run("there_is_no_route") {
        return;
    }
    let elsewhere = [("10.9.0.2:5182", "192.0.2.9:5182"), ("10.9.1.2:5182", "192.0.2.9:5182")];
    let (mut net, _) = pair("route", &elsewhere, &[]);
    net.up("near");
    wait_cause(&net, "near", "no-route");
    is_told(&net, "near", "no-route", "there is no route to 192.0.2.9");
}

/// One uplink works, and the other, a stick without a default route, does not: it gives the reason, and not only that
/// it probes.
#[test]
fn a_link_without_a_route_says_so() {
    if !can_run("a_link_without_a_route_says_so") {
        return;
    }
    let (mut net, _) = pair("stick", &[("l1 = \"10.9.1.2:5182\"", "l1 = \"192.0.2.9:5182\"")], &[]);
    net.up("far");
    net.up("near");
    let status = net.wait("near", "the link says why", |status| {
        let members = status["peers"][0]["members"].as_array().unwrap();
        members.iter().any(|member| member["uplink"] == "l1" && member["cause"] == "no-route")
    });
    assert_eq!(status["peers"][0]["up"], true);
    assert_eq!(status["peers"][0]["cause"], Value::Null);
    is_told(&net, "near", "no-route", "there is no route to 192.0.2.9 over l1");
}

#[test]
fn the_other_end_is_silent() {
    if !can_run("the_other_end_is_silent") {
        return;
    }
    let (mut net, [a, _]) = pair("mute", &[], &[]);
    let _deaf = socket_in(&net, "far", "0.0.0.0:5182");
    net.up("near");
    wait_cause(&net, "near", "no-answer");
    is_told(&net, "near", "no-answer", &format!("is ours, {}, in a [[peer]] there", a.public));
}

/// There is a route, to a router that has none.
#[test]
fn a_router_refuses() {
    if !can_run("a_router_refuses") {
        return;
    }
    let (mut net, _) =
        pair("refuses", &[("10.9.0.2:5182", "192.0.2.77:5182"), ("10.9.1.2:5182", "192.0.2.77:5182")], &[]);
    net.exec("far", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    net.ip("far", "route add unreachable 192.0.2.77");
    net.ip("near", "route add 192.0.2.77 via 10.9.0.2 dev l0");
    net.ip("near", "route add 192.0.2.77 via 10.9.1.2 dev l1 metric 10");
    net.up("near");
    wait_cause(&net, "near", "unreachable");
    is_told(&net, "near", "unreachable", ".77:5182 cannot be reached");
}

/// Near has a wrong key for far: far cannot tell who it is, only that there is a mistake.
#[test]
fn the_wrong_key_at_this_end() {
    if !can_run("the_wrong_key_at_this_end") {
        return;
    }
    let wrong = Keys::new().public;
    let (mut net, [_, b]) = pair("mistaken", &[], &[]);
    let file = net.file("near");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, right.replace(&b.public, &wrong)).unwrap();
    net.up("far");
    net.up("near");
    let status = net.wait("far", "it says that somebody is mistaken", |status| {
        status["refused_callers"][0]["cause"] == "calls-another-key"
    });
    assert_eq!(status["refused_callers"][0]["public_key"], Value::Null);
    net.wait("near", "it knows that nobody answers", |status| status["peers"][0]["cause"] == "no-answer");
    let log = std::fs::read_to_string(net.folder.join("far.log")).unwrap();
    assert!(log.contains("somebody at 10.9.") && log.contains("calls another public key than ours"), "{log}");
    let shown = text(&airbraid(&["status", &net.daemon("far")]).stdout);
    assert!(shown.contains(&format!("needs `public_key = \"{}\"`", b.public)), "{shown}");
    let shown = text(&airbraid(&["status", &net.daemon("near")]).stdout);
    assert!(shown.contains("is `public_key` its own"), "{shown}");
}

/// Far has no peer with near's key: it can name it.
#[test]
fn the_wrong_key_at_the_other_end() {
    if !can_run("the_wrong_key_at_the_other_end") {
        return;
    }
    let (mut net, [a, _]) = pair("stranger", &[], &[]);
    let file = net.file("far");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, right.replace(&a.public, &Keys::new().public)).unwrap();
    net.up("far");
    net.up("near");
    let status =
        net.wait("far", "it names the stranger", |status| status["refused_callers"][0]["cause"] == "unknown-key");
    assert_eq!(status["refused_callers"][0]["public_key"], a.public.as_str());
    wait_cause(&net, "near", "no-answer");
    let log = std::fs::read_to_string(net.folder.join("far.log")).unwrap();
    let words = format!("a stranger with key {} at 10.9.", a.public);
    assert!(log.lines().any(|line| line.contains(" INFO ") && line.contains(&words)), "{log}");
    let shown = text(&airbraid(&["status", &net.daemon("far")]).stdout);
    assert!(shown.contains(&words), "{shown}");
}

#[test]
fn another_preshared_key() {
    if !can_run("another_preshared_key") {
        return;
    }
    let (mut net, _) = pair("secret", &[], &[]);
    let key = net.folder.join("far.psk");
    std::fs::write(&key, Keys::new().private).unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = net.file("far");
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{right}preshared_key = \"{}\"\n", key.display())).unwrap();
    net.up("far");
    net.up("near");
    wait_cause(&net, "near", "preshared-key");
    is_told(&net, "near", "preshared-key", "`preshared_key` must be the same at both ends");
    wait_cause(&net, "far", "not-confirmed");
    is_told(&net, "far", "not-confirmed", "`preshared_key` differs at the two ends");
}

/// An interface that is not there, one that is down, one without an address; a peer that comes to us, and one whose
/// name is unknown.
#[test]
fn what_is_missing_here_is_told() {
    if !can_run("what_is_missing_here_is_told") {
        return;
    }
    let uplinks = "[[uplink]]\nname = \"lte\"\ndevice = \"wwan7\"\n[[uplink]]\nname = \"l0\"\n";
    let place = ("endpoint = { l0 = \"10.9.0.2:5182\", l1 = \"10.9.1.2:5182\" }", "endpoint = \"nobody.invalid:5182\"");
    let (mut net, _) = pair("missing", &[("[[uplink]]\nname = \"l0\"\n", uplinks), place], &[]);
    let _etc = Etc::of(&net, "near");
    net.ip("near", "link set l0 down");
    net.ip("near", "addr flush dev l1");
    let check =
        net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "up", "--check", &net.file("near").display().to_string()]);
    let said = text(&check.stderr);
    assert!(check.status.success(), "{said}");
    assert!(said.contains("uplink lte: there is no interface `wwan7` now, but l0, l1"), "{said}");
    assert!(said.contains("`nobody.invalid:5182` cannot be looked up now"), "{said}");
    net.up("near");
    let status = net.wait("near", "all is told", |status| {
        let causes: Vec<&Value> = status["uplinks"].as_array().unwrap().iter().map(|uplink| &uplink["cause"]).collect();
        causes == ["no-device", "device-down", "no-address"]
    });
    assert!(status["uplinks"][0]["remedy"].as_str().unwrap().contains("there is no interface wwan7"), "{status}");
    is_told(&net, "near", "no-device", "there is no interface wwan7");
    is_told(&net, "near", "device-down", "`ip link set l0 up`");
    is_told(&net, "near", "no-address", "l1 has no address");
    wait_cause(&net, "near", "no-uplink");
    net.ip("near", "addr add 10.9.1.1/24 dev l1");
    wait_cause(&net, "near", "name-not-found");
    net.up("far");
    wait_cause(&net, "far", "waits-to-be-called");
}

/// `up` returns when a peer has answered, with links and times; or it gives the reason why none has, and that it goes
/// on.
#[test]
fn up_says_what_came_of_it() {
    if !can_run("up_says_what_came_of_it") {
        return;
    }
    let (mut net, _) = pair("says", &[], &[]);
    let up = |net: &Net, more: &[&str]| {
        let file = net.file("near").display().to_string();
        let done = net.exec("near", &[&[env!("CARGO_BIN_EXE_airbraid"), "up", &file], more].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let down = |net: &Net| assert!(airbraid(&["down", &net.daemon("near")]).status.success());
    let said = up(&net, &["--wait", "3"]);
    assert!(said.starts_with("other has not answered, and the daemon goes on trying: 10.9."), "{said}");
    assert!(said.contains("nobody listens on its UDP port 5182"), "{said}");
    down(&net);
    assert_eq!(up(&net, &["--no-wait"]), "");
    down(&net);
    net.up("far");
    let said = up(&net, &["--wait", "20"]);
    assert!(said.starts_with("other answered over l0, l1 in ") && said.ends_with("ms\n"), "{said}");
    // The other end has one socket for all, and calls each link as the end does whose it is.
    let status = net.wait("far", "the links have names", |status| {
        let members = status["peers"][0]["members"].as_array().unwrap();
        let names: Vec<&str> = members.iter().filter_map(|member| member["name"].as_str()).collect();
        names == ["l0", "l1"]
    });
    assert_eq!(status["peers"][0]["members"][0]["uplink"], "any");
    let shown = text(&airbraid(&["status", &net.daemon("far")]).stdout);
    assert!(shown.lines().any(|line| line.trim_start().starts_with("l0 ")), "{shown}");
    down(&net);
}
