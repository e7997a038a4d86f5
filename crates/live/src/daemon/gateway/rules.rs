//! The rules that a gateway gives the kernel, as text for `nft`: one table of our own, which nothing else is in.

use crate::daemon::site::{Gateway, GatewayIpv6};

/// The facts of the host that the rules depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// Whether the host forwarded before: then traffic that has nothing to do with the tunnel is none of ours.
    pub v4: bool,
    pub v6: bool,
}

/// Name of the table of a daemon whose first routing table this is: unique on a host, and known after a crash.
pub fn table_name(table: u32) -> String {
    format!("airbraid_{table}")
}

/// The table of rules: forwarding by connections, MSS, translated sources.
pub fn text(gateway: &Gateway, interface: &str, table: u32, forwarded: Forwarded) -> String {
    let tunnel = quoted(interface);
    let lan = set(gateway.lan.iter().map(String::as_str));
    let inside = set(gateway.lan.iter().map(String::as_str).chain([interface]));
    let mut text = format!("table inet {} {{\n", table_name(table));
    text.push_str("  chain forward {\n    type filter hook forward priority filter; policy accept;\n");
    // The tunnel itself lowers the MSS of what goes through it; this is for what goes beside it.
    if gateway.mss {
        text.push_str(&format!(
            "    oifname != {tunnel} tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu\n"
        ));
    }
    text.push_str(&format!("    iifname {tunnel} accept\n"));
    text.push_str(&format!("    oifname {tunnel} ct state established,related accept\n"));
    if let Some(lan) = &lan {
        text.push_str(&format!("    oifname {tunnel} iifname {lan} accept\n"));
    }
    text.push_str(&format!("    oifname {tunnel} counter drop\n"));
    // Where the host forwards for our sake only, strangers on an uplink get no further through it than before.
    let inside = inside.unwrap_or_else(|| tunnel.clone());
    for (family, was_on) in [("ipv4", forwarded.v4), ("ipv6", forwarded.v6)] {
        if !was_on {
            text.push_str(&format!(
                "    meta nfproto {family} iifname != {inside} ct state != {{ established, related }} counter drop\n"
            ));
        }
    }
    text.push_str("  }\n");
    let families = families(gateway);
    if !families.is_empty() {
        text.push_str("  chain postrouting {\n    type nat hook postrouting priority srcnat; policy accept;\n");
        for family in families {
            text.push_str(&format!("    meta nfproto {family} iifname {inside} oifname != {inside} masquerade\n"));
        }
        text.push_str("  }\n");
    }
    text + "}\n"
}

/// The families whose sources are translated.
fn families(gateway: &Gateway) -> Vec<&'static str> {
    let v6 = gateway.ipv6 == GatewayIpv6::Masquerade;
    let of = |is_on: bool, name: &'static str| (gateway.masquerade && is_on).then_some(name);
    [of(true, "ipv4"), of(v6, "ipv6")].into_iter().flatten().collect()
}

/// A set of devices in `nft`'s syntax; `None` where it is empty.
fn set<'a>(devices: impl Iterator<Item = &'a str>) -> Option<String> {
    let devices: Vec<String> = devices.map(quoted).collect();
    (!devices.is_empty()).then(|| format!("{{ {} }}", devices.join(", ")))
}

/// A name in quotes; the file lets no quote into it.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_translates_what_leaves_and_lets_answers_in() {
        let gateway = Gateway { lan: Vec::new(), masquerade: true, ipv6: GatewayIpv6::Masquerade, mss: true };
        let text = text(&gateway, "air0", 51_820_016, Forwarded { v4: false, v6: true });
        assert_eq!(
            text,
            "table inet airbraid_51820016 {\n\
             \x20 chain forward {\n\
             \x20   type filter hook forward priority filter; policy accept;\n\
             \x20   oifname != \"air0\" tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu\n\
             \x20   iifname \"air0\" accept\n\
             \x20   oifname \"air0\" ct state established,related accept\n\
             \x20   oifname \"air0\" counter drop\n\
             \x20   meta nfproto ipv4 iifname != { \"air0\" } ct state != { established, related } counter drop\n\
             \x20 }\n\
             \x20 chain postrouting {\n\
             \x20   type nat hook postrouting priority srcnat; policy accept;\n\
             \x20   meta nfproto ipv4 iifname { \"air0\" } oifname != { \"air0\" } masquerade\n\
             \x20   meta nfproto ipv6 iifname { \"air0\" } oifname != { \"air0\" } masquerade\n\
             \x20 }\n\
             }\n"
        );
    }

    #[test]
    fn routed_ipv6_is_not_translated_and_a_lan_may_begin_connections() {
        let gateway = Gateway { lan: vec!["lan0".to_owned()], masquerade: true, ipv6: GatewayIpv6::Route, mss: false };
        let text = text(&gateway, "air0", 1, Forwarded { v4: true, v6: true });
        assert!(text.contains("oifname \"air0\" iifname { \"lan0\" } accept"), "{text}");
        assert!(text.contains("ipv4 iifname { \"lan0\", \"air0\" } oifname != { \"lan0\", \"air0\" } masquerade"));
        assert!(!text.contains("nfproto ipv6") && !text.contains("maxseg"), "{text}");
    }
}
