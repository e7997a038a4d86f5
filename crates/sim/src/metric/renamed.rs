//! Metrics that have had another name.

/// Former names of metrics of trunks over links, with the names that all trunks now use.
const OF_MEMBERS: [(&str, &str); 6] = [
    ("sent", "sent_packets"),
    ("lost", "lost_frames"),
    ("spurious", "spurious_losses"),
    ("path_mtu", "path_mtu_bytes"),
    ("rate", "rate_bps"),
    ("rtt_min", "rtt_min_s"),
];

/// Returns the present name of a metric that once was called `path`; none where it never was a name.
pub fn renamed(path: &str) -> Option<String> {
    let rest = path.strip_prefix("tunnel.")?;
    let mut segments: Vec<&str> = rest.split('.').collect();
    // NAME.FROM.LINK.METRIC is of a member; what stands there has had another name in JSON.
    if let [_, _, _, metric] = &mut segments[..] {
        *metric = OF_MEMBERS.iter().find(|(old, _)| old == metric).map_or(*metric, |(_, new)| *new);
    }
    Some(format!("trunk.{}", segments.join(".")))
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_trunk_over_links_is_a_trunk() {
        assert_eq!(renamed("tunnel.bond.holes").as_deref(), Some("trunk.bond.holes"));
        assert_eq!(renamed("tunnel.bond.a.dsl.lost").as_deref(), Some("trunk.bond.a.dsl.lost_frames"));
        assert_eq!(renamed("tunnel.bond.a.hold_time_s").as_deref(), Some("trunk.bond.a.hold_time_s"));
        assert_eq!(renamed("trunk.bond.holes"), None);
    }
}
