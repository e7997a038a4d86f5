//! A host that forwards for others: the kernel's forwarding, one table of `nft`'s with translated sources, and both as
//! before when the daemon has gone (`docs/decisions/0023-gateway.md`).
//!
//! It is set up before the daemon confines itself, as it runs `nft` and writes settings. What undoes it at the end
//! needs neither: settings are written through files that stay open, and the table is removed by one message to the
//! kernel. After a crash any later process does the same by the note.

mod note;
mod rules;

pub use note::undo;

use super::site::{Gateway, GatewayIpv6, Site};
use super::{note_files, routing};
use crate::error::LabError;
use crate::netlink::Netlink;
use note::{Note, SETTINGS, Setting};
use rules::Forwarded;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Paths of `nft`: the variable `PATH` must not decide what root runs.
const NFT: [&str; 4] = ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft", "/usr/local/sbin/nft"];

/// A gateway that is set up. Dropped, it undoes its changes.
#[derive(Debug)]
pub struct GatewayState {
    note: Note,
    /// The changed settings, open for writing, in the order in which they were changed.
    files: Vec<File>,
    netlink: Netlink,
}

impl GatewayState {
    /// Sets up what the file wants, if it wants a gateway.
    ///
    /// # Errors
    /// `nft` is missing or refuses, or a setting cannot be changed; everything is as before.
    pub fn begin(site: &Site) -> Result<Option<Self>, LabError> {
        let Some(wanted) = &site.gateway else { return Ok(None) };
        let program = program()?;
        let netlink = Netlink::filters().map_err(LabError::failed("nfnetlink"))?;
        let table = routing::numbers(&site.interface).0;
        let note = Note::begin(note_files::gateway(&site.name), rules::table_name(table))?;
        let mut state = Self { note, files: Vec::new(), netlink };
        let forwarded = Forwarded { v4: is_on("ipv4/ip_forward"), v6: is_on("ipv6/conf/all/forwarding") };
        // What an earlier daemon of these numbers has left, of whose end nobody knows.
        let _ = state.netlink.delete_table(&state.note.table);
        // The rules first: the host never forwards without them.
        load(program, &rules::text(wanted, &site.interface.name, table, forwarded))?;
        state.forward(wanted, forwarded)?;
        tracing::info!(table = state.note.table, lan = wanted.lan.join(", "), "gateway");
        Ok(Some(state))
    }

    /// Switches forwarding on where it is off.
    fn forward(&mut self, wanted: &Gateway, forwarded: Forwarded) -> Result<(), LabError> {
        if !forwarded.v4 {
            // The switch changes these, and would not change them back.
            let touched = devices("ipv4").into_iter().map(|device| format!("ipv4/conf/{device}/forwarding"));
            let touched: Vec<String> = touched.chain(["ipv4/conf/all/accept_redirects".to_owned()]).collect();
            self.set("ipv4/ip_forward", "1", &touched)?;
        }
        if wanted.ipv6 == GatewayIpv6::Off || forwarded.v6 || !Path::new(SETTINGS).join("ipv6").exists() {
            return Ok(());
        }
        // A host that forwards takes no more router advertisements, unless it is told to: its uplinks would lose their
        // addresses. Before the switch, which removes the routes that were learned.
        for device in devices("ipv6") {
            let path = format!("ipv6/conf/{device}/accept_ra");
            if device != "all" && read(&path).as_deref() == Some("1") {
                self.set(&path, "2", &[])?;
            }
        }
        let touched: Vec<String> =
            devices("ipv6").into_iter().map(|device| format!("ipv6/conf/{device}/forwarding")).collect();
        self.set("ipv6/conf/all/forwarding", "1", &touched)
    }

    /// Changes a setting, with a note of the old value and of those that change with it.
    fn set(&mut self, path: &str, value: &str, touched: &[String]) -> Result<(), LabError> {
        let setting = |path: &str, now: Option<&str>| {
            Some(Setting { path: path.to_owned(), before: read(path)?, now: now.map(str::to_owned) })
        };
        let refused = |error: &dyn std::fmt::Display| {
            let key = path.replace('/', ".");
            LabError::Failed(format!("net.{key} cannot be set ({error}): run sysctl -w net.{key}={value} before `up`"))
        };
        let all = touched.iter().filter(|touched| *touched != path).filter_map(|touched| setting(touched, None));
        let changed: Vec<Setting> = setting(path, Some(value)).into_iter().chain(all).collect();
        let open = |setting: &Setting| File::options().write(true).open(Path::new(SETTINGS).join(&setting.path));
        let files = changed.iter().map(open).collect::<Result<Vec<_>, _>>().map_err(|error| refused(&error))?;
        self.note.add(changed)?;
        self.files.extend(files);
        fs::write(Path::new(SETTINGS).join(path), value).map_err(|error| refused(&error))
    }
}

impl Drop for GatewayState {
    fn drop(&mut self) {
        let mut is_undone = true;
        // A switch first, then what has followed it.
        for (setting, file) in self.note.settings().iter().zip(&mut self.files) {
            if setting.is_to_be_put_back(read(&setting.path).as_deref()) {
                let written = file.rewind().and_then(|()| file.write_all(setting.before.as_bytes()));
                if let Err(error) = written {
                    tracing::warn!(setting = setting.path, before = setting.before, %error, "not set back");
                    is_undone = false;
                }
            }
        }
        if let Err(error) = self.netlink.delete_table(&self.note.table) {
            tracing::warn!(table = self.note.table, %error, "the rules of the gateway stay");
            is_undone = false;
        }
        if is_undone {
            self.note.remove();
        }
    }
}

/// Problems of a gateway on this host, for `up --check`.
pub fn check(site: &Site) -> Vec<String> {
    let Some(gateway) = &site.gateway else { return Vec::new() };
    let missing = program().err().map(|error| error.to_string());
    let is_there = |device: &&String| nix::net::if_::if_nametoindex(device.as_str()).is_err();
    let absent = gateway.lan.iter().filter(is_there).map(|device| {
        format!("[gateway] lan: there is no interface `{device}` now; the rules are for it as soon as it comes")
    });
    missing.into_iter().chain(absent).collect()
}

/// The path of `nft`.
fn program() -> Result<&'static str, LabError> {
    let found = NFT.into_iter().find(|path| Path::new(path).exists());
    found.ok_or_else(|| {
        LabError::Failed(
            "[gateway] needs the program nft, which is not here: install it (apt install nftables, dnf install \
             nftables, apk add nftables, opkg install nftables)"
                .to_owned(),
        )
    })
}

/// Gives `nft` a table.
fn load(program: &str, text: &str) -> Result<(), LabError> {
    let failed = || LabError::io(program);
    let mut command = Command::new(program);
    command.env_clear().args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed())?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes()).map_err(failed())?;
    }
    let done = child.wait_with_output().map_err(failed())?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().next().unwrap_or("it says nothing");
    let help =
        "the kernel needs nf_tables with NAT: modprobe nft_masq nft_chain_nat (CONFIG_NF_TABLES_INET, CONFIG_NFT_MASQ)";
    Err(LabError::Failed(format!("{program} refuses the gateway's rules ({first}): {help}")))
}

/// A setting of the network's, by its path below [`SETTINGS`].
fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(SETTINGS).join(path)).ok().map(|text| text.trim().to_owned())
}

fn is_on(path: &str) -> bool {
    read(path).as_deref() == Some("1")
}

/// The devices that have settings, `all` and `default` among them.
fn devices(family: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(SETTINGS).join(family).join("conf")).into_iter().flatten().flatten();
    let mut devices: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    devices.sort();
    devices
}
