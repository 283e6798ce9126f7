/** Lists the parameters of an operation: one for each property of its schemas for path, query, headers and cookies. */
import type { Schema } from '../types/parts.ts'
import type { Components } from './components.ts'
import { propertiesOf } from './properties.ts'
import type { OpenAPIParameter } from './types.ts'
import type { RouteOperation } from './operation.ts'
import type { Template } from './path-templates.ts'
import { withDoubleIntegers } from './wording.ts'

/** The document describes these header fields elsewhere: parameters of these names are ignored (OpenAPI 3.1 §4.8.12.1). */
const elsewhere = new Set(['accept', 'authorization', 'content-type'])

/** `names` are the names in the path, which may be those of another route with the same path. */
export function parametersOf(
  operation: RouteOperation,
  template: Template,
  names: readonly string[],
  components: Components,
): OpenAPIParameter[] {
  const { schemas, name } = operation
  const headers = listed(schemas.headers, 'header', `${name}: headers`, components)
  return [
    ...pathParameters(operation, template, names, components),
    ...queryParameters(operation, components),
    ...headers.filter((each) => !elsewhere.has(each.name)),
    ...listed(schemas.cookies, 'cookie', `${name}: cookies`, components),
  ]
}

function pathParameters(
  { schemas, name }: RouteOperation,
  { params }: Template,
  names: readonly string[],
  components: Components,
): OpenAPIParameter[] {
  const known = listed(schemas.params, 'path', `${name}: params`, components)
  return params.map(({ key, wildcard }, at): OpenAPIParameter => {
    const { description, deprecated, schema } = known.find((each) => each.name === key) ?? {}
    const about = description ?? (wildcard ? 'The rest of the path, slashes included.' : undefined)
    return {
      name: names[at] as string,
      in: 'path',
      required: true,
      ...(about === undefined ? {} : { description: about }),
      ...(deprecated === undefined ? {} : { deprecated }),
      schema: schema ?? { type: 'string' },
    }
  })
}

/** The pairs of a query without a list of properties are those of one object (OpenAPI 3.1 §4.8.12.2, style `form`). */
function queryParameters(
  { schemas, name, route }: RouteOperation,
  components: Components,
): OpenAPIParameter[] {
  const where = `${name}: query`
  const lists: OpenAPIParameter[][] = []
  const others: OpenAPIParameter[] = []
  for (const query of schemas.query) {
    const known = parametersIn(query, 'query', where, components)
    if (known !== null) lists.push(known)
    else if (others.length === 0) {
      const schema = components.use(query, 'input', `${route.path} query`, where)
      others.push({ name: 'query', in: 'query', style: 'form', explode: true, schema })
    }
  }
  return [...united(lists).filter((each) => others.length === 0 || each.name !== 'query'), ...others]
}

function listed(
  schemas: readonly Schema[],
  part: OpenAPIParameter['in'],
  where: string,
  components: Components,
): OpenAPIParameter[] {
  return united(schemas.map((schema) => parametersIn(schema, part, where, components) ?? []))
}

/**
 * The lists are those of the schemas of one part, outermost first. Of parameters with one name the outermost is
 * documented, since its schema is the first that checks what a client sends.
 */
function united(lists: readonly (readonly OpenAPIParameter[])[]): OpenAPIParameter[] {
  const byName = new Map<string, OpenAPIParameter>()
  for (const parameter of lists.flat()) {
    const before = byName.get(parameter.name)
    if (before === undefined) byName.set(parameter.name, parameter)
    else if (parameter.required === true) byName.set(parameter.name, { ...before, required: true })
  }
  return [...byName.values()]
}

/** Gives null for a schema that is no list of properties. */
function parametersIn(
  schema: Schema,
  part: OpenAPIParameter['in'],
  where: string,
  components: Components,
): OpenAPIParameter[] | null {
  const whole = components.raw(schema, 'input', where)
  if (whole === null) return null
  const parameters = propertiesOf(whole)?.map(({ name, required, raw }): OpenAPIParameter => {
    const { description, deprecated, ...rest } = raw
    return {
      name,
      in: part,
      ...(required ? { required } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      ...(deprecated === true ? { deprecated } : {}),
      schema: components.part(withDoubleIntegers(rest), whole, 'input', where),
    }
  })
  return parameters ?? null
}
