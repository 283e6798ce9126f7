//! Which request comes next, and what it says.

use crate::plan::Plan;
use crate::spec::Order;
use crate::tally::Check;
use crate::template::Values;
use volant_load::random::Random;

/// How a request is given up.
#[derive(Clone, Copy)]
pub struct Abort {
    /// Only so many bytes of it are sent; `None` for all.
    pub cut: Option<usize>,
    /// With a reset rather than an orderly close.
    pub reset: bool,
}

pub struct Draw {
    random: Random,
    /// Sums of the weights up to each request.
    weights: Vec<u64>,
    position: usize,
    unique: u64,
    /// Requests until the next that is compared.
    countdown: u64,
    values: Values,
    body: Vec<u8>,
}

impl Draw {
    pub fn new(plan: &Plan) -> Self {
        let mut random = Random::new(plan.seed);
        let mut sum = 0u64;
        let weights = plan
            .requests
            .iter()
            .map(|request| {
                sum = sum.saturating_add(request.weight);
                sum
            })
            .collect();
        // Below 2^53, so that JavaScript reads it exactly; 2^32 apart for different seeds, but for one in a million.
        let unique = random.below(1 << 20) << 32;
        let mut draw = Self {
            random,
            weights,
            position: 0,
            unique,
            countdown: 0,
            values: Values::default(),
            body: Vec::new(),
        };
        draw.countdown = draw.distance(plan.verify_every);
        draw
    }

    /// The next request's place in the mix.
    #[inline]
    pub fn next(&mut self, plan: &Plan) -> u32 {
        if self.weights.len() == 1 {
            return 0;
        }
        let index = match plan.order {
            Order::Rotate => {
                let index = self.position;
                self.position = (index + 1) % self.weights.len();
                index
            }
            Order::Weighted => {
                let total = self.weights.last().copied().unwrap_or(1);
                let point = self.random.below(total);
                self.weights.partition_point(|sum| *sum <= point)
            }
        };
        index as u32
    }

    /// Appends request `index` to `into`. Gives whether its reply is to be compared, and with what.
    #[inline]
    pub fn render(
        &mut self,
        plan: &Plan,
        index: u32,
        into: &mut Vec<u8>,
    ) -> (bool, Option<Box<Check>>) {
        let request = &plan.requests[index as usize];
        if let Some(bytes) = request.constant() {
            into.extend_from_slice(bytes);
        } else {
            self.values.draw(&request.ranges, &mut self.random);
            self.values.unique = self.unique;
            self.unique += 1;
            request.render(&self.values, &mut self.body, into);
        }
        self.countdown -= 1;
        if self.countdown > 0 {
            return (false, None);
        }
        self.countdown = self.distance(plan.verify_every);
        let expect = &request.expect;
        if expect.body.is_none() && expect.contains.is_none() {
            return (true, None);
        }
        let fill = |template: &crate::template::Template| {
            let mut bytes = Vec::new();
            template.render(&self.values, &mut bytes);
            bytes
        };
        let check = Check {
            body: expect.body.as_ref().map(fill),
            contains: expect.contains.as_ref().map(fill),
        };
        (true, Some(Box::new(check)))
    }

    /// Whether and how the next request, of `length` bytes, is given up.
    pub fn abort(&mut self, plan: &Plan, length: usize) -> Option<Abort> {
        if !self.random.chance(plan.abort_share) {
            return None;
        }
        Some(Abort {
            cut: self
                .random
                .chance(0.5)
                .then(|| self.random.below(length as u64) as usize),
            reset: self.random.chance(0.5),
        })
    }

    /// Some time below `limit`.
    pub fn moment(&mut self, limit: u64) -> u64 {
        self.random.below(limit.max(1))
    }

    /// 1 to 2 `every` − 1, `every` on average: at a fixed distance a mix that rotates could have the same request compared
    /// each time.
    fn distance(&mut self, every: u64) -> u64 {
        if every == 1 {
            return 1;
        }
        1 + self.random.below(every.saturating_mul(2) - 1)
    }
}
