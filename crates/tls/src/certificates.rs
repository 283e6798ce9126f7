//! Chooses the certificate for a client by the host that the client names (SNI, RFC 6066 §3).

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

thread_local! {
    /// The name in the `ClientHello` that was read last on this thread. The unbuffered connection does not give it.
    static NAMED: RefCell<Option<Box<str>>> = const { RefCell::new(None) };
}

/// Gives the host that was named in the `ClientHello` that was read last on this thread, and clears it.
pub fn take_named() -> Option<Box<str>> {
    NAMED.take()
}

/// Certificates by name. The first one is used for every name without a certificate.
pub struct Certificates {
    first: Arc<CertifiedKey>,
    exact: HashMap<String, Arc<CertifiedKey>>,
    /// The wildcard certificates by the name without the first label: `example.com` for `*.example.com`.
    wildcard: HashMap<String, Arc<CertifiedKey>>,
}

impl Certificates {
    pub fn new(first: Arc<CertifiedKey>) -> Self {
        Self {
            first,
            exact: HashMap::new(),
            wildcard: HashMap::new(),
        }
    }

    /// Adds a name of a certificate, exact or with a wildcard as its first label. A name that was added before keeps
    /// its certificate.
    pub fn add(&mut self, name: &str, certificate: &Arc<CertifiedKey>) {
        let name = name.to_ascii_lowercase();
        let (names, name) = match name.strip_prefix("*.") {
            Some(parent) => (&mut self.wildcard, parent.to_owned()),
            None => (&mut self.exact, name),
        };
        names.entry(name).or_insert_with(|| Arc::clone(certificate));
    }

    /// Gives the certificate for `name`, which must be in lower case.
    fn of(&self, name: &str) -> &Arc<CertifiedKey> {
        let exact = self.exact.get(name);
        // A wildcard stands for one label (RFC 9525 §6.3).
        let wildcard = || {
            let (_, parent) = name.split_once('.')?;
            self.wildcard.get(parent)
        };
        exact.or_else(wildcard).unwrap_or(&self.first)
    }
}

impl Debug for Certificates {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Certificates").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().map(str::to_ascii_lowercase);
        let certificate = match &name {
            Some(name) => self.of(name.strip_suffix('.').unwrap_or(name)),
            None => &self.first,
        };
        let certificate = Arc::clone(certificate);
        NAMED.set(name.map(String::into_boxed_str));
        Some(certificate)
    }
}
