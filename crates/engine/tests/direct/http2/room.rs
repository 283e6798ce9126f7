//! `maxBufferedReplies`, the limit on the unsent bytes of a server: the client that is cut off first above it.

use ring::layout::limit;

use super::client::{Client, server};
use crate::driver::http2::{INITIAL_WINDOW_SIZE, window_update};
use crate::driver::{Driver, limits, reply_large, send};

const REPLY: usize = 45_000;
const STREAMS: usize = 10;

/// Starts a server whose limit is a little above what two of these clients ask for.
fn driver() -> Driver {
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = (2 * STREAMS * REPLY + REPLY / 2) as f64;
    server(&values)
}

/// Connects a client without a window for whom this many replies wait.
fn taker_of_nothing(driver: &mut Driver, streams: usize) -> (Client, Vec<u32>) {
    let mut client = Client::with(driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let ids = (0..streams).map(|_| ask(driver, &mut client)).collect();
    client.settle(driver);
    (client, ids)
}

fn ask(driver: &mut Driver, client: &mut Client) -> u32 {
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, &[b'x'; 15_000].repeat(REPLY / 15_000));
    id
}

fn dropped(driver: &Driver) -> u64 {
    driver.engine.stats(driver.server).unwrap().dropped
}

/// Gives the number of these replies that were reset, all with `INTERNAL_ERROR`.
fn resets(driver: &mut Driver, client: &mut Client, ids: &[u32]) -> usize {
    client.settle(driver);
    let codes = ids.iter().filter_map(|&id| client.reply_so_far(id).reset);
    codes.inspect(|&code| assert_eq!(code, 2)).count()
}

#[test]
fn clients_that_take_nothing_give_way_to_one_that_reads() {
    let mut driver = driver();
    let mut holders = [(); 2].map(|()| taker_of_nothing(&mut driver, STREAMS));
    assert_eq!(dropped(&driver), 0);
    let mut honest = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1_000)]);
    let rounds = 5;
    for _ in 0..rounds {
        let id = ask(&mut driver, &mut honest);
        honest.settle(&mut driver);
        assert_eq!(honest.reply_so_far(id).reset, None);
        honest.send(&window_update(id, 1 << 20));
        honest.send(&window_update(0, 1 << 16));
        let reply = honest.reply(&mut driver, id);
        assert_eq!((reply.body.len(), reply.whole), (REPLY, true));
    }
    let reset: usize = holders
        .iter_mut()
        .map(|(client, ids)| resets(&mut driver, client, ids))
        .sum();
    // The reset of the first reply makes room for the later ones, too.
    assert_eq!((reset, dropped(&driver)), (1, 1));
}

#[test]
fn the_fullest_connection_gives_way_not_the_one_that_grew() {
    let mut driver = driver();
    let (mut full, of_full) = taker_of_nothing(&mut driver, 2 * STREAMS - 4);
    let (mut other, of_other) = taker_of_nothing(&mut driver, 8);
    assert_eq!(resets(&mut driver, &mut full, &of_full), 4);
    assert_eq!(resets(&mut driver, &mut other, &of_other), 0);
}

#[test]
fn a_connection_that_is_the_fullest_gives_way_itself() {
    let mut driver = driver();
    let (mut other, of_other) = taker_of_nothing(&mut driver, 4);
    let (mut greedy, of_greedy) = taker_of_nothing(&mut driver, 2 * STREAMS);
    assert_eq!(resets(&mut driver, &mut greedy, &of_greedy), 4);
    assert_eq!(resets(&mut driver, &mut other, &of_other), 0);
}

#[test]
fn streams_give_way_to_a_reply_of_http1() {
    let length = 16 << 20;
    // This is more than the kernel takes, and less than the holder has.
    let shorter = 14 << 20;
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = (length + (1 << 20)) as f64;
    let mut driver = server(&values);
    let mut holder = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let id = holder.get("/a");
    let seen = driver.request();
    reply_large(&mut driver, &seen, length);
    holder.settle(&mut driver);
    let mut reader = driver.client();
    send(&mut reader, b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    let seen = driver.request();
    reply_large(&mut driver, &seen, shorter);
    let (received, _) = driver.read(&mut reader, |received| received.len() > shorter);
    assert!(received.len() > shorter, "the reply of HTTP/1 is whole");
    assert_eq!(holder.reply(&mut driver, id).reset, Some(2));
    assert_eq!(dropped(&driver), 1);
}
