//! How connections end: by a server that closes, by age, by silence, by a client that leaves, and by time limits.

mod leaving;
mod limits;

use super::client::Client;
use crate::driver::{Driver, pass};

/// Lets so many milliseconds pass, after which the connection is still open.
fn stays(client: &mut Client, driver: &mut Driver, ms: u64) {
    pass(driver, ms);
    client.receive();
    assert!(!client.ended, "it ended within {ms} ms");
}
