//! Reads the records that JavaScript wrote, and has each exchange do what its record says.

use ring::Record;
use ring::layout::{RECORD_WORDS, operation};

use crate::engine::{Core, Engine};
use crate::exchange::Slot;
use crate::output::Retained;

/// Bodies that JavaScript handed over by reference. They are valid until JavaScript runs again.
pub trait References {
    fn bytes(&self, index: u32) -> Option<&[u8]>;

    /// Keeps a body for longer, or gives `None` where it cannot be kept.
    fn retain(&self, _index: u32) -> Option<Box<dyn Retained>> {
        None
    }
}

/// No bodies, for callers without JavaScript.
pub struct NoReferences;

impl References for NoReferences {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        None
    }
}

impl Engine {
    /// Applies every record JavaScript wrote since the last call and sends what became ready.
    pub fn apply(&mut self, references: &dyn References) {
        let Self { memory, core } = self;
        for index in 0..memory.records() {
            core.apply_record(&memory.record(index), memory.out(), references);
        }
        memory.clear_records();
        core.flush();
    }

    /// Applies a chunk of records JavaScript set aside when the shared memory was full. Chunks are older
    /// than what [`apply`](Self::apply) reads, and come first.
    pub fn apply_chunk(&mut self, records: &[i32], out: &[u8], references: &dyn References) {
        for words in records.chunks_exact(RECORD_WORDS) {
            let mut record = [0; RECORD_WORDS];
            record.copy_from_slice(words);
            self.core.apply_record(&Record(record), out, references);
        }
    }

    /// Gives whether records wait to be applied.
    pub fn has_records(&self) -> bool {
        self.memory.records() > 0 || self.memory.control(ring::layout::control::OVERFLOW) > 0
    }

    /// Gives whether a record names a body by reference.
    pub fn has_references(&self) -> bool {
        self.memory.control(ring::layout::control::REFERENCES) > 0
    }

    pub fn overflow(&self) -> usize {
        self.memory.control(ring::layout::control::OVERFLOW).max(0) as usize
    }

    pub fn clear_overflow(&mut self) {
        self.memory.set_control(ring::layout::control::OVERFLOW, 0);
    }
}

impl Core {
    fn apply_record(&mut self, record: &Record, out: &[u8], references: &dyn References) {
        if record.operation() == operation::PUBLISH {
            self.publish(record, out, references);
            return;
        }
        let Some(exchange) = self
            .exchanges
            .live(Slot(record.slot()), record.generation())
        else {
            return;
        };
        let id = exchange.connection;
        let slot = Slot(record.slot());
        self.guarded(id, |core| {
            if !core.sender.gathers_for(id) {
                core.leave_cork();
                if core.exchanges.live(slot, record.generation()).is_none() {
                    return;
                }
            }
            core.sender.mark();
            core.operate(id, slot, record, out, references);
        });
    }
}
