//! The verdicts of the corpus, what an accepted head says, the limits at their boundaries, and every cut.

#[path = "../corpus/mod.rs"]
mod corpus;
mod cuts;
mod heads;
mod limits;
mod path;

use corpus::feed_head;
use wire::{Head, Limits, Refusal};

fn accept(text: &str) -> Head {
    match feed_head(text.as_bytes(), [], &Limits::default()) {
        Ok(Some(head)) => head,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn verdict(bytes: &[u8], limits: &Limits) -> Result<bool, Refusal> {
    feed_head(bytes, [], limits).map(|head| head.is_some())
}
