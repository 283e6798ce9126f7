/** Implements the TLS settings of the contract with node:tls. */
import { constants, createHash, createPrivateKey, hkdfSync, randomBytes } from 'node:crypto'
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type Server as TlsServer,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls'
import type { TlsCertificate, TlsConfig, TlsInfo } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { CertificateNames } from '../tls/names.ts'
import { allCiphers } from '../tls/suites.ts'

/**
 * The time in ms after which the ticket keys of one process are replaced. Tickets under older keys are not accepted.
 */
const rotation = 6 * 3_600_000

/**
 * The session context, which OpenSSL compares beside the ticket key. The default of Node.js is a hash of the command
 * line, so processes with another command line could not resume the session. The keys separate the sessions that must
 * not be resumed.
 */
const sessionContext = 'volant'

/** Does the handshakes of a server. It is given sockets, and never listens. */
export class NodeTls {
  /** The settings in use, with the server and the ticket keys that were made from them. */
  #current: { readonly config: TlsConfig; readonly server: TlsServer; readonly keys: Buffer }
  /** The time after which tickets get new keys. */
  #rotatesAt = Date.now() + rotation
  readonly #onSecure: (socket: TLSSocket) => void

  constructor(config: TlsConfig, onSecure: (socket: TLSSocket) => void) {
    this.#onSecure = onSecure
    this.#current = this.#make(config, sharedKeys(config) ?? randomBytes(48))
  }

  /** Uses these settings for later connections. Throws `E_BAD_OPTION`; then nothing changes. */
  replace(config: TlsConfig): void {
    const { config: old, keys } = this.#current
    const keeps = old.ticketKeys === null && policyOf(old).equals(policyOf(config))
    this.#current = this.#make(config, sharedKeys(config) ?? (keeps ? keys : randomBytes(48)))
  }

  /** Begins a handshake on a connection whose first bytes are in `socket`. */
  handshake(socket: object): void {
    const { config, server } = this.#current
    if (config.ticketKeys === null && Date.now() > this.#rotatesAt) {
      this.#rotatesAt = Date.now() + rotation
      const keys = randomBytes(48)
      server.setTicketKeys(keys)
      this.#current = { config, server, keys }
    }
    server.emit('connection', socket)
  }

  #make(config: TlsConfig, keys: Buffer): { config: TlsConfig; server: TlsServer; keys: Buffer } {
    const names = new CertificateNames(config)
    try {
      const contexts = new Map<TlsCertificate, SecureContext>()
      for (const certificate of config.certificates)
        contexts.set(certificate, createSecureContext(optionsOf(config, certificate)))
      const server = createServer({
        ...optionsOf(config, config.certificates[0] as TlsCertificate),
        ...(config.sessionTimeout > 0 && { ticketKeys: keys }),
        ALPNProtocols: config.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
        requestCert: config.clientCertificate !== 'none',
        // Node.js would serve a client whose certificate does not verify. Such a client is refused below.
        rejectUnauthorized: config.clientCertificate === 'required',
        // The front has a time limit of its own, which runs from the beginning of the connection.
        handshakeTimeout: 2_147_483_647,
        SNICallback: (name, done) => done(null, contexts.get(names.served(name.toLowerCase()))),
      })
      server.on('secureConnection', (socket: TLSSocket) => {
        if (isRefused(config, socket)) socket.destroy()
        else this.#onSecure(socket)
      })
      return { config, server, keys }
    } catch (error) {
      throw new VolantError(
        'E_BAD_OPTION',
        `tls: OpenSSL refuses it: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    }
  }
}

function optionsOf(config: TlsConfig, { chain, key }: TlsCertificate): TlsOptions {
  const { ca, crl, ciphers, groups, sessionTimeout } = config
  return {
    cert: chain.map((each) => pem('CERTIFICATE', each)).join(''),
    key: createPrivateKey({ key, format: 'der', type: 'pkcs8' }).export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
    ...(ca.length > 0 && { ca: ca.map((each) => pem('CERTIFICATE', each)) }),
    ...(crl.length > 0 && { crl: crl.map((each) => pem('X509 CRL', each)) }),
    minVersion: config.minVersion,
    maxVersion: config.maxVersion,
    ciphers: (ciphers.length > 0 ? ciphers : allCiphers).join(':'),
    ecdhCurve: groups.length > 0 ? groups.join(':') : 'auto',
    honorCipherOrder: true,
    sessionIdContext: sessionContext,
    ...(sessionTimeout > 0 ? { sessionTimeout } : { secureOptions: constants.SSL_OP_NO_TICKET }),
  }
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/** True for a client whose certificate does not verify, if certificates are optional. */
function isRefused(config: TlsConfig, socket: TLSSocket): boolean {
  if (config.clientCertificate !== 'optional' || socket.authorized) return false
  return socket.getPeerX509Certificate() !== undefined
}

/**
 * Gives the ticket keys that processes with these `ticketKeys` share; null without them. A ticket holds the certificate of
 * its client, which is not verified again when the session is resumed, so each policy for clients has keys of its own.
 */
function sharedKeys(config: TlsConfig): Buffer | null {
  if (config.ticketKeys === null) return null
  return Buffer.from(hkdfSync('sha256', config.ticketKeys, policyOf(config), 'volant tls ticket 1', 48))
}

/** Gives a digest of the policy for client certificates. */
function policyOf({ clientCertificate, ca, crl }: TlsConfig): Buffer {
  const hash = createHash('sha256').update(`${clientCertificate} ${ca.length}`)
  for (const der of [...ca, ...crl]) hash.update(createHash('sha256').update(der).digest())
  return hash.digest()
}

/** Gives the result of a connection's handshake; null once the connection is closed. */
export function tlsInfoOf(socket: TLSSocket): TlsInfo | null {
  if (socket.destroyed) return null
  const { servername, alpnProtocol } = socket as TLSSocket & { servername?: string | false }
  return {
    version: socket.getProtocol() as TlsInfo['version'],
    cipher: socket.getCipher().name,
    alpn: typeof alpnProtocol === 'string' ? alpnProtocol : null,
    serverName: typeof servername === 'string' && servername !== '' ? servername.toLowerCase() : null,
    resumed: socket.isSessionReused(),
    peer: socket.getPeerX509Certificate()?.raw ?? null,
  }
}
