//! Refused settings, and the sentences that say why.

use tls::{ClientCertificate, Config, ConfigFault};

use crate::authority::{Authority, Purpose};
use crate::pair::{World, certificate};

fn refused(change: impl FnOnce(&mut Config)) -> ConfigFault {
    let mut world = World::new();
    change(&mut world.config);
    let fault = world.config.build(None).unwrap_err();
    let sentence = fault.to_string();
    assert!(sentence.ends_with('.'), "{sentence}");
    fault
}

#[test]
fn certificates_and_keys_are_checked_and_named() {
    let other = Authority::root("other").issue(Purpose::Server, &["other.test"]);
    for (fault, words) in [
        (
            refused(|config| config.certificates.clear()),
            "none was given",
        ),
        (
            refused(|config| config.certificates[0].chain.clear()),
            "certificate 1 (localhost) cannot be used: it is empty",
        ),
        (
            refused(|config| config.certificates[0].chain[0].truncate(100)),
            "certificate 1 (localhost)",
        ),
        (
            refused(|config| config.certificates[0].chain.push(b"nonsense".to_vec())),
            "certificate 1 (localhost)",
        ),
        (
            refused(|config| config.certificates[0].key = b"nonsense".to_vec()),
            "The private key of certificate 1 (localhost) cannot be used",
        ),
        (
            refused(|config| {
                let mut second = certificate(&["other.test"], &other);
                second.key.clone_from(&config.certificates[0].key);
                config.certificates.push(second);
            }),
            "certificate 2 (other.test) belongs to another certificate",
        ),
    ] {
        assert!(fault.to_string().contains(words), "{fault}");
    }
}

#[test]
fn names_of_suites_and_groups_are_checked() {
    let suite = refused(|config| config.ciphers = vec!["RC4-MD5".to_owned()]);
    assert!(suite.to_string().contains("\"RC4-MD5\""), "{suite}");
    assert!(suite.to_string().contains("TLS_AES_128_GCM_SHA256"));
    let group = refused(|config| config.groups = vec!["P-224".to_owned()]);
    assert!(group.to_string().contains("X25519MLKEM768"), "{group}");
    let none = refused(|config| {
        config.ciphers = vec!["TLS_AES_128_GCM_SHA256".to_owned()];
        config.max_version = tls::Version::Tls12;
    });
    assert_eq!(none, ConfigFault::NoCipherForVersions);
}

#[test]
fn what_verifies_clients_is_checked() {
    let asking = |config: &mut Config| config.client_certificate = ClientCertificate::Optional;
    assert_eq!(refused(asking), ConfigFault::NoAuthority);
    let authority = refused(|config| {
        asking(config);
        config.ca = vec![config.certificates[0].chain[0].clone(), vec![1, 2, 3]];
    });
    assert!(
        authority.to_string().contains("Certificate 2 of ca"),
        "{authority}"
    );
    let list = refused(|config| {
        asking(config);
        config.ca = vec![config.certificates[0].chain[0].clone()];
        config.crl = vec![vec![1, 2, 3]];
    });
    assert!(matches!(list, ConfigFault::RevocationList { .. }), "{list}");
}

#[test]
fn ticket_keys_have_48_bytes() {
    let fault = refused(|config| config.ticket_keys = Some(vec![0; 32]));
    assert_eq!(fault, ConfigFault::TicketKeys { length: 32 });
}
