/** The servers and security schemes of an AsyncAPI document, made from those of OpenAPI. */
import type { AsyncAPIServer } from './asyncapi-types.ts'
import type { Schemes } from './security.ts'
import { sortedByName } from './sorted.ts'
import type { OpenAPIServer } from './types.ts'

/** Gives the servers whose URL has a host; the others are where the document is. */
export function serversOf(servers: readonly OpenAPIServer[]): Record<string, AsyncAPIServer> {
  const made: Record<string, AsyncAPIServer> = {}
  for (const { url, description, variables } of servers) {
    // The URL may have variables in braces, with which it is none.
    const [, scheme, host, path = ''] = /^(https?|wss?):\/\/([^/?#]+)([^?#]*)/i.exec(url) ?? []
    if (scheme === undefined || host === undefined) continue
    const pathname = path.replace(/\/+$/, '')
    made[`server${Object.keys(made).length + 1}`] = {
      host,
      ...(pathname !== '' && { pathname }),
      protocol: /s$/i.test(scheme) && scheme.toLowerCase() !== 'ws' ? 'wss' : 'ws',
      ...(description !== undefined && { description }),
      ...(variables !== undefined && { variables }),
    }
  }
  return made
}

/** Gives the schemes in AsyncAPI's words (Security Scheme Object): `apiKey` of a request is `httpApiKey` there. */
export function asyncSchemesOf(schemes: Schemes): Record<string, Readonly<Record<string, unknown>>> {
  return sortedByName([...schemes].map(([name, scheme]) => [name, schemeOf(scheme)] as const))
}

function schemeOf(scheme: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type } = scheme
  if (type === 'apiKey') return { ...scheme, type: 'httpApiKey' }
  if (type === 'mutualTLS') return { ...scheme, type: 'X509' }
  if (type !== 'oauth2') return scheme
  const flows = Object.entries((scheme['flows'] ?? {}) as Readonly<Record<string, { scopes?: unknown }>>)
  return {
    ...scheme,
    flows: Object.fromEntries(
      flows.map(([name, { scopes = {}, ...flow }]) => [name, { ...flow, availableScopes: scopes }]),
    ),
  }
}
