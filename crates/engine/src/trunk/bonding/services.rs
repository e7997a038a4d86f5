//! Services: kinds of traffic that only some members may carry.
//!
//! The host knows what makes a packet one of a service ([`crate::Packet::service`]) and which services a member may
//! carry ([`super::MemberConfig::services`]). Packets of a service wait in a lane of their own, so those that have to
//! wait for one member hold up nobody else's.

/// Largest number of services, beside the rest of the traffic.
pub const SERVICES_MAX: u8 = 15;

/// A set of services, a bit for each. Number 0, the rest of the traffic, is in each set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Services(u16);

impl Services {
    /// All services.
    pub const ALL: Self = Self(u16::MAX);

    /// The same without a service; the rest of the traffic stays.
    #[must_use]
    pub const fn without(self, service: u8) -> Self {
        if service == 0 || service > SERVICES_MAX { self } else { Self(self.0 & !(1 << service)) }
    }
    /// Whether a service is in it. One beyond [`SERVICES_MAX`] is in none.
    pub const fn has(self, service: u8) -> bool {
        service <= SERVICES_MAX && self.0 & (1 << service) != 0
    }
}

impl Default for Services {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_traffic_is_in_each_set_and_what_is_no_service_in_none() {
        let none = (0..=u8::MAX).fold(Services::ALL, Services::without);
        assert!(none.has(0) && (1..=u8::MAX).all(|service| !none.has(service)));
        let some = Services::default().without(3).without(SERVICES_MAX);
        let left: Vec<u8> = (0..=u8::MAX).filter(|service| some.has(*service)).collect();
        assert_eq!(left, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    }
}
