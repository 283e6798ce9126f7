//! The command line: a spec in a file, or flags that make one.

use std::io;

use serde::Deserialize;

use crate::spec::{Expect, Headers, Lifetime, Order, RequestSpec, Spec};

pub const HELP: &str = include_str!("help.txt");

#[derive(Debug)]
pub enum Command {
    Help,
    Run(Invocation),
}

#[derive(Debug)]
pub struct Invocation {
    pub spec: Spec,
    pub allow_remote: bool,
    /// The spec came on standard input, which goes on after it.
    pub from_input: bool,
}

/// The error is one line that says what is wrong and what would do.
pub fn read(arguments: &[String]) -> Result<Command, String> {
    let mut flags = Flags::default();
    let mut rest = arguments.iter();
    let mut file = None;
    let mut allow_remote = false;
    while let Some(argument) = rest.next() {
        let (name, mut inline) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_string())),
            _ => (argument.as_str(), None),
        };
        let mut value = || {
            inline
                .take()
                .or_else(|| rest.next().cloned())
                .ok_or_else(|| format!("{name} needs a value: see load --help"))
        };
        match name {
            "--help" | "-h" => return Ok(Command::Help),
            "--allow-remote" => allow_remote = true,
            "--close" => flags.close = true,
            "--spec" => file = Some(value()?),
            "--connections" => flags.connections = number(name, &value()?)?,
            "--duration" => flags.duration = number(name, &value()?)?,
            "--warmup" => flags.warmup = number(name, &value()?)?,
            "--pipelining" => flags.pipelining = number(name, &value()?)?,
            "--rate" => flags.rate = Some(number(name, &value()?)?),
            "--timeout" => flags.timeout = number(name, &value()?)?,
            "--requests" => flags.requests = Some(number(name, &value()?)?),
            "--abort" => flags.abort = number(name, &value()?)?,
            "--seed" => flags.seed = number(name, &value()?)?,
            "--method" => flags.method = Some(value()?),
            "--body" => flags.body = Some(value()?),
            "--header" => {
                let header = value()?;
                let (name, value) = header
                    .split_once(':')
                    .ok_or_else(|| format!("--header {header:?} must look like 'Name: value'"))?;
                flags
                    .headers
                    .push((name.trim().into(), value.trim().into()));
            }
            _ if name.starts_with('-') && name.len() > 1 => {
                return Err(format!("unknown flag {name}: see load --help"));
            }
            _ if flags.url.is_none() => flags.url = Some(argument.clone()),
            _ => {
                return Err(format!(
                    "{argument:?} is a second URL: give one, or a mix with --spec"
                ));
            }
        }
        if let Some(value) = inline {
            return Err(format!("{name} takes no value, {value:?} was given"));
        }
    }
    let spec =
        match (&file, &flags.url) {
            (None, None) => return Err("a URL or --spec FILE is needed: see load --help".into()),
            (Some(file), None) if flags == Flags::default() => read_spec(file)?,
            (Some(_), _) => return Err(
                "--spec says everything: no URL and no other flag but --allow-remote goes with it"
                    .into(),
            ),
            (None, Some(url)) => flags.clone().spec(url)?,
        };
    Ok(Command::Run(Invocation {
        spec,
        allow_remote,
        from_input: file.as_deref() == Some("-"),
    }))
}

fn read_spec(file: &str) -> Result<Spec, String> {
    let spec = if file == "-" {
        // Only the value itself is read: what follows on standard input ends the hold.
        Spec::deserialize(&mut serde_json::Deserializer::from_reader(
            io::stdin().lock(),
        ))
    } else {
        let text = std::fs::read(file).map_err(|error| format!("--spec {file}: {error}"))?;
        serde_json::from_slice(&text)
    };
    spec.map_err(|error| format!("--spec {file}: {error}"))
}

#[derive(Clone, PartialEq)]
struct Flags {
    url: Option<String>,
    connections: u64,
    duration: f64,
    warmup: f64,
    pipelining: u64,
    rate: Option<f64>,
    close: bool,
    method: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    timeout: f64,
    requests: Option<u64>,
    abort: f64,
    seed: u64,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            url: None,
            connections: 100,
            duration: 10.0,
            warmup: 0.0,
            pipelining: 1,
            rate: None,
            close: false,
            method: None,
            headers: Vec::new(),
            body: None,
            timeout: 5.0,
            requests: None,
            abort: 0.0,
            seed: 1,
        }
    }
}

impl Flags {
    fn spec(self, url: &str) -> Result<Spec, String> {
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| format!("{url:?} must begin with http:// (TLS is not spoken)"))?;
        let (host, path) = match rest.find(['/', '?']) {
            Some(at) if rest[at..].starts_with('/') => (&rest[..at], rest[at..].to_string()),
            Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
            None => (rest, "/".to_string()),
        };
        let has_port = host.rsplit(']').next().is_some_and(|end| end.contains(':'));
        let method = self
            .method
            .unwrap_or_else(|| if self.body.is_some() { "POST" } else { "GET" }.into());
        Ok(Spec {
            address: if has_port {
                host.into()
            } else {
                format!("{host}:80")
            },
            connections: self.connections,
            pipelining: self.pipelining,
            connection: if self.close {
                Lifetime::Close
            } else {
                Lifetime::KeepAlive
            },
            rate: self.rate,
            warmup_seconds: self.warmup,
            seconds: self.duration,
            max_requests: self.requests,
            timeout_seconds: self.timeout,
            limit_seconds: None,
            requests: vec![RequestSpec {
                weight: 1,
                method,
                path: path.split('#').next().unwrap_or("/").to_string(),
                headers: Headers(self.headers),
                body: self.body,
                expect: Expect::default(),
            }],
            order: Order::Weighted,
            verify_every: 100,
            abort_share: self.abort,
            seed: self.seed,
            expect_status_always: true,
            hold: false,
        })
    }
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{flag} {text:?} is not a number: see load --help"))
}
