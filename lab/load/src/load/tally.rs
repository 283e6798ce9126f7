//! What the window saw: counts, faults and latencies, and the line that reports them.

use std::collections::BTreeMap;

use reactor::clock;
use serde::Serialize;

use crate::plan::Plan;
use crate::reply::Reply;
use volant_load::histogram::Histogram;

/// First bytes of a body in which what it must contain is looked for.
const SEARCHED: usize = 1024 * 1024;
/// Bytes of a description of a fault.
const MAX_FAULT: usize = 200;
const PERCENTILES: [(&str, f64); 7] = [
    ("50", 50.0),
    ("75", 75.0),
    ("90", 90.0),
    ("95", 95.0),
    ("99", 99.0),
    ("99.9", 99.9),
    ("99.99", 99.99),
];

/// A request that was sent and is not answered.
pub struct Sent {
    /// What its latency counts from: when it was due in an open loop, when it was sent in a closed one. In ns.
    pub origin: u64,
    /// When it was sent, in ns.
    pub at: u64,
    /// Its place in the mix.
    pub request: u32,
    /// Whether its reply is to be compared.
    pub verify: bool,
    /// What the reply is compared with, filled in for this request.
    pub check: Option<Box<Check>>,
}

pub struct Check {
    pub body: Option<Vec<u8>>,
    pub contains: Option<Vec<u8>>,
}

impl Check {
    /// Bytes of the reply's body that are needed for the comparison: one more than expected tells that it is longer.
    pub fn most(&self) -> usize {
        let compared = self.body.as_ref().map_or(0, |body| body.len() + 1);
        match self.contains {
            Some(_) => compared.max(SEARCHED),
            None => compared,
        }
    }
}

#[derive(Default, Clone, Serialize)]
pub struct SocketErrors {
    pub connect: u64,
    pub read: u64,
    pub write: u64,
    pub timeout: u64,
}

pub struct Tally {
    start: u64,
    cpu_at_start: u64,
    histogram: Histogram,
    pub requests: u64,
    per_request: Vec<u64>,
    status: BTreeMap<u16, u64>,
    pub received: u64,
    pub sent: u64,
    wrong_status: u64,
    wrong_length: u64,
    wrong_body: u64,
    wrong_nonce: u64,
    malformed: u64,
    verified: u64,
    within_limit: u64,
    first_fault: Option<String>,
    pub errors: SocketErrors,
    pub reconnects: u64,
    pub close_ignored: u64,
    pub aborted: u64,
    pub late_sends: u64,
    pub longest_queue: u64,
    last_reply: u64,
    longest_silence: u64,
    /// The status of the last reply, so that the map is not asked for each.
    run: (u16, u64),
}

/// The result line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    event: &'static str,
    seconds: f64,
    requests: u64,
    total_replies: u64,
    requests_per_second: f64,
    bytes_received: u64,
    bytes_sent: u64,
    status: BTreeMap<String, u64>,
    wrong_status: u64,
    wrong_length: u64,
    wrong_body: u64,
    wrong_nonce: u64,
    malformed: u64,
    verified: u64,
    within_limit: Option<u64>,
    first_fault: Option<String>,
    socket_errors: SocketErrors,
    reconnects: u64,
    close_ignored: u64,
    aborted: u64,
    ungreeted: u64,
    unfinished: u64,
    oldest_microseconds: f64,
    late_sends: u64,
    longest_queue: u64,
    mean_microseconds: f64,
    mean_in_flight: f64,
    min_microseconds: f64,
    max_microseconds: f64,
    percentiles: BTreeMap<&'static str, Option<f64>>,
    standard_deviation_microseconds: f64,
    histogram: Vec<(f64, u64)>,
    generator_cpu_seconds: f64,
    stalled_microseconds: f64,
    per_request: Vec<PerRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gave_up: Option<String>,
}

