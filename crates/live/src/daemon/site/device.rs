//! Names of interfaces, as the kernel and `nft` take them.

use airbraid_sim::scenario::document::{Complaint, Value, text};

/// Length that names of interfaces stay below \[byte\].
const DEVICE_NAME: usize = 16;

/// A name that an interface can have.
pub fn device(value: &Value) -> Result<String, Complaint> {
    let name = text(value)?;
    let is_fine = !name.is_empty()
        && name.len() < DEVICE_NAME
        && name.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '/' | ':' | '"' | '\\'))
        && !matches!(name.as_str(), "." | "..");
    let refused = || {
        Complaint::new("no interface can be called so", "1 to 15 characters without blanks, quotes, `\\`, `/` and `:`")
    };
    is_fine.then_some(name).ok_or_else(refused)
}
