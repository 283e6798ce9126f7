//! How many connections and requests there may be, and two servers of one engine.

use super::GET;
use crate::driver::{Driver, end, limits, send, text};
use ring::layout::{limit, request};

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
