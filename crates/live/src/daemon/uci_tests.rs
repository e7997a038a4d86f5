use super::*;
use proptest::prelude::*;

/// Two texts are the same configuration.
fn same(left: &str, right: &str) -> bool {
    let (left, right) = (Document::parse("l", left).unwrap(), Document::parse("r", right).unwrap());
    let (of_left, of_right) = (Context::new(false), Context::new(false));
    let (left, right) = (left.top(&of_left), right.top(&of_right));
    sorted(left.own_table().unwrap()) == sorted(right.own_table().unwrap())
}

/// The entries of a table by key, places left out.
fn sorted(table: &Table) -> std::collections::BTreeMap<String, String> {
    let value = |data: &Data| match data {
        Data::Table(table) => format!("{:?}", sorted(table)),
        Data::List(items) => {
            let one = |item: &Value| match &item.data {
                Data::Table(table) => format!("{:?}", sorted(table)),
                other => inline(other),
            };
            format!("{:?}", items.iter().map(one).collect::<Vec<_>>())
        }
        other => inline(other),
    };
    table.entries.iter().map(|entry| (entry.key.clone(), value(&entry.value.data))).collect()
}

fn there_and_back(toml: &str) {
    let uci = from_toml("t.toml", toml).unwrap();
    let back = to_toml(&uci).unwrap_or_else(|why| panic!("{why}\n{uci}"));
    assert!(same(toml, &back), "{toml}\n---\n{uci}\n---\n{back}");
}

/// A file with every key of the reference, in the forms that it takes.
const EVERY: &str = r#"
schema = 1
[interface]
name = "air0"
address = ["10.77.0.2/24", "fd77::2/64"]
private_key = "office.key"
listen = 5182
mtu = "1400 byte"
routes = true
table = 1000
mark = 256
offload = false
threads = true
dns = ["10.77.0.1"]
memory = "64 MiB"
peer_memory = "16 MiB"
metrics = "127.0.0.1:9518"
page = "127.0.0.1:9519"
metrics_names = false
post_up = ["ip route add 10.5.0.0/16 via 192.168.1.254", "echo 'it is up' > /tmp/up"]
pre_down = ["true"]
[policy]
queue = 200
resequencer = { mode = "strict", buffer = 1000 }
[gateway]
lan = ["eth1", "5"]
masquerade = false
ipv6 = "route"
mss = false
[[uplink]]
name = "dsl"
device = "eth0"
gateway = "192.168.8.1"
state = "on"
tier = 0
backup = false
quota = "50 GB"
quota_day = 15
hours = ["Mon-Fri 08:00-18:00", "22:00-06:00"]
metered = true
rate = "20 Mbit/s"
keepalive = "15 s"
[[uplink]]
name = "4"
device = "5"
gateway = ["192.168.8.1", "fe80::1"]
[[uplink]]
name = "l-te"
[[peer]]
name = "hub"
public_key = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
preshared_key = "shared.key"
endpoint = { dsl = "198.51.100.7:5182", "l-te" = "[2001:db8::7]:5182" }
introduces = ["phone"]
allowed = ["0.0.0.0/0", "::/0"]
except = ["203.0.113.0/24"]
[[peer]]
name = "phone"
public_key = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="
via = "hub"
until = "2026-12-31T18:00:00Z"
allowed = ["10.77.0.3/32"]
[[service]]
name = "calls"
protocol = "udp"
port = [5060, "10000-20000"]
dscp = ["EF", 34]
network = ["198.51.100.0/24"]
peer = "hub"
only = ["dsl", "4"]
metered = false
"#;

#[test]
fn every_key_of_the_reference_survives_both_ways() {
    there_and_back(EVERY);
    let reference = include_str!("../../../../docs/reference/daemon.md");
    let table = reference.split("## The file").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
    let mut count = 0;
    assert!(EVERY.matches("\n[").count() >= 9, "of all tables");
    for key in names.filter(|name| !name.starts_with('[')) {
        assert!(EVERY.contains(&format!("\n{key} = ")), "{key} is not in the file above");
        // And in whatever form it is given.
        for value in ["true", "7", "\"a text\"", "[\"a\", \"b\"]", "{ a = \"b\" }", "\"12\"", "[1, 2]"] {
            there_and_back(&format!("schema = 1\n[interface]\n{key} = {value}\n"));
        }
        count += 1;
    }
    assert!(count > 30, "{count} keys: is the reference read as it is written?");
}

