/** `clientFile` makes a file of the types of an API and of its routes, for clients that do not see the server. */
import { type APITree, namedRoutes } from '../contract/api-tree.ts'
import { checkContract } from '../contract/contract-options.ts'
import { VolantError } from '../errors/errors.ts'
import { rowOf } from '../app/expose.ts'
import type { RouteInfo } from '../app/route-info.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Contract, Method, Schema, Schemas } from '../types/parts.ts'
import { checkedParts } from '../request/validation.ts'
import { type OperationContract, OperationText } from './operation-text.ts'
import { commentOf, indented, keyText } from './type-syntax.ts'
import { TypeTexts } from './type-text.ts'

/** The result of `clientFile`. */
export interface ClientFile {
  /** The text of one TypeScript file. */
  readonly text: string
  /** The declarations alone, for a `.d.ts` file. */
  readonly declarations: string
  /** The table alone, for the `.js` file beside the declarations. */
  readonly javascript: string
  /** Names each schema, and each part of one, that has no JSON Schema and is `unknown`: its operation, where it is, and why. */
  readonly opaque: readonly string[]
}

/**
 * Makes the types of an API and the table of its routes from the JSON Schemas of its contracts, for clients that must
 * not see the server's source, or should not wait for a compiler to read it. It takes an app that has exposed its routes,
 * or contracts by name, and throws `E_BAD_OPTION` for anything else. The file imports types of `volant/client` and nothing
 * else. The same API gives the same text. An object whose `title` or `id` can be the name of a type is exported under it.
 *
 *     import { type Api, routes } from './api.ts'
 *     const client = createClient<Api>(url, { routes })
 */
export function clientFile(source: { routes(): RouteInfo[] } | APITree): ClientFile {
  const operations = operationsOf(source)
  const opaque: string[] = []
  const types = new TypeTexts([...builtIn, ...imported])
  // The results come first: if a type of requests and one of replies want one name, the latter has it.
  for (const [name, contract] of Object.entries(operations))
    new OperationText(name, contract, types, () => {}).results()
  const onUnknown = (where: string, reason: string): void =>
    void opaque.push(`${where} is unknown: ${reason}`)
  const tree = treeOf(operations, (name, contract) =>
    new OperationText(name, contract, types, onUnknown).text(),
  )
  const declared = [...types.declared].map(([name, text]) => `\nexport type ${name} = ${text}\n`).join('')
  const api = `\n/** The operations of the API: \`createClient<Api>(url, { routes })\`. */\nexport interface Api ${tree}\n`
  const used = imported.filter((name) => new RegExp(`\\b${name}\\b`).test(api + declared))
  const rows = Object.entries(operations).map(
    ([name, contract]) => `${keyText(name)}: ${JSON.stringify(rowOf(contract))},\n`,
  )
  const table = `{\n${indented(rows.join(''))}}`
  const about = '\n/** Where each operation is, and what it declares. */\n'
  const top = `${header}import type { ${['ClientRoutes', ...used].join(', ')} } from 'volant/client'\n${api}${declared}${about}`
  return {
    text: `${top}export const routes: ClientRoutes = ${table}\n`,
    declarations: `${top}export declare const routes: ClientRoutes\n`,
    javascript: `${header}${about}export const routes = ${table}\n`,
    opaque,
  }
}

const header = "// Made by volant from the API's contracts: changes are lost.\n"

/** The names that the file uses, or that types in it stand for. */
const builtIn = [
  'Api',
  'Array',
  'ArrayBuffer',
  'File',
  'FormData',
  'ReadableStream',
  'Readonly',
  'Record',
  'Uint8Array',
]

const imported = [
  'Failure',
  'HeaderValue',
  'Invalid',
  'Operation',
  'PathValue',
  'QueryValue',
  'RawMessage',
  'Socket',
  'Success',
] as const

type Operations = Readonly<Record<string, OperationContract>>

/** What a contract of a WebSocket has beside those of other routes. */
interface ContractMessages {
  in?: Schema
  out?: Schema
  protocols?: readonly string[]
}

function operationsOf(source: { routes(): RouteInfo[] } | APITree): Operations {
  if (typeof source !== 'object' || source === null) {
    throw new VolantError(
      'E_BAD_OPTION',
      `clientFile takes an app, or contracts by name, not ${briefValue(source)}`,
    )
  }
  const operations: Record<string, OperationContract> = {}
  if (typeof source.routes === 'function') {
    for (const route of (source as { routes(): RouteInfo[] }).routes())
      for (const name of route.names) operations[name] ??= route
    if (Object.keys(operations).length === 0) {
      throw new VolantError(
        'E_BAD_OPTION',
        'clientFile was given an app that exposes nothing: app.expose({ … }) names its routes',
      )
    }
    return operations
  }
  for (const { name, route } of namedRoutes(source as APITree, 'clientFile')) {
    const options = (route.options ?? {}) as Contract
    const { responses, errors, description } = checkContract(`${route.method} ${route.path}`, options)
    const schemas: Schemas = {}
    for (const part of checkedParts) if (options[part] !== undefined) schemas[part] = options[part]
    const method = route.method.split(',')[0] as Method
    const { in: sent = null, out = null, protocols = [] } = options as ContractMessages
    const messages = route.method === 'WS' ? { messages: { in: sent, out, protocols } } : {}
    operations[name] = { ...description, method, path: route.path, schemas, responses, errors, ...messages }
  }
  return operations
}

function treeOf(operations: Operations, text: (name: string, route: OperationContract) => string): string {
  interface Group {
    readonly [key: string]: Group | string
  }
  const groups: Record<string, Group | string> = {}
  for (const name of Object.keys(operations)) {
    const path = name.split('.')
    let group = groups
    for (const key of path.slice(0, -1)) group = (group[key] ??= {}) as Record<string, Group | string>
    group[path.at(-1) as string] = name
  }
  const print = (group: Group): string =>
    `{\n${indented(
      Object.entries(group)
        .map(([key, inner]) => {
          if (typeof inner !== 'string') return `${keyText(key)}: ${print(inner)}\n`
          const route = operations[inner] as OperationContract
          return `${commentOf(aboutOf(route))}${keyText(key)}: ${text(inner, route)}\n`
        })
        .join(''),
    )}}`
  return print(groups)
}

function aboutOf({ method, path, summary, description, deprecated }: OperationContract): string {
  const lines = [`\`${method} ${path}\``, summary, description].filter((each) => each !== undefined)
  return `${lines.join('\n\n')}${deprecated === true ? '\n\n@deprecated' : ''}`
}
