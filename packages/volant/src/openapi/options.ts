/** Checks what an app says about its document besides its routes. */
import type { RouteInfo } from '../app/route-info.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFunction } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import type { OpenAPIInfo, OpenAPIServer, OpenAPITag } from './types.ts'

/** The part of a document that its routes do not declare. */
export interface OpenAPIOptions {
  /** The name of the API and more about it: at least `title` and `version`. */
  info: OpenAPIInfo
  /** The addresses of the API; by default it is where the document is. */
  servers?: readonly OpenAPIServer[] | undefined
  /** The descriptions of tags, in the order in which they are shown. Tags that only routes name come last, by name. */
  tags?: readonly OpenAPITag[] | undefined
  /** The schemes that no middleware declares, by name (OpenAPI 3.1 §4.8.27). */
  securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
  /** The security that operations require if neither their route nor its middleware says so. */
  security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** A link to further documentation. */
  externalDocs?: { url: string; description?: string } | undefined
  /** Chooses the routes in the document; by default it has every route that is not `hidden`. */
  include?: ((route: RouteInfo) => boolean) | undefined
}

export const optionNames = [
  'info',
  'servers',
  'tags',
  'securitySchemes',
  'security',
  'externalDocs',
  'include',
] as const

/** Throws `E_BAD_OPTION` for options of which no document can be made. */
export function checkOptions<O extends OpenAPIOptions>(
  where: string,
  options: O,
  names: readonly string[],
): O {
  if (typeof options !== 'object' || options === null) throw bad(where, options, 'an object with info')
  checkOptionNames(where, options, names, foreignNames.openapi)
  const { info, include } = options
  if (typeof info !== 'object' || info === null)
    throw bad(`${where}: info`, info, '{ title, version }, both text')
  if (typeof info.title !== 'string' || typeof info.version !== 'string') {
    const missing = (['title', 'version'] as const).filter((name) => info[name] === undefined)
    const which = missing.length === 0 ? '' : `; ${missing.join(' and ')} is missing`
    throw new VolantError('E_BAD_OPTION', `${where}: info takes { title, version }, both text${which}`)
  }
  checkFunction(`${where}: include`, include, 'a function of a route')
  return options
}
