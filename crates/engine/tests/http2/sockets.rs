//! WebSockets on streams (RFC 8441).

use engine::{NoReferences, SocketSpec};
use ring::layout::{RECORD_WORDS, kind, limit, operation, operation_flag, record, request};

use super::client::Client;
use super::driver::http2::{
    DATA, END_STREAM, Frame, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, block, data, headers, reset, window_update,
};
use super::driver::{Driver, Seen, frames, limits, make, outlast, text};

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
const CANCEL: u32 = 8;

fn spec() -> SocketSpec {
    SocketSpec {
        limits: ws::Limits {
            message: 1 << 20,
            fragments: 1_024,
        },
        idle_timeout: 120_000,
        close_timeout: 60_000,
        max_buffered: 1 << 20,
        drops: false,
        compress_from: None,
    }
}

fn server() -> Driver {
    server_of(spec())
}

fn server_of(spec: SocketSpec) -> Driver {
    with_http2(Driver::sockets(&limits(), spec))
}

fn with_http2(mut driver: Driver) -> Driver {
    driver.engine.set_http2(driver.server, true);
    driver
}

/// A WebSocket on a stream.
struct Socket {
    id: u32,
    seen: Seen,
}

fn ask(client: &mut Client, path: &str) -> u32 {
    let id = client.id();
    let fields = [(":protocol", "websocket"), ("sec-websocket-version", "13")];
    client.send(&headers(id, &block("CONNECT", path, &fields), false));
    id
}

fn record(driver: &mut Driver, to: &Seen, op: i32, flags: i32, body: &[u8]) {
    let record = make(to, op, flags);
    driver.engine.memory().push_record(record, &[], body);
}

fn apply(driver: &mut Driver) {
    driver.engine.apply(&NoReferences);
}

fn message(driver: &mut Driver, to: &Seen, body: &[u8]) {
    record(driver, to, operation::MESSAGE, operation_flag::TEXT, body);
}

fn publish(driver: &mut Driver, topic: &[u8], body: &[u8]) {
    let mut words = [0; RECORD_WORDS];
    words[record::SLOT] = -1;
    words[record::GENERATION] = i32::from(driver.server);
    words[record::OPERATION] = operation::PUBLISH | operation_flag::TEXT << 16;
    let memory = driver.engine.memory();
    memory.push_record(ring::Record(words), topic, body);
}

/// Gives the numbers of connections, of exchanges in flight, and of sockets.
fn stats(driver: &Driver) -> (u64, u64, u64) {
    let stats = driver.engine.stats(driver.server).unwrap();
    (stats.connections, stats.in_flight, stats.sockets)
}

impl Socket {
    fn open(driver: &mut Driver, client: &mut Client) -> Self {
        let id = ask(client, "/ws/a");
        let seen = driver.request();
        record(driver, &seen, operation::UPGRADE, 0, b"");
        apply(driver);
        client.until(driver, |client| {
            client.frames_of(id).any(|frame| frame.kind == HEADERS)
        });
        let reply = client.reply_so_far(id);
        assert_eq!(
            (reply.status, reply.fields, reply.whole),
            (200, vec![], false)
        );
        Self { id, seen }
    }

    /// Gives the received frames of the socket.
    fn frames(&self, client: &Client) -> Vec<(u8, Vec<u8>)> {
        let mut bytes = client.reply_so_far(self.id).body;
        std::iter::from_fn(|| frames::take(&mut bytes)).collect()
    }

    /// Runs turns until this many frames have arrived, and gives the last.
    fn frame(&self, driver: &mut Driver, client: &mut Client, count: usize) -> (u8, Vec<u8>) {
        client.until(driver, |client| {
            client.ended || self.frames(client).len() >= count
        });
        self.frames(client)[count - 1].clone()
    }

    fn send(&self, client: &mut Client, first: u8, payload: &[u8]) {
        client.send(&data(self.id, &frames::frame(first, payload), false));
    }

    /// Gives the close code that JavaScript is told.
    fn told(&self, driver: &mut Driver) -> i32 {
        loop {
            let seen = driver.event(kind::CLOSED_SOCKET);
            if (seen.slot(), seen.generation()) == (self.seen.slot(), self.seen.generation()) {
                return seen.words[request::ALLOW];
            }
        }
    }
}

