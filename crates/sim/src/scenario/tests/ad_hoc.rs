//! Networks made by a rule: topologies, drawn ends, AODV and multi-channel radios, and their refusals.

use super::super::Scenario;
use super::super::spec::{Mac, Routing, Spec};

fn read(head: &str, radio: &str, rest: &str) -> Result<Spec, String> {
    let text = format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"?\"\n{head}\n[run]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11b\"\n{radio}\n{rest}"
    );
    let plan = Scenario::parse("t.toml", &text).and_then(|scenario| scenario.plan());
    plan.map(|plan| plan.cells[0].spec.clone()).map_err(|errors| errors.to_string())
}

const GRID: &str = "[topology]\nshape = \"grid\"\ncolumns = 3\nrows = 2\nspacing = \"250 m\"\nradios = [1]\n";

#[test]
fn a_rule_places_nodes_and_a_flow_may_be_several() {
    let flow = "[[flow]]\nname = \"f\"\ncount = 3\nfrom = \"first\"\nto = \"last\"\n";
    let radio = "mac = \"bi_mcmac\"\nbatch = 4\ndata_channels = 2";
    let spec = read("routing = \"aodv\"", radio, &format!("{GRID}{flow}")).unwrap();
    assert_eq!((spec.nodes.len(), spec.nodes[5].name.as_str()), (6, "n6"));
    assert_eq!((spec.nodes[5].position.x.0, spec.nodes[5].position.y.0), (500.0, 250.0));
    let ends: Vec<_> = spec.flows.iter().map(|flow| (flow.name.as_str(), flow.from, flow.to)).collect();
    assert_eq!(ends, [("f1", 0, 5), ("f2", 0, 5), ("f3", 0, 5)]);
    assert!(matches!(spec.routing, Routing::Aodv(_)));
    let Mac::Multichannel(mac) = &spec.nodes[0].radios[0].mac else { panic!("no multi-channel radio") };
    assert_eq!((mac.batch, mac.data_channels, mac.is_bidirectional), (4, 2, true));
}

#[test]
fn each_node_may_have_a_flow_to_one() {
    let nodes = "[topology]\nshape = \"chain\"\ncount = 4\nspacing = \"1 m\"\nradios = [1]\n";
    let flow = |more: &str| format!("{nodes}[[flow]]\nname = \"f\"\nfrom = \"each\"\n{more}");
    let spec = read("", "", &flow("to = \"n2\"\nsource = { poisson = \"1 Mbit/s\" }\n")).unwrap();
    let ends: Vec<_> = spec.flows.iter().map(|flow| (flow.name.as_str(), flow.from, flow.to)).collect();
    assert_eq!(ends, [("f1", 0, 1), ("f2", 2, 1), ("f3", 3, 1)]);
    let refused = |more: &str| read("", "", &flow(more)).unwrap_err();
    assert!(refused("to = \"n2\"\ncount = 2\n").contains("each node has one flow"));
    assert!(refused("to = \"each\"\n").contains("`each`"));
    let two = "to = \"n2\"\nsource = { rate = \"1 Mbit/s\", poisson = \"1 Mbit/s\" }\n";
    assert!(refused(two).contains("a source has one of"));
}

#[test]
fn a_circle_has_one_node_in_the_middle_and_the_others_at_one_distance() {
    let circle = |more: &str| format!("[topology]\nshape = \"circle\"\ncount = 5\n{more}radios = [1]\n");
    let spec = read("", "", &circle("radius = \"10 m\"\n")).unwrap();
    let places: Vec<_> = spec.nodes.iter().map(|n| (n.position.x.0.round(), n.position.y.0.round())).collect();
    assert_eq!(places, [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0), (-10.0, 0.0), (0.0, -10.0)]);
    assert!(read("", "", &circle("")).unwrap_err().contains("`topology.radius` is missing"));
    for radius in ["-9 m", "0 m"] {
        let error = read("", "", &circle(&format!("radius = \"{radius}\"\n"))).unwrap_err();
        assert!(error.contains("a distance between nodes is above zero"), "{error}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let cases = [
        ("routing = \"rip\"", "", GRID, "this routing is not known"),
        ("routing = { constants = \"ns3\" }", "", GRID, "`ns3` is not known here"),
        ("routing = { arp = \"yes\" }", "", GRID, "true or false is needed"),
        (
            "",
            "",
            "[topology]\nshape = \"random\"\ncount = 3\narea = [\"9 m\", \"9 m\"]\nspeed = \"0 m/s\"\n",
            "no speed of a node",
        ),
        (
            "",
            "",
            "[topology]\nshape = \"random\"\ncount = 3\narea = [\"9 m\", \"9 m\"]\npause = \"1 s\"\n",
            "only nodes that move rest",
        ),
        (
            "routing = \"aodv\"",
            "",
            "[[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\nradios = [1, 5]\n",
            "one radio a node",
        ),
        ("", "mac = \"mcmac\"\ndata_channels = 0", GRID, "cannot have 0 data channels"),
        ("", "mac = \"mcmac\"\nbatch = 65", GRID, "cannot announce 65 frames"),
        ("", "", "[topology]\nshape = \"random\"\ncount = 4\nradios = [1]\n", "`topology.area` is missing"),
        (
            "",
            "",
            "[topology]\nshape = \"chain\"\ncount = 5000\nspacing = \"1 m\"\nradios = [1]\n",
            "5000 nodes are more",
        ),
    ];
    for (head, radio, rest, said) in cases {
        let wrong = read(head, radio, rest).unwrap_err();
        assert!(wrong.contains(said), "{wrong}\n  does not say\n{said}");
    }
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"random\"\nto = \"n1\"\n";
    assert!(read("", "", &format!("{GRID}{flow}")).unwrap_err().contains("one end is drawn"));
}
