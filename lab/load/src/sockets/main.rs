//! `sockets`: opens sockets (RFC 6455) to a server, checks every message and measures how long they take.
//! `sockets --help` tells how.
//!
//! The spec is read and checked in full (`spec`) before the first connection. `run` opens the sockets (`handshake`), and
//! owns the loop; `traffic` is what happens on a socket (`peer`, `frames`). What is sent and what must come back is the business
//! of the three modes, `echo`, `publish` and `held`. `tally` counts and tells.
//!
//! It shares no code with the engine: a fault in how one reads frames would else be that of the other too. It ends with
//! the first thing that is wrong, since a server that is wrong is not measured.

#![forbid(unsafe_code)]

mod echo;
mod frames;
mod handshake;
mod held;
mod peer;
mod publish;
mod run;
mod spec;
mod tally;
mod traffic;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use run::{Failure, Progress, Run};
use spec::{Command, Mode, Plan};

/// How long `hold` waits for whoever reads the events: a server with many sockets may collect garbage meanwhile.
const HOLD: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let plan = match spec::read(&arguments) {
        Ok(Command::Help) => {
            print!("{}", spec::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Command::Run(plan)) => plan,
        Err(fault) => return fail(2, &fault),
    };
    match measure(&plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Connect(why)) => fail(
            1,
            &format!(
                "could not open {} sockets to {}: {why}; is the server listening there?",
                plan.sockets, plan.address
            ),
        ),
        Err(Failure::System(error)) => fail(1, &error.to_string()),
    }
}

fn fail(status: u8, message: &str) -> ExitCode {
    eprintln!("sockets: {message}");
    ExitCode::from(status)
}

fn measure(plan: &Plan) -> Result<(), Failure> {
    reactor::process::catch_stop_signals()?;
    let mut run = Run::new(plan)?;
    let tell = |progress| match progress {
        Progress::Connected => say(&json!({ "event": "connected" })),
        Progress::Warm => say(&json!({ "event": "warm" })),
        Progress::Measured => say(&json!({ "event": "measured" })),
    };
    let report = match plan.mode {
        Mode::Echo => run.echo(tell),
        Mode::Publish => run.publish(tell),
        Mode::Held => run.held(tell),
    }?;
    if plan.hold {
        hold();
    }
    run.close();
    say(&report)?;
    Ok(())
}

fn say(event: &impl serde::Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Waits for a line or the end of standard input.
fn hold() {
    let (done, wait) = mpsc::channel();
    // The thread may be left behind in its read: the process ends without it.
    thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        let _ = done.send(());
    });
    // Either way the wait is over.
    let _ = wait.recv_timeout(HOLD);
}
