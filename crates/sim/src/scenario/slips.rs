//! Words that newcomers write in a table that has another for the same thing.

/// A remedy for a key that the table of this kind does not have, if it is a known slip.
pub(super) fn remedy(kind: &str, key: &str) -> Option<String> {
    let called = |name: &str| format!("it is called `{name}` here");
    let key = key.to_lowercase();
    Some(match (kind, key.as_str()) {
        ("[[flow]]", "rate" | "bandwidth") => "write source = { rate = \"1 Mbit/s\" }".to_owned(),
        ("[[flow]]", "file" | "size" | "bytes") => "write source = { file = \"10 MB\" }".to_owned(),
        ("[[flow]]", "tcp" | "protocol") => "write transport = { tcp = \"newreno\" }".to_owned(),
        ("[[flow]]", "udp" | "packet_size") => "write transport = { udp = \"1472 byte\" }".to_owned(),
        ("[[flow]]", "src" | "sender") => called("from"),
        ("[[flow]]", "dst" | "destination" | "receiver") => called("to"),
        ("[[flow]]", "end" | "until" | "duration") => called("stop"),
        ("[[node]]", "channel" | "channels") => "write radios = [1], a list of channels".to_owned(),
        ("[[node]]", "x" | "y" | "place") => "write position = [\"100 m\", \"0 m\"], east and north".to_owned(),
        ("[radio]", "ber") => "write error = { ber = 1e-5 }".to_owned(),
        ("[radio]", "per" | "loss") => {
            "a radio has error = { ber = 1e-5 } or delivery_loss, a [[link]] has loss".to_owned()
        }
        ("[radio]", "range") => "it has reception_range, carrier_sense_range and interference_range".to_owned(),
        ("[radio]", "rts" | "rts_cts") => "write rts_threshold = \"0 byte\"".to_owned(),
        ("[radio]", "tx_power") => called("power"),
        ("[[link]]", "bandwidth" | "speed" | "capacity") => called("rate"),
        ("[[link]]", "latency") => called("delay"),
        ("[[link]]", "buffer" | "limit") => called("queue"),
        ("[[link]]" | "[[trunk]]", "from" | "to" | "ends") => "write between = [\"a\", \"b\"]".to_owned(),
        ("[[trunk]]", "distributor" | "resequencer" | "queue" | "tunnel") => {
            format!("write `{key}` below [trunk.policy], which belongs to the [[trunk]] above it")
        }
        ("[[trunk]]", "links" | "radios" | "channels") => called("members"),
        ("[[at]]", "down" | "up") => format!("write state = \"{key}\""),
        ("[run]", "runs" | "repetitions" | "repeat" | "repeats" | "seeds") => called("replications"),
        ("[run]", "time" | "length" | "stop") => called("duration"),
        ("[run]", "warmup") => called("warm_up"),
        ("the head", "description" | "name") => called("title"),
        ("the head", "nodes" | "links" | "flows" | "trunks" | "radios") => {
            let one = key.trim_end_matches('s');
            if one == "radio" { called(one) } else { format!("write [[{one}]] for each of them") }
        }
        _ => return None,
    })
}
