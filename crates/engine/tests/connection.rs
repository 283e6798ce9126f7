//! The connection machine from the outside: bytes in, descriptors and replies out.

mod driver;

use driver::{
    Driver, Seen, answer, data, end, ends_with, finish, grant, idle, limits, send, start, text,
};
use ring::Memory;
use ring::layout::{kind, limit, operation, request};
use std::time::Duration;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn replies_leave_in_the_order_of_their_requests() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| driver.request()).collect();
    driver.reply(&requests[2], 200, b"third");
    driver.reply(&requests[0], 200, b"first");
    let (received, _) = driver.read(&mut client, ends_with("first"));
    assert!(!text(&received).contains("third"));
    driver.reply(&requests[1], 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("third"));
    assert!(text(&received).contains("second"));
}

#[test]
fn an_unsafe_request_waits_and_holds_back() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    send(&mut client, &[GET, &post[..], GET].concat());
    let first = driver.request();
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty(), "RFC 9112 §9.3.2");
    driver.reply(&first, 200, b"1");
    let second = driver.request();
    assert_eq!(second.body, b"hi");
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty());
    driver.reply(&second, 200, b"2");
    let third = driver.request();
    driver.reply(&third, 200, b"3");
    driver.read(&mut client, ends_with("3"));
}

#[test]
fn pipelining_pauses_at_its_limit_and_goes_on() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(40));
    driver.until(|driver| driver.seen.len() >= 16);
    driver.turn(|_, _| {});
    assert_eq!(driver.seen.len(), 16);
    let mut answered = 0;
    while answered < 40 {
        let request = driver.request();
        driver.reply(&request, 200, b"x");
        answered += 1;
    }
    let (received, _) = driver.read(&mut client, |received| {
        text(received).matches("HTTP/1.1 200").count() == 40
    });
    assert!(received.ends_with(b"x"));
}

#[test]
fn a_late_reply_of_another_generation_is_dropped() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let first = driver.request();
    drop(client);
    driver.until(|driver| {
        driver.engine.connection_count() == 0
            || driver.engine.in_flight() == 0
            || !driver.seen.is_empty()
    });
    driver.reply(&first, 200, b"late");
    driver.until(|driver| driver.engine.connection_count() == 0);
    let mut client = driver.client();
    send(&mut client, GET);
    let second = driver.request();
    assert_eq!(second.slot(), first.slot());
    assert_ne!(second.generation(), first.generation());
    driver.reply(&first, 200, b"stale");
    driver.reply(&second, 200, b"fresh");
    let (received, _) = driver.read(&mut client, ends_with("fresh"));
    assert!(!text(&received).contains("stale"));
}

#[test]
fn a_reset_client_aborts_once_and_frees_its_slot() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    // Unread bytes at close make the kernel send a reset.
    driver.reply(&request, 200, b"unread");
    send(&mut client, GET);
    let second = driver.request();
    std::thread::sleep(Duration::from_millis(20));
    drop(client);
    let told = driver.event(kind::ABORT);
    assert_eq!(
        (told.slot(), told.generation()),
        (second.slot(), second.generation())
    );
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_streamed_body_keeps_to_its_credit() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let body = vec![b'z'; 50_000];
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n",
    );
    let request = driver.request();
    send(&mut client, &body);
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty(), "no credit, no body");
    grant(driver.engine.memory(), &request, operation::READ, 1000);
    driver.engine.apply(&engine::NoReferences);
    let mut received = 0;
    for _ in 0..50 {
        driver.turn(|_, _| {});
        std::thread::sleep(Duration::from_millis(1));
    }
    received += driver
        .seen
        .drain(..)
        .map(|seen| seen.body.len())
        .sum::<usize>();
    assert_eq!(received, 1000);
    grant(driver.engine.memory(), &request, operation::CREDIT, 49_000);
    driver.engine.apply(&engine::NoReferences);
    driver.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind::BODY_END));
    received += driver
        .seen
        .drain(..)
        .map(|seen| seen.body.len())
        .sum::<usize>();
    assert_eq!(received, 50_000);
    driver.reply(&request, 200, b"done");
    send(&mut client, GET);
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, ends_with("next"));
}

#[test]
fn a_late_body_is_there_at_once_where_it_came_with_its_head() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let post = b"POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    send(&mut client, &[&post[..], GET].concat());
    let whole = driver.request();
    assert_eq!(whole.body, b"hi");
    driver.reply(&whole, 401, b"no");
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, ends_with("next"));

    send(&mut client, &post[..post.len() - 1]);
    let streamed = driver.request();
    assert!(streamed.body.is_empty());
    grant(driver.engine.memory(), &streamed, operation::READ, 1000);
    driver.engine.apply(&engine::NoReferences);
    send(&mut client, b"i");
    driver.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind::BODY_END));
    let body: Vec<u8> = driver.seen.drain(..).flat_map(|seen| seen.body).collect();
    assert_eq!(body, b"hi");
    driver.reply(&streamed, 200, b"done");
    driver.read(&mut client, ends_with("done"));
}

