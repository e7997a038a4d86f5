//! A polled radio: master or slave, and the cost of a transaction.

use super::small;
use crate::scenario::reader::View;
use airbraid_mac::polled::{PolledConfig, Role};

const ROLES: [(&str, Role); 2] = [("master", Role::Master), ("slave", Role::Slave)];
const ECKHARDT: &str = "Eckhardt 1998";
/// Reads the access of a polled radio.
pub(super) fn read(view: &View<'_>) -> PolledConfig {
    let role = view.choice("role", &ROLES, Role::Slave, "it speaks when it is polled");
    let default = PolledConfig::new(role);
    let config = PolledConfig {
        role,
        overhead: view.quantity("overhead", default.overhead, ECKHARDT),
        per_byte: view.quantity("per_byte", default.per_byte, ECKHARDT),
        response_slack: view.quantity(
            "response_slack",
            default.response_slack,
            "a lost poll costs what an answered one does",
        ),
        invite_every: view.count("invite_every", default.invite_every, "polls"),
        queue_limit: view.count("queue", default.queue_limit, "packets, where no link layer holds them"),
        header: view.quantity("header", default.header, ECKHARDT),
    };
    let message = || "a transaction takes time even without data".to_owned();
    view.require(config.overhead.as_nanos() >= 2, "overhead", message, "write for example \"3.1 ms\"");
    small(view, "header", config.header);
    config
}
