//! The table of counts from the outside.

mod cases;
mod table;
