/** Makes path templates of OpenAPI, which has neither optional parts nor wildcards, from the pattern of a route. */
import { parsePattern } from '../routing/path.ts'

export interface Template {
  /** The path, such as `/users/{id}`. */
  readonly path: string
  /** The parameters, in the order of the path. */
  readonly params: readonly TemplateParam[]
  /** The optional parameters of the pattern that the path leaves out. */
  readonly absent: readonly string[]
}

export interface TemplateParam {
  /** The name in the template. */
  readonly name: string
  /** The name in the pattern: `*` for a wildcard without a name. */
  readonly key: string
  /** True if it takes the rest of the path. */
  readonly wildcard: boolean
}

/** A pattern has one template, and one more for each optional parameter; the shortest comes first. */
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

/** Templates of one shape are one path, whatever the names of their parameters (OpenAPI 3.1 §4.8.8.2). */
export function shapeOf(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}')
}
