//! A panic ends only its connection: the state of the session is unknown after it.

use engine::faults::{Stage, arm};

use super::client::{Client, server};
use crate::driver::{end, limits};
use engine::NoReferences;
use ring::layout::kind;

#[test]
fn a_panic_ends_the_connection_and_nothing_else() {
    let mut driver = server(&limits());
    let mut other = Client::new(&driver);
    let id = other.get("/a");
    let waits = driver.request();
    for stage in [Stage::Parse, Stage::Route, Stage::Encode, Stage::Flush] {
        let mut client = Client::new(&driver);
        client.get("/a");
        let seen = driver.request();
        if matches!(stage, Stage::Parse | Stage::Route) {
            arm(stage, 1);
            client.get("/a");
        } else {
            arm(stage, 1);
            end(driver.engine.memory(), &seen, 200, b"lost");
            driver.engine.apply(&NoReferences);
        }
        let code = client.end(&mut driver);
        assert!(matches!(code, None | Some(2)), "{stage:?}: {code:?}");
        if stage != Stage::Encode && stage != Stage::Flush {
            assert_eq!(driver.event(kind::ABORT).slot(), seen.slot());
        }
        driver.until(|driver| driver.engine.in_flight() == 1);
    }
    assert_eq!(driver.engine.stats(driver.server).unwrap().panics, 4);
    driver.reply(&waits, 200, b"ok");
    assert_eq!(other.reply(&mut driver, id).body, b"ok");
}
