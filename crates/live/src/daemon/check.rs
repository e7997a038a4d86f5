//! Problems of a valid file on this host at this time, for `airbraid up --check`. They may pass, so none of them is an
//! error.

use super::core::names::look_up;
use super::gateway;
use super::site::Site;
use nix::net::if_::{if_nameindex, if_nametoindex};

/// All of them, a sentence each.
pub fn notes(site: &Site) -> Vec<String> {
    let mut notes = devices(site);
    notes.extend(gateway::check(site));
    for (name, peer) in site.names() {
        if let Err(why) = look_up(name) {
            notes.push(format!("peer {peer}: `{name}` cannot be looked up now ({why}); the daemon goes on trying"));
        }
    }
    notes
}

fn devices(site: &Site) -> Vec<String> {
    let known = if_nameindex().map(|all| {
        let names = all.iter().map(|one| one.name().to_string_lossy().into_owned());
        names.filter(|name| name != "lo" && *name != site.interface.name).collect::<Vec<_>>().join(", ")
    });
    let known = known.unwrap_or_default();
    let devices = site.uplinks.iter().filter_map(|uplink| Some((uplink, uplink.device.as_deref()?)));
    let missing = devices.filter(|(_, device)| if_nametoindex(*device).is_err());
    let note = |(uplink, device): (&super::site::Uplink, &str)| {
        let name = &uplink.name;
        format!("uplink {name}: there is no interface `{device}` now, but {known}; the daemon waits for it")
    };
    missing.map(note).collect()
}
