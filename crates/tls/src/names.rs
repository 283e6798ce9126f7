//! The names of cipher suites and groups, by OpenSSL and by IANA.

use rustls::crypto::SupportedKxGroup;
use rustls::crypto::aws_lc_rs::{cipher_suite as suite, kx_group as group};
use rustls::{CipherSuite, SupportedCipherSuite};

struct Suite {
    openssl: &'static str,
    iana: &'static str,
    value: SupportedCipherSuite,
}

/// The suites in the default order of preference.
static SUITES: [Suite; 9] = [
    Suite {
        openssl: "TLS_AES_256_GCM_SHA384",
        iana: "TLS_AES_256_GCM_SHA384",
        value: suite::TLS13_AES_256_GCM_SHA384,
    },
    Suite {
        openssl: "TLS_AES_128_GCM_SHA256",
        iana: "TLS_AES_128_GCM_SHA256",
        value: suite::TLS13_AES_128_GCM_SHA256,
    },
    Suite {
        openssl: "TLS_CHACHA20_POLY1305_SHA256",
        iana: "TLS_CHACHA20_POLY1305_SHA256",
        value: suite::TLS13_CHACHA20_POLY1305_SHA256,
    },
    Suite {
        openssl: "ECDHE-ECDSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        value: suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    },
    Suite {
        openssl: "ECDHE-ECDSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        value: suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    },
    Suite {
        openssl: "ECDHE-ECDSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        value: suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    },
    Suite {
        openssl: "ECDHE-RSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        value: suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    },
    Suite {
        openssl: "ECDHE-RSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        value: suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    },
    Suite {
        openssl: "ECDHE-RSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        value: suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    },
];

struct Group {
    /// The first is the name of OpenSSL, and the others are those of IANA, NIST or Node.
    names: &'static [&'static str],
    group: &'static dyn SupportedKxGroup,
}

/// The groups. The first four are offered by default, in this order.
static GROUPS: [Group; 7] = [
    Group {
        names: &["X25519MLKEM768"],
        group: group::X25519MLKEM768,
    },
    Group {
        names: &["X25519"],
        group: group::X25519,
    },
    Group {
        names: &["P-256", "prime256v1", "secp256r1"],
        group: group::SECP256R1,
    },
    Group {
        names: &["P-384", "secp384r1"],
        group: group::SECP384R1,
    },
    Group {
        names: &["SecP256r1MLKEM768"],
        group: group::SECP256R1MLKEM768,
    },
    Group {
        names: &["MLKEM768"],
        group: group::MLKEM768,
    },
    Group {
        names: &["MLKEM1024"],
        group: group::MLKEM1024,
    },
];
const DEFAULT_GROUPS: usize = 4;

/// Finds the suite of a name, in upper or lower case.
pub fn suite(name: &str) -> Option<SupportedCipherSuite> {
    SUITES
        .iter()
        .find(|one| one.openssl.eq_ignore_ascii_case(name) || one.iana.eq_ignore_ascii_case(name))
        .map(|one| one.value)
}

pub fn all_suites() -> Vec<SupportedCipherSuite> {
    SUITES.iter().map(|one| one.value).collect()
}

/// Gives the OpenSSL name of a suite.
pub fn openssl_name(suite: CipherSuite) -> &'static str {
    SUITES
        .iter()
        .find(|one| one.value.suite() == suite)
        .map_or("", |one| one.openssl)
}

pub fn group(name: &str) -> Option<&'static dyn SupportedKxGroup> {
    GROUPS
        .iter()
        .find(|one| one.names.iter().any(|own| own.eq_ignore_ascii_case(name)))
        .map(|one| one.group)
}

pub fn default_groups() -> Vec<&'static dyn SupportedKxGroup> {
    let groups = GROUPS.iter().take(DEFAULT_GROUPS);
    groups.map(|one| one.group).collect()
}

pub fn suite_names() -> String {
    SUITES.each_ref().map(|one| one.openssl).join(", ")
}

pub fn group_names() -> String {
    GROUPS.each_ref().map(|one| one.names[0]).join(", ")
}