#[test]
fn a_socket_and_ordinary_requests_share_a_connection() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let settings = client.await_frame(&mut driver, SETTINGS);
    let announced = settings
        .payload
        .chunks(6)
        .any(|pair| pair == [0, 8, 0, 0, 0, 1]);
    assert!(announced, "SETTINGS_ENABLE_CONNECT_PROTOCOL: {settings:?}");
    let socket = Socket::open(&mut driver, &mut client);
    assert_eq!(stats(&driver), (1, 0, 1));

    socket.send(&mut client, TEXT, b"hello");
    assert_eq!(driver.event(kind::MESSAGE).body, b"hello");
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"plain");
    message(&mut driver, &socket.seen, b"there");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).body, b"plain");
    let frame = socket.frame(&mut driver, &mut client, 1);
    assert_eq!(frame, (TEXT, b"there".to_vec()));

    socket.send(&mut client, PING, b"?");
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (PONG, b"?".to_vec()));
    assert_eq!(stats(&driver), (1, 0, 1));
}

#[test]
fn frames_may_be_split_anywhere() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let first = frames::frame(TEXT, &[b'x'; 200]);
    let second = frames::frame(TEXT, b"second");
    let mut bytes = Vec::new();
    for byte in first.iter().chain(&second) {
        bytes.extend(data(socket.id, &[*byte], false));
    }
    client.send(&bytes);
    assert_eq!(driver.event(kind::MESSAGE).body, [b'x'; 200]);
    assert_eq!(driver.event(kind::MESSAGE).body, b"second");
    // One DATA frame carries several messages.
    client.send(&data(socket.id, &[first, second].concat(), false));
    assert_eq!(driver.event(kind::MESSAGE).body, [b'x'; 200]);
    assert_eq!(driver.event(kind::MESSAGE).body, b"second");
}

#[test]
fn the_client_closes_a_socket_and_the_connection_goes_on() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    socket.send(&mut client, CLOSE, &1000_u16.to_be_bytes());
    assert_eq!(socket.told(&mut driver), 1000);
    let reply = client.reply(&mut driver, socket.id);
    assert!(reply.whole, "{reply:?}");
    assert_eq!(
        socket.frames(&client),
        [(CLOSE, 1000_u16.to_be_bytes().to_vec())]
    );
    assert_eq!(stats(&driver), (1, 0, 0));
    client.settle(&mut driver);
    assert!(!client.ended);
}

#[test]
fn the_server_closes_a_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let code = 4000_u16.to_be_bytes();
    message(&mut driver, &socket.seen, b"last");
    record(&mut driver, &socket.seen, operation::CLOSE, 0, &code);
    apply(&mut driver);
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (CLOSE, code.to_vec()));
    assert!(!client.is_over(socket.id), "it waits for the answer");
    socket.send(&mut client, CLOSE, &code);
    assert_eq!(socket.told(&mut driver), 4000);
    assert!(client.reply(&mut driver, socket.id).whole);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_reset_or_the_end_of_the_stream_loses_the_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    client.send(&reset(one.id, CANCEL));
    assert_eq!(one.told(&mut driver), 1006);
    assert_eq!(stats(&driver), (1, 0, 1));
    client.send(&data(other.id, &frames::frame(TEXT, b"bye"), true));
    assert_eq!(driver.event(kind::MESSAGE).body, b"bye");
    assert_eq!(other.told(&mut driver), 1006);
    assert!(client.reply(&mut driver, other.id).whole);
    assert_eq!(stats(&driver), (1, 0, 0));
    client.settle(&mut driver);
}

#[test]
fn a_socket_that_is_terminated_resets_its_stream() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    record(&mut driver, &socket.seen, operation::DESTROY, 0, b"");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    client.settle(&mut driver);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_client_that_breaks_the_protocol_loses_the_socket_alone() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    // A client has to mask its frames.
    client.send(&data(socket.id, &[TEXT, 1, b'x'], false));
    assert_eq!(socket.told(&mut driver), 1002);
    let (first, payload) = socket.frame(&mut driver, &mut client, 1);
    assert_eq!((first, &payload[..2]), (CLOSE, &1002_u16.to_be_bytes()[..]));
    assert!(client.reply(&mut driver, socket.id).whole);
    client.settle(&mut driver);
}

