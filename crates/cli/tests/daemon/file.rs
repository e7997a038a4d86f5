//! The daemon's file: errors are reported with line, column and remedy, before anything is made. No root is needed.

use crate::net::{airbraid, text};
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";
const PUBLIC: &str = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";

/// A file that is fine, in a folder with a key.
fn fine() -> String {
    format!(
        "schema = 1\n\n[interface]\naddress = [\"10.77.0.1/24\", \"fd77::1/64\"]\nprivate_key = \"site.key\"\nlisten = 5182\nmtu = \"auto\"\n\
         dns = [\"10.77.0.2\"]\nmetrics = \"127.0.0.1:9518\"\n\n[policy]\nqueue = 200\n\n[[uplink]]\nname = \"dsl\"\ndevice = \"lo\"\n\
         tier = 1\nquota = \"50 GB\"\nrate = \"20 Mbit/s\"\nkeepalive = \"15 s\"\n\n[[uplink]]\nname = \"lte\"\nbackup = true\n\n[[peer]]\nname = \"hub\"\n\
         public_key = \"{PUBLIC}\"\nendpoint = {{ dsl = \"127.0.0.1:5182\", lte = \"[::1]:5182\" }}\nallowed = [\"0.0.0.0/0\", \"fd77::/64\"]\n"
    )
}

/// The result of `up --check` for a file: its status, and its output.
fn check(folder: &std::path::Path, text_of_file: &str) -> (Option<i32>, String) {
    let file = folder.join("site.toml");
    std::fs::write(&file, text_of_file).unwrap();
    let done = airbraid(&["up", "--check", &file.display().to_string()]);
    (done.status.code(), text(&done.stdout) + &text(&done.stderr))
}

