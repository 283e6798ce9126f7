//! The spec as it is written: JSON in which unknown keys are refused by name. [`crate::plan`] checks what it says.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What to send, how, and for how long.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Host and port.
    pub address: String,
    #[serde(default = "one")]
    pub connections: u64,
    /// Requests in flight on each connection.
    #[serde(default = "one")]
    pub pipelining: u64,
    #[serde(default)]
    pub connection: Lifetime,
    /// Requests/s over all connections; `null` for a closed loop.
    #[serde(default)]
    pub rate: Option<f64>,
    #[serde(default)]
    pub warmup_seconds: f64,
    pub seconds: f64,
    /// Replies after which the window ends early.
    #[serde(default)]
    pub max_requests: Option<u64>,
    #[serde(default = "five")]
    pub timeout_seconds: f64,
    /// Right replies that come within it are counted.
    #[serde(default)]
    pub limit_seconds: Option<f64>,
    pub requests: Vec<RequestSpec>,
    #[serde(default)]
    pub order: Order,
    /// One reply in so many is compared byte for byte.
    #[serde(default = "hundred")]
    pub verify_every: u64,
    /// Probability that a request is given up half-way.
    #[serde(default)]
    pub abort_share: f64,
    #[serde(default = "one")]
    pub seed: u64,
    /// Whether the status of every reply is looked at, or only of those that are compared.
    #[serde(default = "yes")]
    pub expect_status_always: bool,
    /// Keep the connections open after the window until standard input says so.
    #[serde(default)]
    pub hold: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestSpec {
    #[serde(default = "one")]
    pub weight: u64,
    #[serde(default = "get")]
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub headers: Headers,
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    pub expect: Expect,
}

/// What the reply must be. Without a status, any from 200 to 299 is right.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    #[serde(default)]
    pub status: Option<u16>,
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    pub length: Option<u64>,
    #[serde(default)]
    pub contains: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Lifetime {
    #[default]
    #[serde(rename = "keep-alive")]
    KeepAlive,
    /// A new connection for each request.
    #[serde(rename = "close")]
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By chance, in proportion to the weights.
    #[default]
    Weighted,
    /// One after the other, from the first again after the last.
    Rotate,
}

/// Names and values in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(pub Vec<(String, String)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Headers;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object of header names and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Headers(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn one() -> u64 {
    1
}

fn five() -> f64 {
    5.0
}

fn hundred() -> u64 {
    100
}

fn get() -> String {
    "GET".into()
}

fn yes() -> bool {
    true
}
