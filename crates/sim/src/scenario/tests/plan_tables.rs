//! `--set` of `[sweep]` and `[expect]`.

use super::*;

const SWEPT: &str = "[sweep]\n\"radio.queue\" = [5, 3]\n[expect]\n\
                     \"flow.f.goodput\" = { at = { \"radio.queue\" = 3 }, min = \"1 bit/s\" }\n";

fn set(text: &str, said: &[&str]) -> Result<Plan, String> {
    let mut scenario = Scenario::parse("t.toml", text).map_err(|e| e.to_string())?;
    for argument in said {
        scenario.set("--set", argument).map_err(|e| e.to_string())?;
    }
    scenario.plan().map_err(|e| e.to_string())
}

fn labels(text: &str, said: &[&str]) -> Vec<String> {
    set(text, said).unwrap().cells.into_iter().map(|cell| cell.label).collect()
}

#[test]
fn a_key_is_swept_by_an_option_however_it_is_written() {
    for said in [
        "sweep.radio.rate=[\"1 Mbit/s\",\"2 Mbit/s\"]",
        "sweep.\"radio.rate\"=[\"1 Mbit/s\",\"2 Mbit/s\"]",
        "sweep={\"radio.rate\"=[\"1 Mbit/s\",\"2 Mbit/s\"]}",
        "sweep.radio={rate=[\"1 Mbit/s\",\"2 Mbit/s\"]}",
    ] {
        let plan = set(BASE, &[said]).unwrap();
        let rates: Vec<u64> = plan
            .cells
            .iter()
            .map(|c| c.spec.nodes[0].radios[0].mac.dcf().unwrap().data_rate.bit_rate.as_bps())
            .collect();
        assert_eq!(rates, [1_000_000, 2_000_000], "{said}");
        let rate = plan.resolved().into_iter().find(|r| r.key == "node.a.radios.ch1.rate").unwrap();
        assert!(rate.from.ends_with(&format!("--set {said}")), "{}", rate.from);
    }
}

#[test]
fn an_option_adds_an_axis_gives_one_other_values_or_ends_all() {
    let text = format!("{BASE}{SWEPT}");
    assert_eq!(labels(&text, &["sweep.radio.queue=[7, 3]"]), ["radio.queue = 7", "radio.queue = 3"]);
    let both = labels(&text, &["sweep.run.warm_up=[\"1 s\"]"]);
    assert_eq!(both, ["radio.queue = 5, run.warm_up = 1 s", "radio.queue = 3, run.warm_up = 1 s"]);
    assert_eq!(labels(&text, &["sweep={}"]), [""]);
    // The expectation of a cell that is gone falls away, as with a pinned key.
    let other = set(&text, &["sweep.radio.queue=[7]"]).unwrap();
    assert!(other.expectations[0].cells.is_empty());
}

#[test]
fn the_last_of_a_setting_and_a_sweep_of_the_same_key_counts() {
    let sweep = "sweep.radio.queue=[5, 3]";
    assert_eq!(labels(BASE, &["radio.queue=9", sweep]).len(), 2);
    assert_eq!(labels(BASE, &[sweep, "radio.queue=9"]), ["radio.queue = 9"]);
}

#[test]
fn a_table_is_not_set_over_what_is_swept_within_it() {
    let said = ["sweep.flow.f.transport.tcp=[\"cubic\",\"reno\"]", "flow.f.transport={ tcp = \"cubic\" }"];
    let told = set(BASE, &said).unwrap_err();
    assert!(told.contains("`flow.f.transport.tcp` is swept, and `flow.f.transport` would undo that"), "{told}");
}

#[test]
fn wrong_sweeps_are_refused_at_the_option() {
    for (said, told) in [
        ("sweep.nonsense=[1,2]", "--set:1:1: unknown key `nonsense` at `sweep.nonsense`: "),
        ("sweep.radio.rat=[1]", "--set:1:1: unknown key `rat` in `radio` at `sweep.radio.rat`: did you mean `rate`?"),
        ("sweep.radio.queue=5", "--set:1:19: a list of values is swept, this is a whole number at `5`"),
        ("sweep.radio.queue=[]", "--set:1:19: there is nothing to sweep"),
        ("sweep.radio.queue=[3,3]", "this value is swept twice"),
        ("sweep.run.seed=[1,2]", "`run.seed` cannot be swept"),
        ("sweep=[1]", "--set:1:7: `sweep` is a table, this is a list at `[1]`"),
        ("sweep.radio.queue=[1,\"x\"]", "a whole number is needed, this is a text"),
    ] {
        let found = set(BASE, &[said]).map(|_| "no error".to_owned()).unwrap_or_else(|e| e);
        assert!(found.contains(told), "{said}: {found}");
    }
}

#[test]
fn expectations_are_set_whole_or_bound_by_bound() {
    let bounds = |text: &str, said: &[&str]| {
        let plan = set(text, said).unwrap();
        plan.expectations.iter().map(|e| (e.metric.clone(), e.min, e.max, e.line)).collect::<Vec<_>>()
    };
    let goodput = "flow.f.goodput".to_owned();
    let table = "expect.flow.f.goodput={ min = \"2 bit/s\", max = \"4 bit/s\" }";
    assert_eq!(bounds(BASE, &[table]), [(goodput.clone(), Some(2.0), Some(4.0), 0)]);
    assert_eq!(bounds(BASE, &["expect.flow.f.goodput.min=2 bit/s"]), [(goodput.clone(), Some(2.0), None, 0)]);
    let text =
        format!("{BASE}[expect]\n\"flow.f.goodput\" = {{ min = \"1 bit/s\" }}\n\"flow.f.timeouts\" = {{ max = 3 }}\n");
    let both = bounds(&text, &["expect.flow.f.goodput.max=9 bit/s"]);
    assert_eq!((both[0].1, both[0].2, both.len()), (Some(1.0), Some(9.0), 2));
    assert!(bounds(&text, &["expect={}"]).is_empty());
    assert_eq!(bounds(&text, &["expect={\"flow.f.timeouts\"={max=1}}"]).len(), 1);
}

#[test]
fn wrong_expectations_are_refused_at_the_option() {
    let list = format!("{BASE}[expect]\n\"flow.f.goodput\" = [{{ min = \"1 bit/s\" }}, {{ max = \"9 bit/s\" }}]\n");
    for (said, told) in [
        ("expect.foo=1", "--set:1:1: `foo` is no metric at `expect.foo`"),
        (
            "expect.flow.f.goodputt={min=1}",
            "`goodputt` is no metric here at `expect.flow.f.goodputt`: did you mean `goodput`?",
        ),
        ("expect.flow.g.goodput.min=1 bit/s", "no flow is called `g`"),
        ("expect.flow.f.goodput=3", "an expectation is a table"),
        ("expect=3", "`expect` is a table, this is a whole number"),
    ] {
        let found = set(BASE, &[said]).map(|_| "no error".to_owned()).unwrap_or_else(|e| e);
        assert!(found.contains(told), "{said}: {found}");
    }
    let told = set(&list, &["expect.flow.f.goodput.min=1 bit/s"]).unwrap_err();
    assert!(told.contains("there are several expectations of `flow.f.goodput`"), "{told}");
    let forms = set(BASE, &["expect.foo=1"]).unwrap_err();
    assert_eq!(forms.matches("trunk.NAME.FROM.METRIC").count(), 1, "{forms}");
}
