//! Bodies that stay in JavaScript's hands.

use std::cell::Cell;
use std::rc::Rc;

use engine::{References, Retained};

/// A body in JavaScript's hands.
#[derive(Clone)]
pub struct Shared {
    pub bytes: Rc<Vec<u8>>,
    /// The memory is still what was handed over.
    pub whole: Rc<Cell<bool>>,
    /// How many references the engine holds.
    pub held: Rc<Cell<usize>>,
}

impl Shared {
    pub fn new(length: usize) -> Self {
        Self {
            bytes: Rc::new((0..length).map(|at| at as u8).collect()),
            whole: Rc::new(Cell::new(true)),
            held: Rc::default(),
        }
    }
}

impl References for Shared {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(&self.bytes)
    }

    fn retain(&self, _: u32) -> Option<Box<dyn Retained>> {
        self.held.set(self.held.get() + 1);
        Some(Box::new(View(self.clone())))
    }
}

struct View(Shared);

impl Retained for View {
    fn bytes(&self) -> Option<&[u8]> {
        self.0.whole.get().then_some(&self.0.bytes)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get() - 1);
    }
}
