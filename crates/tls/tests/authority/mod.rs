//! A certificate authority for tests: makes certificates of servers and clients, and lists of revoked ones. Keys are
//! made anew each time, so that the repository has none.
#![allow(dead_code, reason = "no test file uses all of it")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams,
    CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, RevocationReason, RevokedCertParams, SerialNumber,
    date_time_ymd,
};

/// The next serial number. It is unique over all authorities.
static SERIAL: AtomicU64 = AtomicU64::new(1000);

/// The purpose of a certificate.
#[derive(Clone, Copy)]
pub enum Purpose {
    Server,
    Client,
}

/// A certificate, the certificates of its issuers below the root, and its key.
pub struct Identity {
    certificate: Certificate,
    issuers: Vec<Certificate>,
    key: KeyPair,
    serial: SerialNumber,
}

impl Identity {
    /// Gives the certificate, then those of its issuers.
    pub fn chain_pem(&self) -> String {
        self.chain().map(Certificate::pem).collect()
    }

    pub fn chain_der(&self) -> Vec<Vec<u8>> {
        self.chain().map(|one| one.der().to_vec()).collect()
    }

    /// Gives the key as PKCS#8.
    pub fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    pub fn key_der(&self) -> Vec<u8> {
        self.key.serialize_der()
    }

    fn chain(&self) -> impl Iterator<Item = &Certificate> {
        std::iter::once(&self.certificate).chain(&self.issuers)
    }
}

/// A root, or an intermediate authority.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The certificates between an issued certificate and the root: its own certificate, unless it is the root.
    issuers: Vec<Certificate>,
}

impl Authority {
    pub fn root(name: &str) -> Self {
        let issuer = CertifiedIssuer::self_signed(authority(name), ecdsa()).unwrap();
        Self {
            issuer,
            issuers: Vec::new(),
        }
    }

    pub fn below(&self, name: &str) -> Self {
        let issuer = CertifiedIssuer::signed_by(authority(name), ecdsa(), &self.issuer).unwrap();
        let own = AsRef::<Certificate>::as_ref(&issuer).clone();
        Self {
            issuer,
            issuers: vec![own],
        }
    }

    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub fn der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// Issues a certificate for `names`, host names or addresses, with an ECDSA key.
    pub fn issue(&self, purpose: Purpose, names: &[&str]) -> Identity {
        self.sign(params(purpose, names), ecdsa())
    }

    pub fn issue_rsa(&self, purpose: Purpose, names: &[&str]) -> Identity {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap();
        self.sign(params(purpose, names), key)
    }

    /// Issues a certificate that expired at the end of 2024.
    pub fn issue_expired(&self, purpose: Purpose, names: &[&str]) -> Identity {
        let mut params = params(purpose, names);
        params.not_after = date_time_ymd(2024, 12, 31);
        self.sign(params, ecdsa())
    }

    /// Issues a certificate that expires at `end`.
    pub fn issue_until(&self, end: SystemTime, purpose: Purpose, names: &[&str]) -> Identity {
        let mut params = params(purpose, names);
        params.not_after = end.into();
        self.sign(params, ecdsa())
    }

    /// Gives the list of revoked certificates as PEM and DER, with the certificates of `identities`.
    pub fn revoke(&self, identities: &[&Identity]) -> (String, Vec<u8>) {
        let revoked = identities.iter().map(|identity| RevokedCertParams {
            serial_number: identity.serial.clone(),
            revocation_time: date_time_ymd(2024, 6, 1),
            reason_code: Some(RevocationReason::KeyCompromise),
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 6, 1),
            next_update: date_time_ymd(2049, 12, 31),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        }
        .signed_by(&self.issuer)
        .unwrap();
        (list.pem().unwrap(), list.der().to_vec())
    }

    fn sign(&self, params: CertificateParams, key: KeyPair) -> Identity {
        Identity {
            certificate: params.signed_by(&key, &self.issuer).unwrap(),
            issuers: self.issuers.clone(),
            key,
            serial: params.serial_number.unwrap(),
        }
    }
}

fn ecdsa() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap()
}

fn authority(name: &str) -> CertificateParams {
    let mut params = dated(&[]);
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn params(purpose: Purpose, names: &[&str]) -> CertificateParams {
    let mut params = dated(names);
    let name = names.first().copied().unwrap_or_default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![match purpose {
        Purpose::Server => ExtendedKeyUsagePurpose::ServerAuth,
        Purpose::Client => ExtendedKeyUsagePurpose::ClientAuth,
    }];
    params
}

fn dated(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    params.serial_number = Some(SerialNumber::from(SERIAL.fetch_add(1, Ordering::Relaxed)));
    params
}