/// What is known at the end of a run beside what was counted.
pub struct Outcome {
    /// Replies before the window.
    pub earlier: u64,
    /// Connections that were not answered before the warm-up.
    pub ungreeted: u64,
    /// Requests without a reply.
    pub unfinished: u64,
    /// Age of the oldest of them in flight, in ns.
    pub oldest: u64,
    /// Requests in flight, averaged over the window.
    pub in_flight: f64,
    pub gave_up: Option<String>,
}

#[derive(Serialize)]
struct PerRequest {
    index: usize,
    requests: u64,
}

impl Tally {
    /// Counts from `start`, in ns.
    pub fn new(plan: &Plan, start: u64) -> Self {
        Self {
            start,
            cpu_at_start: clock::process_cpu_ns(),
            histogram: Histogram::new(),
            requests: 0,
            per_request: vec![0; plan.requests.len()],
            status: BTreeMap::new(),
            received: 0,
            sent: 0,
            wrong_status: 0,
            wrong_length: 0,
            wrong_body: 0,
            wrong_nonce: 0,
            malformed: 0,
            verified: 0,
            within_limit: 0,
            first_fault: None,
            errors: SocketErrors::default(),
            reconnects: 0,
            close_ignored: 0,
            aborted: 0,
            late_sends: 0,
            longest_queue: 0,
            last_reply: start,
            longest_silence: 0,
            run: (0, 0),
        }
    }

    /// Counts and judges the reply to `sent`, whose last byte came at `now`. `body` is its body if `sent` has a check.
    #[inline]
    pub fn reply(&mut self, plan: &Plan, sent: &Sent, reply: Reply, body: &[u8], now: u64) {
        self.requests += 1;
        self.per_request[sent.request as usize] += 1;
        let latency = now.saturating_sub(sent.origin);
        self.histogram.record(latency);
        self.longest_silence = self
            .longest_silence
            .max(now.saturating_sub(self.last_reply));
        self.last_reply = now;
        if self.run.0 == reply.status {
            self.run.1 += 1;
        } else {
            self.end_run();
            self.run = (reply.status, 1);
        }
        let request = &plan.requests[sent.request as usize];
        let judged = plan.expect_status_always || sent.verify;
        if judged && !request.expect.status.contains(&reply.status) {
            self.wrong_status += 1;
            let status = &request.expect.status;
            self.fault(plan, sent, || {
                let expected = if status.start() == status.end() {
                    status.start().to_string()
                } else {
                    format!("{} to {}", status.start(), status.end())
                };
                format!("expected status {expected}, got {}", reply.status)
            });
            return;
        }
        let length = if request.bodiless {
            reply.declared
        } else {
            Some(reply.length)
        };
        if let Some(expected) = request.expect.length
            && length != Some(expected)
        {
            self.wrong_length += 1;
            self.fault(plan, sent, || match length {
                Some(length) => format!("expected {expected} bytes of body, got {length}"),
                None => format!("expected a Content-Length of {expected}, got none"),
            });
            return;
        }
        if let Some(check) = &sent.check
            && !self.compare(plan, sent, check, body)
        {
            return;
        }
        if plan.limit.is_some_and(|limit| latency <= limit) {
            self.within_limit += 1;
        }
    }

    /// Whether `body` is what was expected.
    fn compare(&mut self, plan: &Plan, sent: &Sent, check: &Check, body: &[u8]) -> bool {
        self.verified += 1;
        if let Some(expected) = &check.body
            && body != expected
        {
            self.wrong_body += 1;
            self.fault(plan, sent, || {
                format!("expected the body {}, got {}", text(expected), text(body))
            });
            return false;
        }
        if let Some(expected) = &check.contains
            && memchr::memmem::find(body, expected).is_none()
        {
            self.wrong_nonce += 1;
            self.fault(plan, sent, || {
                format!(
                    "expected a body that contains {}, got {}",
                    text(expected),
                    text(body)
                )
            });
            return false;
        }
        true
    }