#[test]
fn an_early_answer_never_lets_body_bytes_become_a_request() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
    );
    let request = driver.request();
    driver.reply(&request, 403, b"no");
    let smuggled = [GET, &[b'.'; 100]].concat();
    send(&mut client, &smuggled[..100]);
    send(&mut client, GET);
    let next = driver.request();
    driver.reply(&next, 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("second"));
    assert_eq!(text(&received).matches("HTTP/1.1").count(), 2);
}

#[test]
fn a_body_past_the_drain_limit_closes_after_the_answer() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
    );
    let request = driver.request();
    driver.reply(&request, 403, b"no");
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended);
    assert!(text(&received).contains("Connection: close"));
}

#[test]
fn a_slow_reader_stops_its_producer() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    driver.engine.apply(&engine::NoReferences);
    let chunk = vec![b'd'; 60_000];
    let mut written = 0;
    // The socket buffers of both sides fill; then no drain comes back.
    for _ in 0..200 {
        data(driver.engine.memory(), &request, &chunk, true);
        driver.engine.apply(&engine::NoReferences);
        written += 1;
        driver.turn(|_, _| {});
        if driver.seen.drain(..).all(|seen| seen.kind() != kind::DRAIN) {
            break;
        }
    }
    assert!(written < 200, "12 MB were taken without back-pressure");
    let (_, ended) = driver.read(&mut client, |received| {
        received.len() > (written - 1) * 60_000
    });
    assert!(!ended);
    driver.event(kind::DRAIN);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&engine::NoReferences);
    driver.read(&mut client, ends_with("0\r\n\r\n"));
}

#[test]
fn a_short_body_resets_instead_of_ending() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, Some(10));
    data(driver.engine.memory(), &request, b"12345", false);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&engine::NoReferences);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && !received.ends_with(b"67890"));
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_reply_with_a_bad_header_block_becomes_a_500() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let block = [1u8, 0, 4, 0, b'x', b'a', b'\r', b'\n', b'b'];
    let record = driver::make(&request, operation::END, 200);
    driver.engine.memory().push_record(record, &block, b"body");
    driver.engine.apply(&engine::NoReferences);
    let (received, _) = driver.read(&mut client, ends_with("}"));
    assert!(
        text(&received).starts_with("HTTP/1.1 500 "),
        "{}",
        text(&received)
    );
}

#[test]
fn the_connection_cap_is_exact() {
    let mut values = limits();
    values[limit::MAX_CONNECTIONS] = 3.0;
    let mut driver = Driver::new(&values);
    let mut clients: Vec<_> = (0..5).map(|_| driver.client()).collect();
    driver.until(|driver| driver.engine.stats(driver.server).unwrap().refused == 2);
    assert_eq!(driver.engine.connection_count(), 3);
    let mut open = 0;
    for client in &mut clients {
        if client.set_nonblocking(true).is_ok() && std::io::Write::write_all(client, GET).is_ok() {
            open += 1;
        }
    }
    assert!(open >= 3);
    driver.until(|driver| driver.seen.len() == 3);
}

