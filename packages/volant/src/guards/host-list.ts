/** Lists of hosts, against which the host that a client asks is checked. */
import { isIP } from 'node:net'
import { bad } from '../options/bad-option.ts'
import { checkEach } from '../options/checks.ts'
import { canonicalAddress } from '../request/trust.ts'
import { isHost } from '../routing/host.ts'

/** A host without its port, in the form in which two spellings of it are the same. */
interface Authority {
  readonly name: string
  /** Empty where there is none. */
  readonly port: string
}

const wanted =
  "host names such as 'shop.example', '*.shop.example', 'localhost:3000' or '[::1]', without scheme and path"

/**
 * Checks hosts. `*.shop.example` is every name below `shop.example`, not that itself; an entry with a port allows that
 * port alone, and one without a port any. Case and a dot at the end make no difference.
 */
export class HostList {
  /** The names whose port does not matter. */
  readonly #names = new Set<string>()
  /** The names with a port. */
  readonly #pairs = new Set<string>()
  /** The ends of names that begin with any label, as `.shop.example`, and with their ports. */
  readonly #ends: Authority[] = []

  /** Throws `E_BAD_OPTION`. */
  constructor(name: string, hosts: unknown) {
    const list = checkEach(name, hosts, `a list of ${wanted}`, checkEntry)
    if (list.length === 0) throw bad(name, hosts, `a list of ${wanted}`)
    for (const { name: host, port } of list) {
      if (host.startsWith('*.')) this.#ends.push({ name: host.slice(1), port })
      else if (port === '') this.#names.add(host)
      else this.#pairs.add(`${host}:${port}`)
    }
  }

  /** Gives the host in `authority`, without its port, if it is listed, else null. `usual` is the port of the protocol. */
  find(authority: string, usual: '80' | '443'): string | null {
    const { name, port } = split(authority)
    if (name === '') return null
    if (this.#names.has(name)) return name
    const asked = port === '' ? usual : port
    if (this.#pairs.has(`${name}:${asked}`)) return name
    const below = this.#ends.some(
      (end) =>
        name.length > end.name.length && name.endsWith(end.name) && (end.port === '' || end.port === asked),
    )
    return below ? name : null
  }
}

function checkEntry(name: string, entry: unknown): Authority {
  if (typeof entry !== 'string') throw bad(name, entry, wanted)
  // An address of IPv6 without brackets is what people write first.
  const text = isIP(entry) === 6 ? `[${entry}]` : entry
  const bare = text.startsWith('*.') ? text.slice(2) : text
  const authority = split(text)
  const isName = bare !== '' && isHost(bare) && !/[*%]/.test(bare) && !/(?:^|\.)\./.test(bare)
  if (!isName || authority.name === '' || text.endsWith(':')) throw bad(name, entry, wanted)
  return authority
}

function split(authority: string): Authority {
  const colon = authority.lastIndexOf(':')
  const hasPort = colon > authority.lastIndexOf(']')
  const port = hasPort ? authority.slice(colon + 1).replace(/^0+(?=\d)/, '') : ''
  let name = (hasPort ? authority.slice(0, colon) : authority).toLowerCase()
  if (name.startsWith('[')) name = `[${canonicalAddress(name.slice(1, -1)) ?? ''}]`
  else if (name.endsWith('.')) name = name.slice(0, -1)
  return { name, port }
}