    /// Bytes that are no reply to `sent`, or to nothing.
    pub fn malformed(&mut self, plan: &Plan, sent: Option<&Sent>, why: &str, bytes: &[u8]) {
        self.malformed += 1;
        let what = || format!("malformed reply: {why}: {}", text(bytes));
        match sent {
            Some(sent) => self.fault(plan, sent, what),
            None if self.first_fault.is_none() => self.first_fault = Some(cut(&what())),
            None => {}
        }
    }

    /// The latency of a request that has no reply.
    pub fn unanswered(&mut self, latency: u64) {
        self.histogram.record(latency);
    }

    /// `sent` will never have its reply. An open loop owes every request a latency, and one that was lost at least the
    /// timeout: a server must not look quick by closing connections.
    pub fn lost(&mut self, plan: &Plan, sent: &Sent, now: u64) {
        self.unanswered(now.saturating_sub(sent.origin).max(plan.timeout));
    }

    fn fault(&mut self, plan: &Plan, sent: &Sent, what: impl Fn() -> String) {
        if self.first_fault.is_none() {
            let request = &plan.requests[sent.request as usize];
            self.first_fault = Some(cut(&format!(
                "{} {}: {}",
                request.method,
                request.path,
                what()
            )));
        }
    }

    fn end_run(&mut self) {
        if self.run.1 > 0 {
            *self.status.entry(self.run.0).or_default() += self.run.1;
        }
    }

    /// Ends the window at `end`, in ns.
    pub fn report(mut self, plan: &Plan, end: u64, outcome: Outcome) -> Report {
        self.end_run();
        let seconds = (end - self.start) as f64 / 1e9;
        let histogram = &self.histogram;
        Report {
            event: "result",
            seconds,
            requests: self.requests,
            total_replies: outcome.earlier + self.requests,
            requests_per_second: if seconds > 0.0 {
                self.requests as f64 / seconds
            } else {
                0.0
            },
            bytes_received: self.received,
            bytes_sent: self.sent,
            status: self
                .status
                .iter()
                .map(|(status, count)| (status.to_string(), *count))
                .collect(),
            wrong_status: self.wrong_status,
            wrong_length: self.wrong_length,
            wrong_body: self.wrong_body,
            wrong_nonce: self.wrong_nonce,
            malformed: self.malformed,
            verified: self.verified,
            within_limit: plan.limit.map(|_| self.within_limit),
            first_fault: self.first_fault,
            socket_errors: self.errors,
            reconnects: self.reconnects,
            close_ignored: self.close_ignored,
            aborted: self.aborted,
            ungreeted: outcome.ungreeted,
            unfinished: outcome.unfinished,
            oldest_microseconds: microseconds(outcome.oldest),
            late_sends: self.late_sends,
            longest_queue: self.longest_queue,
            mean_microseconds: histogram.mean() / 1e3,
            mean_in_flight: outcome.in_flight,
            min_microseconds: microseconds(histogram.smallest()),
            max_microseconds: microseconds(histogram.largest()),
            percentiles: PERCENTILES
                .iter()
                .map(|(name, percent)| (*name, histogram.percentile(*percent).map(microseconds)))
                .collect(),
            standard_deviation_microseconds: histogram.standard_deviation() / 1e3,
            histogram: histogram
                .coarse()
                .into_iter()
                .map(|(lowest, count)| (microseconds(lowest), count))
                .collect(),
            generator_cpu_seconds: (clock::process_cpu_ns() - self.cpu_at_start) as f64 / 1e9,
            stalled_microseconds: microseconds(
                self.longest_silence
                    .max(end.saturating_sub(self.last_reply)),
            ),
            per_request: self
                .per_request
                .iter()
                .enumerate()
                .map(|(index, requests)| PerRequest {
                    index,
                    requests: *requests,
                })
                .collect(),
            gave_up: outcome.gave_up,
        }
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn text(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(MAX_FAULT)];
    format!("\"{}\"", String::from_utf8_lossy(shown).escape_debug())
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_FAULT {
        return text.into();
    }
    let end = (0..=MAX_FAULT - '…'.len_utf8())
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}…", &text[..end])
}
