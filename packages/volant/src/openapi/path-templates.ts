/** From a route's pattern to the path templates of OpenAPI, which know neither optional parts nor wildcards. */
import { parsePattern } from '../routing/path.ts'

export interface Template {
  /** `/users/{id}`. */
  readonly path: string
  /** In the order of the path. */
  readonly params: readonly TemplateParam[]
  /** Optional parameters of the pattern that are absent here. */
  readonly absent: readonly string[]
}

export interface TemplateParam {
  /** In the template. */
  readonly name: string
  /** In the pattern: `*` for a wildcard without a name. */
  readonly key: string
  /** It takes all that is left of the path. */
  readonly wildcard: boolean
}

/** The templates of a pattern: one, and one more for each of its optional parameters; the shortest first. */
export function templatesOf(pattern: string): Template[] {
  const { segments, names, optional } = parsePattern(pattern)
  const templates: Template[] = []
  for (let length = segments.length - optional; length <= segments.length; length++) {
    const params: TemplateParam[] = []
    let path = ''
    for (const segment of segments.slice(0, length)) {
      if (segment.kind === 'text') {
        path += `/${segment.text}`
        continue
      }
      const wildcard = segment.kind === 'wildcard'
      const name = segment.name === '*' ? unnamed(names) : segment.name
      path += `/{${name}}${wildcard ? '' : segment.suffix}`
      params.push({ name, key: segment.name, wildcard })
    }
    const absent = segments.slice(length).flatMap((segment) => (segment.kind === 'param' ? segment.name : []))
    templates.push({ path: path === '' ? '/' : path, params, absent })
  }
  return templates
}

function unnamed(names: readonly string[]): string {
  let name = 'rest'
  while (names.includes(name)) name += '_'
  return name
}

/** Two templates that differ in names alone are the same path (OpenAPI 3.1 §4.8.8.2). */
export function shapeOf(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}')
}
