//! The convergence layer: one interface upward, several unlike ones below (Sánchez, Lanza and Muñoz 2006, section 4).
//!
//! It has two halves that know nothing of each other. [`session`] makes two ends known to each other and seals every
//! frame between them, over whatever interface it goes; [`select`] knows how well each neighbour is heard on each
//! interface, and says on which a packet is to go. What joins them with a trunk is the host.

pub mod select;
pub mod session;
