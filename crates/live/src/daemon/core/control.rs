//! The frames of the session itself, beside those of the tunnel: sealed with a key that need not be in use.

use super::Daemon;
use crate::daemon::lane::Written;
use crate::daemon::tag::Tag;
use airbraid_engine::converge::session::{self, FRAME_HEADER_LEN, PeerId, TAG_LEN};
use airbraid_engine::trunk::Member;
use airbraid_units::{Bytes, Instant};
use std::net::{IpAddr, SocketAddr};

/// The member number of the session's own frames, which no member link has.
const CONTROL: Member = Member(u8::MAX);
/// Their length before they are sealed \[byte\].
const CONTROL_LEN: u64 = 1;

impl Daemon {
    /// Sends the session's own frames, which are few and must arrive, by all ways. But an answer goes by the way of the
    /// question, which came by all.
    pub(super) fn send_control(&mut self, now: Instant, id: PeerId, key: session::KeyId, control: session::Control) {
        let Some(state) = self.peers.get_mut(id.index()) else { return };
        let is_answer = control == session::Control::Confirmed;
        let length = Bytes::new(CONTROL_LEN);
        // Where a member is counts for its limit; an answer is no longer than its question.
        let is_members = |(uplink, remote, _): &(usize, SocketAddr, Option<IpAddr>)| {
            state.paths.values().any(|path| (path.uplink, path.remote) == (*uplink, *remote))
        };
        let heard = state.heard.filter(|way| is_answer || !is_members(way));
        let paths = state.paths.iter().filter(|(member, _)| !is_answer && state.tunnel.charge(**member, length));
        let known = paths.map(|(_, path)| (path.uplink, path.remote, path.source));
        let mut ways: Vec<_> = known.chain(heard).collect();
        ways.sort_unstable();
        ways.dedup();
        for (uplink, to, source) in ways {
            let Some(uplink) = self.uplinks.get_mut(uplink) else { continue };
            let (ring, tag) = (&mut self.ring, Tag { peer: usize::MAX, frame: None, is_probe: false });
            uplink.push(now, to, source, 0, tag, |out| {
                let start = out.len();
                out.extend([0; FRAME_HEADER_LEN]);
                out.push(control.byte());
                out.extend([0; TAG_LEN]);
                match ring.seal_control(now, key, CONTROL, &mut out[start..]) {
                    Ok(_) => Written::Whole,
                    Err(_) => Written::Nothing,
                }
            });
        }
    }
}
