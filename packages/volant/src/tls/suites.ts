/** The cipher suites and groups of TLS that both adapters support, with all their usual names. */
import type { TlsVersion } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'

/**
 * The suites by their names in OpenSSL and at IANA, in the order of preference that is the default. All have
 * authenticated encryption and an ephemeral key exchange.
 */
const suites: readonly (readonly [openssl: string, iana: string])[] = [
  ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ['ECDHE-ECDSA-AES256-GCM-SHA384', 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
  ['ECDHE-RSA-AES256-GCM-SHA384', 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
  ['ECDHE-ECDSA-AES128-GCM-SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  ['ECDHE-RSA-AES128-GCM-SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  ['ECDHE-ECDSA-CHACHA20-POLY1305', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'],
  ['ECDHE-RSA-CHACHA20-POLY1305', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'],
]

/** The OpenSSL names of all suites. */
export const allCiphers: readonly string[] = suites.map(([openssl]) => openssl)

const groups: Readonly<Record<string, readonly string[]>> = {
  X25519MLKEM768: ['x25519mlkem768'],
  X25519: ['x25519'],
  prime256v1: ['prime256v1', 'p-256', 'secp256r1'],
  secp384r1: ['secp384r1', 'p-384'],
}

/** Gives the OpenSSL names. Throws `E_BAD_OPTION` for an unknown suite, and if no suite is left. */
export function readCiphers(value: unknown, min: TlsVersion, max: TlsVersion): string[] {
  const wanted = `some of these suites in order of preference, and no groups or signs of OpenSSL such as HIGH and !aNULL: ${allCiphers.join(':')}`
  const chosen = listOf('tls.ciphers', value, wanted).map((name) => {
    const found = suites.find((row) => row.some((each) => each === name.toUpperCase()))
    if (found === undefined) throw bad('tls.ciphers', name, wanted)
    return found[0]
  })
  const has = (isNew: boolean): boolean => chosen.some((name) => name.startsWith('TLS_') === isNew)
  const serves = (max === 'TLSv1.3' && has(true)) || (min === 'TLSv1.2' && has(false))
  if (chosen.length > 0 && !serves)
    throw new VolantError(
      'E_BAD_OPTION',
      `tls.ciphers has no suite of ${min === max ? min : `${min} or ${max}`}: it takes ${wanted}`,
    )
  return chosen
}

/** Gives the OpenSSL names. Throws `E_BAD_OPTION` for an unknown group. */
export function readGroups(value: unknown): string[] {
  const wanted = `groups in order of preference: ${Object.keys(groups).join(':')}`
  if (value === 'auto') return []
  return listOf('tls.ecdhCurve', value, wanted).map((name) => {
    const found = Object.keys(groups).find((each) => groups[each]?.includes(name.toLowerCase()))
    if (found === undefined) throw bad('tls.ecdhCurve', name, wanted)
    return found
  })
}

function listOf(name: string, value: unknown, wanted: string): string[] {
  if (value === undefined) return []
  const list: unknown = typeof value === 'string' ? value.split(':') : value
  if (!Array.isArray(list) || list.length === 0 || !list.every((each) => typeof each === 'string'))
    throw bad(name, value, wanted)
  return list as string[]
}
