//! Bytes as a client would send them, in pieces, to an engine on a real socket; the first bytes steer the
//! handlers and the cuts. Every exchange and connection must come back, and no panic may be caught inside.
#![no_main]

#[path = "../../tests/driver/mod.rs"]
mod driver;

use std::cell::RefCell;
use std::io::Write;

use driver::{Driver, data, end, finish, grant, inform, limits, start};
use libfuzzer_sys::fuzz_target;
use ring::layout::{kind, operation};

thread_local! {
    static DRIVER: RefCell<Driver> = RefCell::new(Driver::new(&limits()));
}

fuzz_target!(|input: &[u8]| {
    let Some((steer, bytes)) = input.split_at_checked(4) else {
        return;
    };
    DRIVER.with_borrow_mut(|driver| {
        let mut client = driver.client();
        let piece = 1 + usize::from(steer[0]);
        let mut open = true;
        for (count, part) in bytes.chunks(piece).take(64).enumerate() {
            open &= client.write_all(part).is_ok();
            let choice = steer[1 + count % 3];
            driver.turn(|memory, seen| {
                if seen.kind() != kind::REQUEST {
                    return;
                }
                match choice % 6 {
                    0 => {
                        start(memory, seen, None);
                        data(memory, seen, &[b's'; 40], true);
                        finish(memory, seen);
                    }
                    1 => {
                        grant(memory, seen, operation::READ, i32::from(choice));
                        end(memory, seen, 200, b"read");
                    }
                    2 => {
                        for _ in 0..=choice % 16 {
                            inform(memory, seen, b"link", &[choice; 2000]);
                        }
                        end(memory, seen, 200, b"informed");
                    }
                    _ => end(memory, seen, 200, &vec![b'r'; usize::from(choice)]),
                }
            });
            if !open {
                break;
            }
        }
        drop(client);
        driver.until(|driver| {
            driver.engine.sweep();
            driver.engine.connection_count() == 0
        });
        driver.seen.clear();
        assert_eq!(driver.engine.in_flight(), 0);
        assert_eq!(driver.engine.stats(driver.server).map(|stats| stats.panics), Some(0));
    });
});