#[test]
fn messages_wait_for_windows_of_the_client() {
    let mut driver = server();
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    message(&mut driver, &socket.seen, &vec![b'm'; 100_000]);
    message(&mut driver, &socket.seen, b"behind");
    apply(&mut driver);
    client.settle(&mut driver);
    assert!(client.frames_of(socket.id).all(|frame| frame.kind != DATA));
    let (slot, generation) = (socket.seen.slot() as u32, socket.seen.generation() as u32);
    let waits = driver.engine.unsent(slot, generation);
    assert_eq!(waits, 100_000 + 10 + 6 + 2);

    client.send(&window_update(socket.id, 3));
    client.until(&mut driver, |client| {
        client.reply_so_far(socket.id).body.len() == 3
    });
    client.send(&window_update(socket.id, 200_000));
    client.send(&window_update(0, 200_000));
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (TEXT, b"behind".to_vec()));
    assert_eq!(socket.frames(&client)[0].1, vec![b'm'; 100_000]);
    assert_eq!(driver.engine.unsent(slot, generation), 0);
}

#[test]
fn the_client_may_send_more_as_its_messages_are_taken() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let bytes = frames::frame(TEXT, &vec![b'm'; 300_000]);
    let granted = |client: &Client| {
        let updates = client.frames_of(socket.id);
        let updates = updates.filter(|frame| frame.kind == WINDOW_UPDATE);
        // `code` reads the increment of WINDOW_UPDATE, which has the place of an error code.
        65_536 + updates.map(|frame| frame.code() as usize).sum::<usize>()
    };
    let mut sent = 0;
    while sent < bytes.len() {
        client.until(&mut driver, |client| granted(client) > sent);
        let window = granted(&client) - sent;
        let part = window.min(16_384).min(bytes.len() - sent);
        client.send(&data(socket.id, &bytes[sent..sent + part], false));
        sent += part;
    }
    assert_eq!(driver.event(kind::MESSAGE).body.len(), 300_000);
}

#[test]
fn what_is_published_reaches_every_stream() {
    let mut driver = server();
    let mut clients = [Client::new(&driver), Client::new(&driver)];
    let mut sockets = Vec::new();
    for (index, client) in clients.iter_mut().enumerate() {
        for _ in 0..3 {
            let socket = Socket::open(&mut driver, client);
            record(&mut driver, &socket.seen, operation::SUBSCRIBE, 0, b"t");
            sockets.push((index, socket));
        }
    }
    publish(&mut driver, b"t", b"one");
    publish(&mut driver, b"t", &vec![b'2'; 40_000]);
    apply(&mut driver);
    for (index, socket) in &sockets {
        let frame = socket.frame(&mut driver, &mut clients[*index], 1);
        assert_eq!(frame, (TEXT, b"one".to_vec()));
        let client = &mut clients[*index];
        client.send(&window_update(0, 100_000));
        let frame = socket.frame(&mut driver, client, 2);
        assert_eq!(frame.1, vec![b'2'; 40_000]);
    }
    assert_eq!(stats(&driver), (2, 0, 6));
}

#[test]
fn a_lost_connection_loses_its_sockets() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    assert_eq!(stats(&driver), (1, 0, 2));
    drop(client);
    assert_eq!(one.told(&mut driver), 1006);
    assert_eq!(other.told(&mut driver), 1006);
    driver.until(|driver| stats(driver) == (0, 0, 0));
    assert_eq!(driver.engine.connection_count(), 0);
}

#[test]
fn a_server_that_closes_ends_its_sockets() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let server = driver.server;
    driver.engine.close(server);
    let (first, payload) = socket.frame(&mut driver, &mut client, 1);
    assert_eq!((first, &payload[..2]), (CLOSE, &1001_u16.to_be_bytes()[..]));
    socket.send(&mut client, CLOSE, &1001_u16.to_be_bytes());
    assert_eq!(socket.told(&mut driver), 1001);
    assert!(client.reply(&mut driver, socket.id).whole);
    // The client does not answer the PING of the shutdown, so the server waits for a second.
    client.await_frame(&mut driver, GOAWAY);
    drop(client);
    driver.event(kind::CLOSED);
    assert_eq!(stats(&driver), (0, 0, 0));
}

