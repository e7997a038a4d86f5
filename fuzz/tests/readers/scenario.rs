//! The scenario reader: any bytes, and any mutilation of a real scenario.

use airbraid_sim::scenario::Scenario;

const SEEDS: [&str; 3] = [
    include_str!("../../../scenarios/examples/three_channels.toml"),
    include_str!("../../../scenarios/examples/lossy_link.toml"),
    include_str!("../../../scenarios/validation/eastbound.toml"),
];

/// Reads a text to the end; errors must have a place and a remedy.
fn read(text: &str) {
    let plan = Scenario::parse("fuzz.toml", text).and_then(|scenario| scenario.plan());
    if let Err(errors) = plan {
        assert!(!errors.0.is_empty());
        for error in &errors.0 {
            assert!(!error.message.is_empty() && error.line.is_none_or(|line| line >= 1), "{error}");
        }
    }
}

#[test]
fn any_bytes() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| read(&String::from_utf8_lossy(bytes)));
}

#[test]
fn mutilated_scenarios() {
    bolero::check!().with_type::<(u8, Vec<(u16, u8, u8)>)>().for_each(|(seed, cuts)| {
        let mut bytes = SEEDS[usize::from(*seed) % SEEDS.len()].as_bytes().to_vec();
        for (place, how, byte) in cuts.iter().take(12) {
            let place = usize::from(*place) % bytes.len().max(1);
            match how % 4 {
                0 if !bytes.is_empty() => bytes[place] = *byte,
                1 => bytes.insert(place, *byte),
                2 if !bytes.is_empty() => drop(bytes.remove(place)),
                _ => bytes.truncate(place.max(bytes.len() / 2)),
            }
        }
        read(&String::from_utf8_lossy(&bytes));
    });
}

#[test]
fn any_override() {
    bolero::check!().with_type::<String>().for_each(|argument| {
        if let Ok(mut scenario) = Scenario::parse("fuzz.toml", SEEDS[0])
            && scenario.set("--set", argument).is_ok()
        {
            let _ = scenario.plan();
        }
    });
}
