//! `[gateway]`: a host that forwards for others.

use super::device::device;
use airbraid_sim::scenario::document::{Complaint, Value, View, list};

/// A gateway's part of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// Devices whose hosts use the tunnel, and are reached through it.
    pub lan: Vec<String>,
    /// Whether what leaves by another device than these and the tunnel gets an address of that device.
    pub masquerade: bool,
    pub ipv6: GatewayIpv6,
    /// Whether the MSS of TCP connections beside the tunnel is lowered to what fits.
    pub mss: bool,
}

/// The way of IPv6 through a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayIpv6 {
    /// As IPv4: it leaves with an address of the gateway.
    Masquerade,
    /// With its own addresses: prefixes of the provider's are behind the gateway.
    Route,
    /// It is not forwarded.
    Off,
}

/// Reads the table, if it is there.
pub fn read(top: &View<'_>, interface: &str) -> Option<Gateway> {
    top.find("gateway")?;
    let view = top.sub("gateway");
    let ways = [("masquerade", GatewayIpv6::Masquerade), ("route", GatewayIpv6::Route), ("off", GatewayIpv6::Off)];
    let gateway = Gateway {
        lan: view.optional("lan", "none", devices).unwrap_or_default(),
        masquerade: view.flag("masquerade", true, ""),
        ipv6: view.choice("ipv6", &ways, GatewayIpv6::Masquerade, ""),
        mss: view.flag("mss", true, ""),
    };
    let message = || format!("{interface} is the tunnel itself");
    let is_fine = !gateway.lan.iter().any(|device| device == interface);
    view.require(is_fine, "lan", message, "name the devices of the networks behind this host");
    view.check_keys();
    Some(gateway)
}

fn devices(value: &Value) -> Result<Vec<String>, Complaint> {
    list(value)?.iter().map(device).collect()
}
