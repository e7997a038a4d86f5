//! Local error control from outside: the code against a naive one, the policies' rules and both kinds of ARQ as
//! transcripts, and random faults against a naive reference.

mod code;
mod environments;
mod hostile;
mod policies;
mod selective_repeat;
mod stop_and_wait;
mod world;
