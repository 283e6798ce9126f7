//! Runs the fuzz of connections by itself; `delayed` runs it over a transport that delays.

#[path = "../direct/driver/mod.rs"]
mod driver;
mod fuzz;
