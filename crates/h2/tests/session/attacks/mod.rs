//! Attacks of clients: the number of frames after which the connection ends, and the number of heads that were given
//! until then. The clock does not move, so that no bucket fills.

mod frames;
mod heads;
mod resets;

use crate::client::{Client, Seen};
use h2::ErrorCode;

/// Gives the number of times that `attack` was fed until the session failed, and the number of heads. The output of the
/// session is taken away, as by a client that reads it.
fn rounds(mut client: Client, attack: impl Fn(u32) -> Vec<u8>) -> (u32, usize) {
    let mut heads = 0;
    for round in 0..2_000_000 {
        for seen in client.feed(&attack(round)) {
            match seen {
                Seen::Head { .. } => heads += 1,
                Seen::Failed(code) => {
                    assert_eq!(code, ErrorCode::EnhanceYourCalm);
                    return (round + 1, heads);
                }
                _ => {}
            }
        }
        client.sent();
        assert!(client.session.memory() < 110 * 1_024);
    }
    panic!("no end");
}
