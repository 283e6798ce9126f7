/**
 * Lists in text: `?tag=a` is a list of one, but nothing in it says so. A schema that refuses such text is asked again,
 * with a list wherever it has one; those that accept what there is are asked once.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Bag } from '@volant/engine'
import { type JSONSchema, record, SchemaDocument } from '../serialization/reading.ts'
import { isThenable } from '../thenable.ts'
import { jsonSchemaOf } from './json-schema.ts'

type Result = StandardSchemaV1.Result<unknown>

/** `schema`'s own validation, for the text of a request. */
export function takingLists(schema: StandardSchemaV1): StandardSchemaV1.Props {
  const props = schema['~standard']
  let names: ReadonlySet<string> | null = null
  const again = (result: Result, pairs: unknown): Result | Promise<Result> => {
    // Whatever this is, the caller finds out.
    if ((result as Partial<Result> | undefined)?.issues === undefined) return result
    names ??= namesOfLists(schema)
    const lists = names.size === 0 ? null : withLists(pairs, names)
    return lists === null ? result : props.validate(lists)
  }
  return {
    version: props.version,
    vendor: props.vendor,
    validate: (pairs) => {
      const result = props.validate(pairs)
      return isThenable(result)
        ? result.then((settled: Result) => again(settled, pairs))
        : again(result, pairs)
    },
  }
}

/** A copy; null where there is nothing to change. */
function withLists(pairs: unknown, names: ReadonlySet<string>): object | null {
  let copy: Record<string, unknown> | null = null
  for (const [name, value] of Object.entries(pairs as object)) {
    if (typeof value !== 'string' || !names.has(name)) continue
    copy ??= Object.assign(new Bag() as Record<string, unknown>, pairs)
    copy[name] = [value]
  }
  return copy
}

/** Properties that can be nothing but a list; none where the schema has no JSON Schema. */
function namesOfLists(schema: StandardSchemaV1): ReadonlySet<string> {
  const described = jsonSchemaOf(schema, 'input')
  if (!('schema' in described)) return new Set()
  const document = new SchemaDocument(described.schema)
  const names = document
    .reading([described.schema])
    .parts.flatMap(({ properties }) => Object.entries(record(properties)))
    .filter(([, each]) => document.reading([each as JSONSchema]).parts.some(({ type }) => type === 'array'))
    .map(([name]) => name)
  return new Set(names)
}