#[test]
fn a_socket_whose_client_does_not_read_is_closed_and_its_connection_goes_on() {
    let mut driver = server_of(SocketSpec {
        max_buffered: 10_000,
        ..spec()
    });
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    for _ in 0..4 {
        message(&mut driver, &socket.seen, &[b'x'; 6_000]);
    }
    apply(&mut driver);
    assert_eq!(socket.told(&mut driver), 1013);
    client.send(&window_update(socket.id, 50_000));
    assert!(client.reply(&mut driver, socket.id).whole);
    client.settle(&mut driver);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_socket_that_is_not_read_for_too_long_is_reset() {
    let mut values = limits();
    values[limit::SEND_TIMEOUT] = 50.0;
    let mut driver = with_http2(Driver::sockets(&values, spec()));
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    message(&mut driver, &socket.seen, b"x");
    apply(&mut driver);
    outlast(&mut driver, 100);
    assert_eq!(client.reply(&mut driver, socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn what_comes_before_the_reply_belongs_to_the_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/ws/a");
    client.send(&data(id, &frames::frame(TEXT, b"early"), false));
    client.settle(&mut driver);
    let seen = driver.request();
    assert_eq!(driver.engine.buffered(driver.server), 11);
    record(&mut driver, &seen, operation::UPGRADE, 0, b"");
    apply(&mut driver);
    assert_eq!(driver.event(kind::MESSAGE).body, b"early");
    assert_eq!(driver.engine.buffered(driver.server), 0);
    assert_eq!(stats(&driver), (1, 0, 1));
}

#[test]
fn a_handler_may_refuse_a_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/ws/a");
    client.send(&data(id, b"early", false));
    let seen = driver.request();
    driver.reply(&seen, 403, b"no");
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.status, text(&reply.body)), (403, "no".into()));
    assert_eq!(driver.engine.buffered(driver.server), 0);
    assert_eq!(stats(&driver), (1, 0, 0));
    // An ordinary request cannot become a socket, and JavaScript is told.
    let id = client.get("/a");
    let seen = driver.request();
    record(&mut driver, &seen, operation::UPGRADE, 0, b"");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).status, 500);
    driver.event(kind::CLOSED_SOCKET);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_path_without_sockets_is_a_miss() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/a");
    let seen = driver.request();
    assert_eq!(seen.route(), -4);
    driver.reply(&seen, 426, b"");
    assert_eq!(client.reply(&mut driver, id).status, 426);
}

#[test]
fn a_server_without_sockets_announces_none() {
    let mut driver = super::client::server(&limits());
    let mut client = Client::new(&driver);
    let settings = client.await_frame(&mut driver, SETTINGS);
    assert!(settings.payload.chunks(6).all(|pair| pair[..2] != [0, 8]));
    let id = ask(&mut client, "/a");
    client.until(&mut driver, |client| client.is_over(id));
    let frames: Vec<_> = client.frames_of(id).collect();
    assert!(
        matches!(frames[..], [Frame { kind: RST_STREAM, flags, .. }] if flags & END_STREAM == 0),
        "{frames:?}"
    );
}

#[test]
fn a_silent_socket_is_pinged_and_lost() {
    // The PING is due in the second half of the time: a busy machine may miss that half.
    let mut attempts = [200, 2_000, 20_000].into_iter();
    assert!(attempts.any(is_pinged_and_lost));
}

/// Gives whether the PING came before the loss.
fn is_pinged_and_lost(idle_timeout: u64) -> bool {
    let mut driver = server_of(SocketSpec {
        idle_timeout,
        ..spec()
    });
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    driver.until(|driver| {
        driver.engine.sweep();
        client.receive();
        client.is_over(socket.id)
    });
    assert_eq!(client.reply_so_far(socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    socket.frames(&client) == [(PING, vec![])]
}

#[cfg(feature = "faults")]
#[test]
fn a_panic_over_a_message_costs_its_socket_alone() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    // The first parse step reads the frames of the connection, and the second those of the socket.
    engine::faults::arm(engine::faults::Stage::Parse, 2);
    one.send(&mut client, TEXT, b"x");
    assert_eq!(client.reply(&mut driver, one.id).reset, Some(CANCEL));
    assert_eq!(one.told(&mut driver), 1006);
    other.send(&mut client, TEXT, b"y");
    assert_eq!(driver.event(kind::MESSAGE).body, b"y");
    assert_eq!(driver.engine.stats(driver.server).unwrap().panics, 1);
    assert_eq!(stats(&driver), (1, 0, 1));
}
