//! What JavaScript writes: replies and their parts, signals, and credit.

use engine::{NoReferences, References};
use ring::layout::{RECORD_WORDS, kind, operation, record};
use ring::{Memory, Record};

use super::{Driver, Seen};

pub fn make(to: &Seen, op: i32, high: i32) -> Record {
    let mut words = [0; RECORD_WORDS];
    words[record::SLOT] = to.slot();
    words[record::GENERATION] = to.generation();
    words[record::OPERATION] = op | high << 16;
    Record(words)
}

pub fn end(memory: &mut Memory, to: &Seen, status: i32, body: &[u8]) {
    memory.push_record(make(to, operation::END, status), &[], body);
}

pub fn start(memory: &mut Memory, to: &Seen, length: Option<u64>) {
    let mut head = make(to, operation::START, 200);
    head.0[record::BODY_OFFSET] = length.unwrap_or(u64::MAX) as i32;
    head.0[record::BODY_LENGTH] = length.map_or(-1, |length| (length >> 32) as i32);
    memory.push_record(head, &[], &[]);
}

pub fn data(memory: &mut Memory, to: &Seen, bytes: &[u8], want_drain: bool) {
    memory.push_record(make(to, operation::DATA, i32::from(want_drain)), &[], bytes);
}

pub fn finish(memory: &mut Memory, to: &Seen) {
    memory.push_record(make(to, operation::FINISH, 0), &[], &[]);
}

/// Early hints with one field.
pub fn inform(memory: &mut Memory, to: &Seen, name: &[u8], value: &[u8]) {
    let mut block = (name.len() as u16).to_le_bytes().to_vec();
    block.extend((value.len() as u16).to_le_bytes());
    block.extend(name);
    block.extend(value);
    memory.push_record(make(to, operation::INFORM, 103), &block, &[]);
}

/// `read` or `credit`: the amount stands where a body's offset would.
pub fn grant(memory: &mut Memory, to: &Seen, op: i32, amount: i32) {
    let mut signal = make(to, op, 0);
    signal.0[record::BODY_OFFSET] = amount;
    memory.push_signal(signal);
}

pub fn allow(driver: &mut Driver, to: &Seen, op: i32, amount: i32) {
    grant(driver.engine.memory(), to, op, amount);
    driver.engine.apply(&NoReferences);
}

struct One(Vec<u8>);

impl References for One {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// Replies with `length` bytes by reference: more than the socket's buffers take at once.
pub fn reply_large(driver: &mut Driver, to: &Seen, length: usize) {
    let mut words = make(to, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = length as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&One(vec![b'L'; length]));
}

pub fn answer(memory: &mut Memory, seen: &Seen) {
    if seen.kind() == kind::REQUEST {
        end(memory, seen, 200, b"!");
    }
}
