//! Writes certificates and keys for tests into a folder, each as `NAME.pem` and `NAME.key` (PKCS#8):
//!
//! | name | what it is |
//! |---|---|
//! | `ca` | the authority of all certificates for which no other one is named; without a key |
//! | `other-ca` | an authority that a server does not trust; without a key |
//! | `host` | a server: localhost, 127.0.0.1, `::1` |
//! | `wildcard` | a server: `*.wild.test` |
//! | `second` | a server: second.test |
//! | `rsa` | a server with an RSA key: rsa.test, localhost |
//! | `chained` | a server whose chain has an authority between it and `ca`: chained.test |
//! | `expired-host` | a server whose certificate expired: localhost |
//! | `client` | a client |
//! | `wrong-client` | a client of `other-ca` |
//! | `expired-client` | a client whose certificate expired |
//! | `revoked-client` | a client whose certificate `crl.pem` revokes |
//!
//! `crl.pem` is the list of `ca`, and `empty-crl.pem` is one without entries.
//!
//! ```sh
//! cargo run --package volant-tls --example certificates -- FOLDER
//! ```

#[path = "../tests/authority/mod.rs"]
mod authority;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use authority::{Authority, Purpose};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("The folder to write to is missing: certificates FOLDER");
        return ExitCode::FAILURE;
    };
    match write(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("The certificates could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> io::Result<()> {
    let ca = Authority::root("Volant test authority");
    let other = Authority::root("Volant other test authority");
    let middle = ca.below("Volant intermediate test authority");
    let revoked = ca.issue(Purpose::Client, &["revoked-client"]);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("ca.pem"), ca.pem())?;
    fs::write(folder.join("other-ca.pem"), other.pem())?;
    fs::write(folder.join("crl.pem"), ca.revoke(&[&revoked]).0)?;
    fs::write(folder.join("empty-crl.pem"), ca.revoke(&[]).0)?;
    let local = ["localhost", "127.0.0.1", "::1"];
    for (name, identity) in [
        ("host", ca.issue(Purpose::Server, &local)),
        ("wildcard", ca.issue(Purpose::Server, &["*.wild.test"])),
        ("second", ca.issue(Purpose::Server, &["second.test"])),
        (
            "rsa",
            ca.issue_rsa(Purpose::Server, &["rsa.test", "localhost"]),
        ),
        ("chained", middle.issue(Purpose::Server, &["chained.test"])),
        (
            "expired-host",
            ca.issue_expired(Purpose::Server, &["localhost"]),
        ),
        ("client", ca.issue(Purpose::Client, &["client"])),
        ("wrong-client", other.issue(Purpose::Client, &["client"])),
        (
            "expired-client",
            ca.issue_expired(Purpose::Client, &["expired-client"]),
        ),
        ("revoked-client", revoked),
    ] {
        fs::write(folder.join(format!("{name}.pem")), identity.chain_pem())?;
        fs::write(folder.join(format!("{name}.key")), identity.key_pem())?;
    }
    Ok(())
}
