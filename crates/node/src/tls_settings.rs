//! `setTls` and `tlsInfo`: read the settings of TLS from JavaScript values, and give the result of a handshake as such.

use napi_sys::{napi_callback_info, napi_env, napi_value};
use tls::{Certificate, ClientCertificate, Config, Info, Version};

use crate::exports::{arguments, guarded, server_id, with_engine};
use crate::value::{
    Failure, Result, array_length, call, check, element, null, string, to_bytes, to_number,
    to_numbers, to_option, to_string, undefined,
};

/// `setTls(id, certificates, ca, crl, ciphers, groups, ticketKeys, numbers)` makes a server use these settings for new
/// connections. The list of certificates has for each: the number of its names, the names, the length of its chain, the
/// chain as DER, and its key as PKCS#8 DER. `tlsNumbers` of `packages/engine/src/native-tls.ts` writes the numbers.
pub unsafe extern "C" fn set_tls(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let (
            [
                id,
                certificates,
                ca,
                crl,
                ciphers,
                groups,
                ticket_keys,
                numbers,
            ],
            binding,
        ) = arguments::<8>(env, info)?;
        let id = server_id(env, id)?;
        let numbers = to_numbers(env, numbers)?;
        let number = |at: usize| numbers.get(at).copied().unwrap_or_default();
        let config = Config {
            certificates: certificates_of(env, certificates)?,
            ca: list(env, ca, to_bytes)?,
            crl: list(env, crl, to_bytes)?,
            client_certificate: match number(0) as u8 {
                0 => ClientCertificate::None,
                1 => ClientCertificate::Optional,
                _ => ClientCertificate::Required,
            },
            min_version: version(number(1)),
            max_version: version(number(2)),
            ciphers: list(env, ciphers, to_string)?,
            groups: list(env, groups, to_string)?,
            session_timeout: number(3) as u32,
            ticket_keys: to_option(env, ticket_keys)?
                .map(|keys| to_bytes(env, keys))
                .transpose()?,
            alpn: if number(4) == 0.0 {
                vec![b"http/1.1".to_vec()]
            } else {
                vec![b"h2".to_vec(), b"http/1.1".to_vec()]
            },
        };
        with_engine(binding, |engine| engine.set_tls(id, &config))
            .map_err(|fault| Failure::new("E_BAD_OPTION", fault.to_string()))?;
        undefined(env)
    })
}

/// `tlsInfo(slot, generation)` gives `[version, cipher, alpn, serverName, resumed, peer]`, or null if the exchange is
/// over or its connection is not encrypted.
pub unsafe extern "C" fn tls_info(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([slot, generation], binding) = arguments::<2>(env, info)?;
        let slot = to_number(env, slot)? as u32;
        // JavaScript reads generations as signed numbers.
        let generation = to_number(env, generation)? as i32 as u32;
        with_engine(binding, |engine| match engine.tls_info(slot, generation) {
            Some(info) => info_of(env, &info),
            None => null(env),
        })
    })
}

fn info_of(env: napi_env, info: &Info<'_>) -> Result<napi_value> {
    let optional = |text: Option<&str>| match text {
        Some(text) => string(env, text),
        None => null(env),
    };
    let alpn = info.alpn.map(String::from_utf8_lossy);
    let peer = match info.peer {
        Some(bytes) => call!(napi_create_buffer_copy(
            env,
            bytes.len(),
            bytes.as_ptr().cast(),
            std::ptr::null_mut()
        ))?,
        None => null(env)?,
    };
    let values = [
        string(
            env,
            match info.version {
                Version::Tls12 => "TLSv1.2",
                Version::Tls13 => "TLSv1.3",
            },
        )?,
        string(env, info.cipher)?,
        optional(alpn.as_deref())?,
        optional(info.server_name)?,
        call!(napi_get_boolean(env, info.resumed))?,
        peer,
    ];
    let list = call!(napi_create_array(env))?;
    for (index, value) in values.into_iter().enumerate() {
        // SAFETY: live values.
        check(unsafe { napi_sys::napi_set_element(env, list, index as u32, value) })?;
    }
    Ok(list)
}

fn version(number: f64) -> Version {
    if number == 0.0 {
        Version::Tls12
    } else {
        Version::Tls13
    }
}

fn certificates_of(env: napi_env, flat: napi_value) -> Result<Vec<Certificate>> {
    let length = array_length(env, flat)?;
    let mut at = 0;
    let mut next = || {
        at += 1;
        element(env, flat, at - 1).map(|value| (at, value))
    };
    let mut certificates = Vec::new();
    let mut read = 0;
    while read < length {
        let mut certificate = Certificate::default();
        for _ in 0..to_number(env, next()?.1)? as u32 {
            certificate.names.push(to_string(env, next()?.1)?);
        }
        for _ in 0..to_number(env, next()?.1)? as u32 {
            certificate.chain.push(to_bytes(env, next()?.1)?);
        }
        let (end, key) = next()?;
        certificate.key = to_bytes(env, key)?;
        certificates.push(certificate);
        read = end;
    }
    Ok(certificates)
}

fn list<T>(
    env: napi_env,
    array: napi_value,
    read: impl Fn(napi_env, napi_value) -> Result<T>,
) -> Result<Vec<T>> {
    (0..array_length(env, array)?)
        .map(|at| read(env, element(env, array, at)?))
        .collect()
}