#[test]
fn every_refusal_says_where_what_and_what_instead() {
    let folder = std::env::temp_dir().join(format!("airbraid-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let key = folder.join("site.key");
    std::fs::write(&key, KEY).unwrap();
    let mode = |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    let (status, said) = check(&folder, &fine());
    // That an interface is not there now is no mistake of the file's.
    let (is_fine, is_told) =
        (said.contains("site.toml: fine\n"), said.contains("uplink lte: there is no interface `lte` now"));
    assert_eq!((status, is_fine, is_told), (Some(0), true, true), "{said}");

    // What is replaced, by what, where it is found, what is said.
    let cases = [
        ("schema = 1", "schema = 2", "1:10", "write a number from 0 to 1"),
        ("listen = 5182", "lisen = 5182", "6:1", "unknown key `lisen` in `interface`"),
        ("listen = 5182", "listen = 70000", "6:10", "write a number from 0 to 65535"),
        ("listen = 5182", "port = 5182", "6:1", "unknown key `port`"),
        ("\"10.77.0.1/24\"", "\"10.77.0.1/33\"", "4:11", "`/33` is no length of a prefix: 0 to 32"),
        ("address = [\"10.77.0.1/24\", \"fd77::1/64\"]", "address = []", "4:11", "it needs an address"),
        ("address = [\"10.77.0.1/24\", \"fd77::1/64\"]\n", "", "3:1", "`interface.address` is missing"),
        ("\"site.key\"", "\"no.key\"", "5:15", "no.key"),
        ("\"auto\"", "\"1400\"", "7:7", "the unit is missing"),
        ("\"auto\"", "\"100 byte\"", "7:7", "\"auto\", or 576 to 65535 byte"),
        ("mtu = \"auto\"", "offload = \"no\"", "7:11", "write true or false"),
        ("mtu = \"auto\"", "threads = 2", "7:11", "write true or false"),
        ("mtu = \"auto\"", "metrics_names = 1", "7:17", "write true or false"),
        ("mtu = \"auto\"", "page = \"192.0.2.1:9519\"", "7:8", "asks nobody for a password"),
        ("mtu = \"auto\"", "page = \"[::]:9519\"", "7:8", "ssh -L 9519:127.0.0.1:9519"),
        ("mtu = \"auto\"", "page = \"127.0.0.1:0\"", "7:8", "nobody would find this port"),
        ("mtu = \"auto\"", "table = 254", "7:9", "256 to 4294967279"),
        ("mtu = \"auto\"", "mark = 7", "7:8", "a multiple of 16"),
        ("tier = 1", "gateway = \"here\"", "17:11", "`here` is no address"),
        ("tier = 1", "gateway = [\"10.0.0.1\", \"10.0.0.2\"]", "17:11", "one of each family"),
        ("[\"10.77.0.2\"]", "[\"ten\"]", "8:7", "`ten` is no address"),
        ("\"127.0.0.1:9518\"", "\"127.0.0.1\"", "9:11", "no address with a port"),
        ("queue = 200", "queu = 200", "12:1", "unknown key `queu` in `policy`"),
        ("queue = 200", "member_queue = 2", "12:1", "`member_queue` belongs to a trunk over radios"),
        (
            "queue = 200",
            "srr = { quantum = \"3000 byte\" }",
            "12:1",
            "a trunk over links has distributor, queue, resequencer, tunnel",
        ),
        ("queue = 200", "jkm.window = 9", "12:1", "`jkm` belongs to a trunk over radios"),
        ("queue = 200", "distributor = \"srr\"", "12:15", "write \"earliest_delivery\", or leave it out"),
        (
            "queue = 200",
            "resequencer.method = \"fifo\"",
            "12:13",
            "`method` belongs to the resequencer of a trunk over radios",
        ),
        ("queue = 200", "resequencer.initial = \"1 s\"", "12:13", "has buffer, maximum, minimum, mode"),
        ("device = \"lo\"", "device = \"a name that is too long\"", "16:10", "1 to 15 characters"),
        ("tier = 1", "tier = 8", "17:8", "write a number from 0 to 7"),
        ("\"50 GB\"", "\"50 euros\"", "18:9", "euros"),
        ("\"20 Mbit/s\"", "\"20 Mbit\"", "19:8", "Mbit"),
        ("\"20 Mbit/s\"", "\"20 bit/s\"", "19:8", "at least 8 kbit/s"),
        ("\"15 s\"", "\"15 ms\"", "20:13", "at least 1 s"),
        ("name = \"lte\"", "name = \"dsl\"", "23:8", "two uplinks called `dsl`"),
        ("backup = true", "backup = \"yes\"", "24:10", "write true or false"),
        (PUBLIC, "AAAA", "28:14", "44 characters"),
        ("dsl = \"127", "dls = \"127", "29:12", "there is no uplink `dls` at"),
        ("127.0.0.1:5182", "127.0.0.1", "29:12", "has no port"),
        ("127.0.0.1:5182", "127.0.0.1:0", "29:12", "has no port"),
        ("127.0.0.1:5182", "127.0.0.300:5182", "29:12", "`127.0.0.300` is neither an address nor the name of a host"),
        ("127.0.0.1:5182", "hub..example:5182", "29:12", "neither an address nor the name of a host"),
        ("\"fd77::/64\"", "\"fd77::/640\"", "30:11", "0 to 128"),
        ("tier = 1", "quota_day = 29", "17:13", "write a number from 0 to 28"),
        ("tier = 1", "quota_day = 0", "17:13", "every month has these"),
        ("tier = 1", "hours = \"8 to 5\"", "17:9", "such as \"Mon-Fri 08:00-18:00\""),
        ("queue = 200", "queue = 200\n[gateway]\nlan = [\"air0\"]", "14:7", "air0 is the tunnel itself"),
        ("queue = 200", "queue = 200\n[gateway]\nipv6 = \"nat\"", "14:8", "masquerade, route, off"),
        ("queue = 200", "queue = 200\n[gateway]\nnat = true", "14:1", "unknown key `nat` in `gateway`"),
        ("queue = 200", "queue = 200\n[gateway]\nlan = [\"a\\\"b\"]", "14:7", "without blanks, quotes"),
        ("mtu = \"auto\"", "post_up = \"true\"", "7:11", "list"),
        (
            "endpoint =",
            "except = [\"fd77::/32\"]\nendpoint =",
            "29:10",
            "fd77::/32 is no part of a prefix in `allowed`",
        ),
        ("endpoint =", "until = \"tomorrow\"\nendpoint =", "29:9", "RFC 3339"),
        ("backup = true", "metered = \"yes\"", "24:11", "write true or false"),
        ("[[peer]]", "[[pear]]", "26:3", "unknown key `pear`"),
        ("schema = 1", "schema = 1\nlisten = 12 s", "2:", "TOML"),
    ];
    for (old, new, place, message) in cases {
        assert!(fine().contains(old), "{old}");
        let (status, said) = check(&folder, &fine().replacen(old, new, 1));
        assert_eq!(status, Some(2), "{new}: {said}");
        assert!(said.contains(&format!("site.toml:{place}")), "{new}: {place} is not in {said}");
        assert!(said.contains(message), "{new}: {message} is not in {said}");
    }
    let twice = fine() + &format!("[[peer]]\nname = \"two\"\npublic_key = \"{PUBLIC}\"\nallowed = [\"fd77::/64\"]\n");
    let (_, said) = check(&folder, &twice);
    assert!(said.contains(":33:14: two peers have the same key"), "{said}");
    assert!(said.contains(":34:11: fd77::/64 is behind two peers"), "{said}");
    introductions(&folder);
    services(&folder);
    mode(0o644);
    let (status, said) = check(&folder, &fine());
    assert_eq!(status, Some(2));
    assert!(said.contains("site.toml:5:15: others may read") && said.contains("chmod 600"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Services: the keys of one, at the end of the file; its name is on line 32.
fn services(folder: &std::path::Path) {
    let file = |keys: &str| fine() + &format!("[[service]]\nname = \"calls\"\n{keys}\n");
    for fine in [
        "dscp = \"ef\"\nonly = \"dsl\"",
        "dscp = [46, \"AF41\", 0]\nmetered = false",
        "port = 5060\nprotocol = \"udp\"\npeer = \"hub\"\nonly = [\"dsl\", \"a-link-of-the-peers\"]",
        "port = [\"10000-20000\", 22, \"23\"]\nnetwork = \"198.51.100.0/24\"\nonly = \"lte\"",
        "peer = \"hub\"\nmetered = false",
    ] {
        let (status, said) = check(folder, &file(fine));
        assert_eq!(status, Some(0), "{fine}: {said}");
    }
    for (wrong, place, message) in [
        ("only = \"dsl\"", "32:8", "this is all traffic"),
        ("port = 22", "32:8", "every uplink may carry it"),
        ("port = 22\nmetered = true", "32:8", "write metered = false"),
        ("port = 0\nonly = \"dsl\"", "33:8", "these are no ports"),
        ("port = 65536\nonly = \"dsl\"", "33:8", "write a number from 0 to 65535"),
        ("port = \"20-10\"\nonly = \"dsl\"", "33:8", "such as 5060, or \"10000-20000\""),
        ("port = [22, \"-\"]\nonly = \"dsl\"", "33:8", "these are no ports"),
        ("port = []\nonly = \"dsl\"", "33:8", "an empty list says nothing"),
        ("dscp = 64\nonly = \"dsl\"", "33:8", "write a number from 0 to 63"),
        ("dscp = \"EFF\"\nonly = \"dsl\"", "33:8", "`EFF` is no code point"),
        ("network = \"198.51.100.0/33\"\nonly = \"dsl\"", "33:11", "0 to 32"),
        ("protocol = \"icmp\"\nonly = \"dsl\"", "33:12", "any, tcp, udp"),
        ("peer = \"hob\"\nonly = \"dsl\"", "33:8", "there is no peer `hob`"),
        ("port = 22\nonly = [\"a b\"]", "34:8", "this cannot be a name"),
        ("port = 22\nonly = \"dsl\"\nmax = 3", "35:1", "unknown key `max`"),
        ("port = 22\nonly = \"dsl\"\n[[service]]\nname = \"calls\"\nport = 1\nonly = \"dsl\"", "36:8", "two services"),
    ] {
        let (status, said) = check(folder, &file(wrong));
        assert_eq!(status, Some(2), "{wrong}: {said}");
        assert!(said.contains(&format!("site.toml:{place}")) && said.contains(message), "{wrong}: {said}");
    }
    // Nobody comes to this end, so no link has another name than its uplinks'.
    let alone = |only: &str| file(&format!("port = 22\nonly = \"{only}\"")).replacen("listen = 5182\n", "", 1);
    assert_eq!(check(folder, &alone("lte")).0, Some(0));
    let (status, said) = check(folder, &alone("eth9"));
    assert_eq!(status, Some(2));
    assert!(said.contains(":33:8: there is no uplink `eth9`") && said.contains("allowed: dsl, lte"), "{said}");
    let many: Vec<String> =
        (1..17).map(|at| format!("[[service]]\nname = \"s{at}\"\nport = {at}\nonly = \"dsl\"\n")).collect();
    assert_eq!(check(folder, &(fine() + &many[..15].concat())).0, Some(0));
    let (status, said) = check(folder, &(fine() + &many.concat()));
    assert!(status == Some(2) && said.contains("16 services are too many"), "{said}");
}

/// Introductions: a second peer with one line more, and replacements in the first peer.
fn introductions(folder: &std::path::Path) {
    let other = PUBLIC.replacen('h', "i", 1);
    let file = |more: &str| {
        fine() + &format!("[[peer]]\nname = \"two\"\npublic_key = \"{other}\"\nallowed = [\"10.9.0.0/16\"]\n{more}\n")
    };
    for fine in ["via = \"hub\"", "introduces = [\"hub\"]", "introduces = []"] {
        let (status, said) = check(folder, &file(fine));
        assert_eq!(status, Some(0), "{fine}: {said}");
    }
    for (wrong, place, message) in [
        ("via = \"hob\"", "35:7", "there is no peer `hob` at"),
        ("via = \"two\"", "35:7", "`two` is this peer itself"),
        ("via = [\"hub\"]", "35:7", ""),
        ("via = \"hub\"\nendpoint = \"127.0.0.1:1\"", "35:7", "`endpoint` or `via`, not both"),
        ("via = \"hub\"\nintroduces = [\"hub\"]", "36:14", "cannot introduce a peer that it does not reach by itself"),
        ("introduces = [\"hub\", \"hob\"]", "35:14", "there is no peer `hob`"),
        ("introduces = [\"two\"]", "35:14", "`two` is this peer itself"),
        ("introduces = \"hub\"", "35:14", ""),
    ] {
        let (status, said) = check(folder, &file(wrong));
        assert_eq!(status, Some(2), "{wrong}: {said}");
        assert!(said.contains(&format!("site.toml:{place}")) && said.contains(message), "{wrong}: {said}");
    }
    let endpoint = "endpoint = { dsl = \"127.0.0.1:5182\", lte = \"[::1]:5182\" }";
    let (_, said) = check(folder, &file("via = \"hub\"").replacen(endpoint, "via = \"two\"", 1));
    assert!(said.contains(":29:7: `two` has to be introduced itself"), "{said}");
    // Of a file with one peer nothing else is said: there is no name to choose, and nobody is reached because of it.
    for (via, message) in [("hob", "there is no peer `hob`"), ("hub", "`hub` is this peer itself")] {
        let wrong = fine().replacen("listen = 5182\n", "", 1).replacen(endpoint, &format!("via = \"{via}\""), 1);
        let (_, said) = check(folder, &wrong);
        assert!(said.contains(&format!(":28:7: {message}")), "{said}");
        assert!(said.contains("write a [[peer]] table for it, too") && !said.contains("nobody can come"), "{said}");
    }
    // An introducer who is not reached is no introducer's mistake.
    let nobody = file("via = \"hub\"").replacen("listen = 5182\n", "", 1).replacen(&format!("{endpoint}\n"), "", 1);
    let (_, said) = check(folder, &nobody);
    assert!(said.contains("nobody can come to this end"), "{said}");
}

#[test]
fn keys_are_made_and_read() {
    let made = airbraid(&["genkey"]);
    assert!(made.status.success());
    assert_eq!(text(&made.stdout).trim().len(), 44);
    let public = |private: &[u8]| {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
        let mut child =
            command.arg("pubkey").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(private).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_eq!(text(&public(KEY.as_bytes()).stdout).trim(), PUBLIC);
    assert_eq!(text(&public(&made.stdout).stdout).trim().len(), 44);
    let wrong = public(b"no key");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("44 characters"));
}
