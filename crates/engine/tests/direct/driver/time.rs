//! Time, which passes only when a test says so.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::Driver;

/// So many turns come before a sweep, as some do in `on_timer` of the crate node: they take what came before. They are
/// many, since a transport that delays refuses bytes in some of them.
const TURNS_BEFORE_SWEEP: usize = 64;

/// Waits until what clients have sent has arrived. The kernel delivers what is sent to this machine in its order, and
/// here comes a byte at last.
pub fn arrive() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut theirs, _) = listener.accept().unwrap();
    ours.write_all(b".").unwrap();
    theirs.read_exact(&mut [0]).unwrap();
}

/// Takes all that has been sent, and ends what is late. No time passes.
pub fn settle(driver: &mut Driver) {
    arrive();
    for _ in 0..TURNS_BEFORE_SWEEP {
        driver.turn(|_, _| {});
    }
    driver.engine.sweep();
}

/// Takes all that has been sent, lets so many milliseconds pass, and ends what is late then.
pub fn pass(driver: &mut Driver, ms: u64) {
    settle(driver);
    driver.engine.advance_clock(ms);
    settle(driver);
}
