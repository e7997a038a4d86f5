//! The test of an uplink: round trip and rate by TCP through the tunnel, with both ends of pairing as sender and
//! receiver.

use super::exchange::{self, Reply, TEST_MAX, Wish};
use crate::clock::Clock;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest time without a byte.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of connections whose shortest opening is the round trip.
const OPENINGS: usize = 4;
/// Bytes that are written at once.
const CHUNK: usize = 1 << 16;

/// The result of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Speed {
    /// Round trip, by the opening of a connection.
    pub rtt_s: f64,
    /// Rate towards this end.
    pub down_bps: f64,
    /// Rate from this end.
    pub up_bps: f64,
}

/// Opens a connection to the other end.
///
/// # Errors
/// It does not answer.
pub fn open(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Tests the way to the other end for this time in each direction.
///
/// # Errors
/// It does not answer, or the connection breaks.
pub fn measure(to: SocketAddr, time: Duration) -> io::Result<Speed> {
    let opening = || {
        let begun = Clock::start();
        open(to).map(|_| begun.elapsed().as_secs_f64())
    };
    let openings = (0..OPENINGS).map(|_| opening()).collect::<io::Result<Vec<f64>>>()?;
    let rtt_s = openings.into_iter().fold(f64::INFINITY, f64::min);
    if time.is_zero() {
        return Ok(Speed { rtt_s, ..Speed::default() });
    }
    Ok(Speed { rtt_s, down_bps: down(to, time)?, up_bps: up(to, time)? })
}

fn down(to: SocketAddr, time: Duration) -> io::Result<f64> {
    let mut stream = open(to)?;
    let ms = time.as_millis() as u64;
    stream.write_all(exchange::line(&Wish::Send { ms }).as_bytes())?;
    let (bytes, took) = count(&mut stream, time + PATIENCE)?;
    Ok(rate(bytes, took))
}

fn up(to: SocketAddr, time: Duration) -> io::Result<f64> {
    let mut stream = open(to)?;
    stream.write_all(exchange::line(&Wish::Receive).as_bytes())?;
    fill(&mut stream, time)?;
    stream.shutdown(Shutdown::Write)?;
    match exchange::read::<Reply>(&mut stream)? {
        Reply::Received { bytes, us } => Ok(rate(bytes, Duration::from_micros(us))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 * 8.0 / took.as_secs_f64().max(1e-3)
}

/// Carries out the other end's wish to send.
///
/// # Errors
/// The connection breaks.
pub fn send(stream: &mut TcpStream, ms: u64) -> io::Result<()> {
    fill(stream, Duration::from_millis(ms.min(TEST_MAX)))?;
    stream.shutdown(Shutdown::Write)
}

/// Carries out the other end's wish to be read from.
///
/// # Errors
/// The connection breaks.
pub fn receive(stream: &mut TcpStream) -> io::Result<()> {
    let (bytes, took) = count(stream, Duration::from_millis(TEST_MAX) + PATIENCE)?;
    let us = took.as_micros() as u64;
    stream.write_all(exchange::line(&Reply::Received { bytes, us }).as_bytes())
}

/// Writes for a time.
fn fill(stream: &mut TcpStream, time: Duration) -> io::Result<()> {
    let chunk = vec![0; CHUNK];
    let begun = Clock::start();
    while begun.elapsed() < time {
        stream.write_all(&chunk)?;
    }
    Ok(())
}

/// Reads to the end, for `most` at the longest; returns the bytes, and the time from the first of them to the last.
fn count(stream: &mut TcpStream, most: Duration) -> io::Result<(u64, Duration)> {
    let mut room = vec![0; CHUNK];
    let mut bytes = 0;
    let begun = Clock::start();
    let mut first = None;
    loop {
        match stream.read(&mut room)? {
            0 => break,
            read => bytes += read as u64,
        }
        first.get_or_insert_with(Clock::start);
        if begun.elapsed() > most {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok((bytes, first.map_or(Duration::ZERO, |first| first.elapsed())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn both_directions_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let server = std::thread::Builder::new().spawn(move || {
            for stream in listener.incoming().take(OPENINGS + 2) {
                let mut stream = stream.unwrap();
                match exchange::read(&mut stream) {
                    Ok(Wish::Send { ms }) => send(&mut stream, ms).unwrap(),
                    Ok(Wish::Receive) => receive(&mut stream).unwrap(),
                    _ => {}
                }
            }
        });
        let speed = measure(at, Duration::from_millis(20)).unwrap();
        assert!(speed.down_bps > 1e6 && speed.up_bps > 1e6 && speed.rtt_s < 1.0, "{speed:?}");
        server.unwrap().join().unwrap();
    }
}
