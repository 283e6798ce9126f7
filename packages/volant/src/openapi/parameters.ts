/** The parameters of an operation: every property of its params, query, headers and cookies schemas is one. */
import type { Schema } from '../types/parts.ts'
import type { Components, Property } from './components.ts'
import type { OpenAPIParameter } from './types.ts'
import type { Operation } from './operation.ts'
import type { Template } from './path-templates.ts'

/** Fields that are described elsewhere in a document: parameters of these names mean nothing (OpenAPI 3.1 §4.8.12.1). */
const elsewhere = new Set(['accept', 'authorization', 'content-type'])

/** `names` are those of the template, where another route of the same paths came first. */
export function parametersOf(
  operation: Operation,
  template: Template,
  names: readonly string[],
  components: Components,
): OpenAPIParameter[] {
  const { schemas } = operation
  return [
    ...pathParameters(operation, template, names, components),
    ...queryParameters(operation, components),
    ...listed(operation, schemas.headers, 'header', components).filter(({ name }) => !elsewhere.has(name)),
    ...listed(operation, schemas.cookies, 'cookie', components),
  ]
}

function pathParameters(
  operation: Operation,
  { params }: Template,
  names: readonly string[],
  components: Components,
): OpenAPIParameter[] {
  const { schemas, name: route } = operation
  const known = united(schemas.params.map((each) => components.properties(each, `${route}: params`) ?? []))
  return params.map(({ key, wildcard }, at): OpenAPIParameter => {
    const property = known.find((each) => each.name === key)
    const made = property === undefined ? null : parameter(property, 'path')
    const description =
      made?.description ?? (wildcard ? 'The rest of the path, slashes included.' : undefined)
    return {
      name: names[at] as string,
      in: 'path',
      required: true,
      ...(description === undefined ? {} : { description }),
      ...(made?.deprecated === undefined ? {} : { deprecated: made.deprecated }),
      schema: made?.schema ?? { type: 'string' },
    }
  })
}

/** Where a schema is no list of properties, its pairs are those of one object (OpenAPI 3.1 §4.8.12.2, style `form`). */
function queryParameters(operation: Operation, components: Components): OpenAPIParameter[] {
  const where = `${operation.name}: query`
  const lists: Property[][] = []
  const others: OpenAPIParameter[] = []
  for (const query of operation.schemas.query) {
    const known = components.properties(query, where)
    if (known !== null) lists.push(known)
    else if (others.length === 0) {
      const schema = components.use(query, 'input', `${operation.pattern} query`, where)
      others.push({ name: 'query', in: 'query', style: 'form', explode: true, schema })
    }
  }
  const listed = united(lists).map((property) => parameter(property, 'query'))
  return [...listed.filter(({ name }) => others.length === 0 || name !== 'query'), ...others]
}

function listed(
  operation: Operation,
  schemas: readonly Schema[],
  place: 'header' | 'cookie',
  components: Components,
): OpenAPIParameter[] {
  const where = `${operation.name}: ${place}s`
  const known = schemas.map((schema) => components.properties(schema, where) ?? [])
  return united(known).map((property) => parameter(property, place))
}

/** Schemas of one part, outermost first. Of properties with one name the outermost is documented: it checks the client's value first. */
function united(lists: readonly (readonly Property[])[]): Property[] {
  const [only] = lists
  if (lists.length === 1) return [...(only as readonly Property[])]
  const byName = new Map<string, Property>()
  for (const property of lists.flat()) {
    const before = byName.get(property.name)
    if (before === undefined) byName.set(property.name, property)
    else if (property.required) byName.set(property.name, { ...before, required: true })
  }
  return [...byName.values()]
}

function parameter(
  { name, required, raw, schema }: Property,
  place: OpenAPIParameter['in'],
): OpenAPIParameter {
  const { description, deprecated } = raw
  return {
    name,
    in: place,
    ...(required ? { required } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    schema,
  }
}
