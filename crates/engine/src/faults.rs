//! Injects panics, to test that no panic crosses into Node.js. It is compiled only with the `faults` feature, which no
//! published binary has.

use std::cell::Cell;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Parse,
    Route,
    Encode,
    Flush,
}

thread_local! {
    static ARMED: Cell<Option<(Stage, u32)>> = const { Cell::new(None) };
}

/// The `nth` time (1 is the next) this thread reaches `stage`, it panics once.
pub fn arm(stage: Stage, nth: u32) {
    ARMED.set(Some((stage, nth.max(1))));
}

pub fn check(stage: Stage) {
    let Some((armed, nth)) = ARMED.get() else {
        return;
    };
    if armed != stage {
        return;
    }
    ARMED.set((nth > 1).then(|| (stage, nth - 1)));
    assert!(nth > 1, "injected panic: {stage:?}");
}