#[test]
fn in_flight_requests_are_bounded() {
    let mut values = limits();
    values[limit::MAX_IN_FLIGHT] = 2.0;
    let mut driver = Driver::new(&values);
    let mut clients: Vec<_> = (0..3).map(|_| driver.client()).collect();
    for client in &mut clients[..2] {
        send(client, GET);
        driver.request();
    }
    send(&mut clients[2], GET);
    let (received, ended) = driver.read(&mut clients[2], |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 503 "));
    assert_eq!(driver.engine.in_flight(), 2);
}

#[test]
fn two_servers_share_one_engine() {
    let mut driver = Driver::new(&limits());
    let second = driver.engine.create_server(engine::ServerConfig {
        limits: engine::Limits::from_array(&limits()).unwrap(),
        router: route::Router::new(route::Options {
            case_sensitive: true,
            ignore_trailing_slash: false,
        }),
        socket_router: route::Router::new(route::Options::default()),
        sockets: Vec::new(),
        routes: Vec::new(),
    });
    let any = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
    let reactor::net::ListenAddr::Tcp(address) = driver
        .engine
        .listen_tcp(second, any, 511, false, false)
        .unwrap()
    else {
        panic!("a TCP listener has a TCP address");
    };
    let mut client = std::net::TcpStream::connect(address).unwrap();
    send(&mut client, GET);
    let request = driver.request();
    assert_eq!(request.route(), -1, "the second server has no routes");
    assert_eq!(request.words[request::SERVER], i32::from(second));
    end(driver.engine.memory(), &request, 404, b"");
    driver.engine.apply(&engine::NoReferences);
}

#[test]
fn the_drain_limit_is_exact() {
    for (left, closes) in [(99, false), (100, false), (101, true)] {
        let mut values = limits();
        values[limit::DRAIN_LIMIT] = 100.0;
        let mut driver = Driver::new(&values);
        let mut client = driver.client();
        let head = format!("POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: {left}\r\n\r\n");
        send(&mut client, head.as_bytes());
        let request = driver.request();
        driver.reply(&request, 403, b"early");
        let (received, ended) = driver.read(&mut client, ends_with("early"));
        assert_eq!(
            text(&received).contains("Connection: close"),
            closes,
            "{left}"
        );
        if closes {
            assert!(ended || driver.read(&mut client, |_| false).1);
            continue;
        }
        send(&mut client, &vec![b'.'; left]);
        send(&mut client, GET);
        let next = driver.request();
        driver.reply(&next, 200, b"next");
        driver.read(&mut client, ends_with("next"));
    }
}

#[test]
fn a_refused_head_request_has_no_content_even_when_it_waits_its_turn() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &[GET, b"HEAD /a HTTP/1.1\r\n\r\n"].concat());
    let first = driver.request();
    driver.reply(&first, 200, b"one");
    let (received, ended) = driver.read(&mut client, |_| false);
    let received = text(&received);
    assert!(ended && received.contains("HTTP/1.1 400 "), "{received}");
    assert!(received.ends_with("\r\n\r\n"), "{received}");
}

/// The descriptor of a request has 16 bits for the length of a name. A longer name would become another field.
#[test]
fn a_field_name_never_outgrows_its_descriptor() {
    let mut values = limits();
    values[limit::MAX_HEADER_SIZE] = 131_072.0;
    values[limit::MAX_HEADER_LINE] = 131_072.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let name = "n".repeat(65_540);
    send(
        &mut client,
        format!("GET /a HTTP/1.1\r\nHost: x\r\n{name}: v\r\n\r\n").as_bytes(),
    );
    let (received, _) = driver.read(&mut client, |received| received.ends_with(b"}"));
    assert!(text(&received).starts_with("HTTP/1.1 431 "));
    assert!(driver.seen.is_empty());
}

#[test]
fn a_head_larger_than_the_held_input_is_read_on() {
    let mut values = limits();
    values[limit::MAX_HEADER_SIZE] = 131_072.0;
    values[limit::MAX_HEADER_LINE] = 131_072.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n.",
    );
    let first = driver.request();
    let line = "v".repeat(45_000);
    let large = format!("GET /a HTTP/1.1\r\nHost: x\r\nX: {line}\r\nX: {line}\r\n\r\n");
    send(&mut client, &large.as_bytes()[..70_000]);
    idle(&mut driver, 20);
    driver.reply(&first, 200, b"1");
    idle(&mut driver, 20);
    send(&mut client, &large.as_bytes()[70_000..]);
    let second = driver.request();
    driver.reply(&second, 200, b"second");
    driver.read(&mut client, |received| received.ends_with(b"second"));
}

#[test]
fn a_flood_of_pipelined_requests_does_not_starve_a_single_one() {
    let mut driver = Driver::new(&limits());
    let mut single = driver.client();
    let mut flood: Vec<_> = (0..16).map(|_| driver.client()).collect();
    driver.until(|driver| driver.engine.connection_count() == 17);
    for client in &mut flood {
        send(client, &GET.repeat(2_000));
    }
    std::thread::sleep(Duration::from_millis(20));
    let read = |memory: &mut Memory, seen: &Seen| {
        answer(memory, seen);
        for client in &mut flood {
            use std::io::Read;
            let _ = client.read(&mut [0; 4_096]);
        }
    };
    let mut read = read;
    driver.turn_of(4, &mut read);
    send(&mut single, b"GET /p/single HTTP/1.1\r\nHost: x\r\n\r\n");
    driver.seen.clear();
    while driver.seen.iter().all(|seen| seen.path != "/p/single") {
        driver.turn_of(4, &mut read);
    }
    // The flood has some 30,000 requests to go.
    let place = driver.seen.len();
    assert!(place < 2_000, "{place}");
}
