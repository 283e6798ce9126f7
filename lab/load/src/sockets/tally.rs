//! What is counted, and the result that is told.

use std::collections::BTreeMap;

use reactor::clock;
use serde::Serialize;
use volant_load::histogram::Histogram;

const MAX_FAULT: usize = 300;
const PERCENTILES: [(&str, f64); 4] = [("50", 50.0), ("95", 95.0), ("99", 99.0), ("99.9", 99.9)];

/// Of a window, or of what came before it.
pub struct Tally {
    start: u64,
    cpu_at_start: u64,
    /// Echoes that came, or messages that were published and have come to all.
    pub messages: u64,
    pub deliveries: u64,
    pub received: u64,
    pub latencies: Histogram,
}

#[derive(Default)]
pub struct Faults {
    counts: BTreeMap<&'static str, u64>,
    first: Option<String>,
}

/// Of the whole run, beside the window.
#[derive(Default)]
pub struct Whole {
    pub messages: u64,
    pub deliveries: u64,
    /// Open at the end, without publishers and the one more.
    pub open: usize,
    pub pings: u64,
    /// ns.
    pub opening: u64,
    pub first_echo: Option<u64>,
}

/// The result line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    event: &'static str,
    seconds: f64,
    messages: u64,
    total_messages: u64,
    deliveries: u64,
    total_deliveries: u64,
    bytes_received: u64,
    open: usize,
    opening_microseconds: f64,
    first_echo_microseconds: Option<f64>,
    pings: u64,
    faults: BTreeMap<&'static str, u64>,
    first_fault: Option<String>,
    mean_microseconds: f64,
    min_microseconds: f64,
    max_microseconds: f64,
    standard_deviation_microseconds: f64,
    percentiles: BTreeMap<&'static str, Option<f64>>,
    histogram: Vec<(f64, u64)>,
    generator_cpu_seconds: f64,
}

impl Faults {
    pub fn any(&self) -> bool {
        self.first.is_some()
    }

    /// `name` is one of those that help.txt has.
    pub fn add(&mut self, name: &'static str, count: u64, what: &str) {
        *self.counts.entry(name).or_default() += count;
        if self.first.is_none() {
            self.first = Some(what.chars().take(MAX_FAULT).collect());
        }
    }
}

impl Tally {
    pub fn new(start: u64) -> Self {
        Self {
            start,
            cpu_at_start: clock::process_cpu_ns(),
            messages: 0,
            deliveries: 0,
            received: 0,
            latencies: Histogram::new(),
        }
    }

    /// Ends the window at `end`, in ns.
    pub fn report(self, end: u64, whole: &Whole, faults: Faults) -> Report {
        let histogram = &self.latencies;
        Report {
            event: "result",
            seconds: (end - self.start) as f64 / 1e9,
            messages: self.messages,
            total_messages: whole.messages + self.messages,
            deliveries: self.deliveries,
            total_deliveries: whole.deliveries + self.deliveries,
            bytes_received: self.received,
            open: whole.open,
            opening_microseconds: microseconds(whole.opening),
            first_echo_microseconds: whole.first_echo.map(microseconds),
            pings: whole.pings,
            faults: faults.counts,
            first_fault: faults.first,
            mean_microseconds: histogram.mean() / 1e3,
            min_microseconds: microseconds(histogram.smallest()),
            max_microseconds: microseconds(histogram.largest()),
            standard_deviation_microseconds: histogram.standard_deviation() / 1e3,
            percentiles: PERCENTILES
                .iter()
                .map(|(name, percent)| (*name, histogram.percentile(*percent).map(microseconds)))
                .collect(),
            histogram: histogram
                .coarse()
                .into_iter()
                .map(|(lowest, count)| (microseconds(lowest), count))
                .collect(),
            generator_cpu_seconds: (clock::process_cpu_ns() - self.cpu_at_start) as f64 / 1e9,
        }
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}
