//! What clients send.

use std::collections::VecDeque;

use ws::Deflater;

use super::driver::frames::{HEAD, push};
use mutants::Random;

const PLAIN: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// What a client sends, and the messages that the server has to see of it, in order.
#[derive(Default)]
pub struct Script {
    pub bytes: Vec<u8>,
    pub messages: VecDeque<Vec<u8>>,
    /// The bytes are right but for limits, so that nothing but `messages` may be seen.
    pub exact: bool,
    /// About half of its messages are compressed.
    pub compresses: bool,
}

impl Script {
    pub fn new(random: &mut Random, number: usize, mut deflater: Option<&mut Deflater>) -> Self {
        let mut script = Self {
            exact: true,
            compresses: deflater.is_some(),
            ..Self::default()
        };
        for _ in 0..random.below(2) {
            script.bytes.extend_from_slice(PLAIN);
        }
        let name = format!("/ws/{number}");
        let head = String::from_utf8_lossy(HEAD).replace("/ws/a", &name);
        script.bytes.extend_from_slice(head.as_bytes());
        let from = script.bytes.len();
        for _ in 0..random.below(40) {
            script.part(random, deflater.as_deref_mut());
        }
        if script.bytes.len() > from && random.chance(5) {
            for _ in 0..=random.below(3) {
                let at = from + random.below(script.bytes.len() - from);
                script.bytes[at] = random.next() as u8;
            }
            script.exact = false;
        }
        script
    }

    fn push(&mut self, random: &mut Random, first: u8, payload: &[u8]) {
        let mask = (random.next() as u32).to_be_bytes();
        push(&mut self.bytes, first, payload, mask);
    }

    fn control(&mut self, random: &mut Random) {
        let length = random.below(126);
        let first = [0x89, 0x8a][random.below(2)];
        self.push(random, first, &vec![b'c'; length]);
    }

    fn part(&mut self, random: &mut Random, deflater: Option<&mut Deflater>) {
        match random.below(60) {
            0 => {
                let payload: &[u8] = [&b"\x03\xe8bye"[..], b"", b"\x0f\xa1"][random.below(3)];
                self.push(random, 0x88, payload);
                // What follows is dropped.
                self.exact = false;
            }
            1 => {
                const WILD: [u8; 7] = [0x00, 0x80, 0x09, 0x83, 0xc9, 0x91, 0xc1];
                let first = WILD[random.below(WILD.len())];
                self.push(random, first, b"wild");
                self.exact = false;
            }
            2..=9 => self.control(random),
            _ => self.message(random, deflater),
        }
    }

    /// A message in one frame or several, compressed or not, with control frames inside.
    fn message(&mut self, random: &mut Random, deflater: Option<&mut Deflater>) {
        let length = match random.below(60) {
            0..=39 => random.below(126),
            40..=56 => 126 + random.below(3_000),
            57 | 58 => 65_536 + random.below(9_000),
            _ => 80_000 + random.below(2),
        };
        let unit = ["a", "b", "\u{fc}", "\u{1d11e}"][random.below(4)];
        let message = unit.repeat(length.div_ceil(unit.len())).into_bytes();
        let mut first = [1, 2][random.below(2)];
        let mut payload = message.clone();
        if let Some(deflater) = deflater.filter(|_| random.chance(2)) {
            payload.clear();
            deflater.deflate(&message, &mut payload);
            first |= 0x40;
        }
        let mut left = if random.chance(3) { random.below(9) } else { 0 };
        let mut rest = &payload[..];
        while left > 0 {
            let (frame, behind) = rest.split_at(random.below(rest.len() + 1));
            self.push(random, first, frame);
            if random.chance(4) {
                self.control(random);
            }
            (first, rest) = (0, behind);
            left -= 1;
        }
        self.push(random, first | 0x80, rest);
        self.messages.push_back(message);
    }
}

/// Every other client offers permessage-deflate, and sends compressed messages if the server takes them.
pub fn compresses(number: usize) -> bool {
    number % 2 == 1
}
