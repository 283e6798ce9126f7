//! Flow control of replies: both windows, the order of streams, the signals to producers, and replies that wait too
//! long.

mod producers;
mod waiting;
mod windows;

use super::client::Client;
use crate::driver::Driver;
use ring::layout::{kind, request};

fn bytes_of(client: &Client, id: u32) -> usize {
    client.reply_so_far(id).body.len()
}

/// Gives the number of requests that reached JavaScript.
pub fn requests(driver: &Driver) -> usize {
    let seen = driver.seen.iter();
    seen.filter(|seen| seen.kind() == kind::REQUEST && seen.words[request::ROUTE] >= 0)
        .count()
}
