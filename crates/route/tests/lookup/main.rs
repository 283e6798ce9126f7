//! Routers from the outside: cases, and what a second reading and another router say.

mod cases;
mod matchit;
mod random;
