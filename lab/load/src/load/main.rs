//! `load`: loads an HTTP/1.1 server, checks what it answers and measures how long it takes. `load --help` tells how.
//!
//! The command line becomes a spec (`arguments`, `spec`), which is checked in full (`plan`, `request`, `template`)
//! before the first connection. `run` owns the loop: it opens connections (`connection`) and leads them through warm-up
//! and window. `traffic` is what happens on them: requests are drawn (`draw`), in an open loop when they are due
//! (`schedule`); replies are read (`reply`, `chunked`), judged and counted (`tally`, `gauge`, `histogram`).
//!
//! Two rules keep the figures honest. An open loop counts latency from when a request was due, and a request that never
//! was answered is counted with the time it has waited. And a reply is a reply only if it is the right one: whatever is
//! wrong with it is counted under a name of its own.

#![forbid(unsafe_code)]

mod arguments;
mod chunked;
mod connection;
mod draw;
mod gauge;
mod plan;
mod reply;
mod request;
mod run;
mod schedule;
mod spec;
mod tally;
mod template;
mod traffic;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use arguments::Command;
use plan::Plan;
use run::{Failure, Progress, Run};

/// How long `hold` waits for whoever reads the events.
const HOLD: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let invocation = match arguments::read(&arguments) {
        Ok(Command::Help) => {
            print!("{}", arguments::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Command::Run(invocation)) => invocation,
        Err(fault) => return fail(2, &fault),
    };
    let plan = match Plan::new(&invocation.spec, invocation.allow_remote) {
        Ok(plan) => plan,
        Err(fault) => return fail(2, &fault),
    };
    match measure(&plan, invocation.from_input) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Connect(why)) => fail(
            1,
            &format!(
                "could not open {} connections to {}: {why}; is the server listening there?",
                plan.connections, plan.address
            ),
        ),
        Err(Failure::System(error)) => fail(1, &error.to_string()),
    }
}

fn fail(status: u8, message: &str) -> ExitCode {
    eprintln!("load: {message}");
    ExitCode::from(status)
}

fn measure(plan: &Plan, from_input: bool) -> Result<(), Failure> {
    reactor::process::catch_stop_signals()?;
    let mut run = Run::new(plan)?;
    let report = run.run(|progress| match progress {
        Progress::Connected => say(&json!({ "event": "connected" })),
        Progress::Warm(at) => say(&json!({ "event": "warm", "at": at })),
        Progress::Measured => say(&json!({ "event": "measured" })),
    })?;
    if plan.hold {
        hold(from_input);
    }
    drop(run);
    say(&report)?;
    Ok(())
}

fn say(event: &impl serde::Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Waits for a line or the end of standard input. After a spec that came the same way, the rest of its line is not one.
fn hold(from_input: bool) {
    let (done, wait) = mpsc::channel();
    // The thread may be left behind in its read: the process ends without it.
    thread::spawn(move || {
        let mut line = String::new();
        if from_input {
            let _ = io::stdin().read_line(&mut line);
        }
        let _ = io::stdin().read_line(&mut line);
        let _ = done.send(());
    });
    // Either way the wait is over.
    let _ = wait.recv_timeout(HOLD);
}