#[test]
fn a_file_that_went_both_ways_is_read_as_before() {
    let folder = std::env::temp_dir().join(format!("airbraid-uci-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for key in ["office.key", "shared.key"] {
        std::fs::write(folder.join(key), "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=").unwrap();
        std::fs::set_permissions(folder.join(key), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let read = |text: &str| {
        let site = crate::daemon::site::parse(&folder.join("t.toml"), text).map_err(|errors| errors.to_string());
        format!("{:#?}", site.unwrap_or_else(|said| panic!("{said}\n{text}")))
    };
    assert_eq!(read(&to_toml(&from_toml("t.toml", EVERY).unwrap()).unwrap()), read(EVERY));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_router_writes_is_what_the_daemon_reads() {
    let uci = "
package airbraid
config airbraid
	option enabled '1'

config interface   # the tunnel
	list address '10.77.0.2/24'
	option private_key \"/etc/airbraid/it's.key\"
	option listen 5182

config uplink 'dsl'
	option device 'wan'
	option backup 'true'

config peer
	option name 'hub'
	list allowed '0.0.0.0/0'
	option endpoint__dsl '198.51.100.7:5182'
";
    let toml = "schema = 1
[interface]
address = [\"10.77.0.2/24\"]
private_key = \"/etc/airbraid/it's.key\"
listen = 5182
[[uplink]]
name = \"dsl\"
device = \"wan\"
backup = true
[[peer]]
name = \"hub\"
allowed = [\"0.0.0.0/0\"]
endpoint = { dsl = \"198.51.100.7:5182\" }
";
    assert!(same(&to_toml(uci).unwrap(), toml), "{}", to_toml(uci).unwrap());
}

#[test]
fn a_wrong_line_is_told_with_its_number() {
    for (uci, said) in [
        ("option a 'b'", "line 1: there is no `config` before: option a 'b'"),
        ("config x\noption a 'b", "line 2: a quote is not closed"),
        ("config x\n\noption a", "line 3: write config TYPE, option KEY 'VALUE', or list KEY 'VALUE'"),
        ("config", "line 1: write config"),
        ("config x\noption a b\\", "line 2: nothing follows the backslash"),
    ] {
        let why = to_toml(uci).unwrap_err();
        assert!(why.starts_with(said), "{uci:?}: {why}");
    }
}

fn key() -> impl Strategy<Value = String> {
    "[a-z][a-z_]{0,8}".prop_filter("kept for UCI", |key| key != "enabled" && !key.contains("__"))
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        (-1e6..1e6).prop_map(|number: f64| format!("{number:?}")),
        any::<String>().prop_map(|text| quoted_toml(&text)),
        "[0-9+.e:-]{1,6}".prop_map(|text| quoted_toml(&text)),
        "toml:.{0,4}".prop_map(|text| quoted_toml(&text)),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let list =
        |inner| prop::collection::vec(inner, 0..4).prop_map(|items: Vec<String>| format!("[{}]", items.join(", ")));
    let table = |inner| {
        prop::collection::btree_map("[a-z-]{1,6}", inner, 0..3).prop_map(|entries| {
            let one = |(key, value): (String, String)| format!("{} = {value}", quoted_toml(&key));
            format!("{{ {} }}", entries.into_iter().map(one).collect::<Vec<_>>().join(", "))
        })
    };
    prop_oneof![leaf(), list(leaf().boxed()), table(leaf().boxed()), list(table(leaf().boxed()).boxed())]
}

fn body() -> impl Strategy<Value = String> {
    prop::collection::btree_map(key(), value(), 0..6)
        .prop_map(|entries| entries.into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect())
}

proptest! {
    /// Whatever values a file has.
    #[test]
    fn any_file_survives_both_ways(
        interface in body(),
        policy in body(),
        uplinks in prop::collection::vec(body(), 0..3),
    ) {
        let uplinks: String = uplinks.iter().map(|body| format!("[[uplink]]\n{body}")).collect();
        let toml = format!("schema = 1\n[interface]\n{interface}[policy]\n{policy}{uplinks}");
        prop_assume!(Document::parse("t", &toml).is_ok());
        there_and_back(&toml);
    }

    /// No text makes it panic, and what it takes is TOML in form.
    #[test]
    fn any_text_is_refused_or_read(uci in "(config|option|list|['\"#\\\\a-z \t\n]){0,40}") {
        let _ = to_toml(&uci);
    }
}
