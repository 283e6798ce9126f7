/**
 * Wraps single items of lists: `?tag=a` may mean a list of one. If a schema refuses the pairs, it validates them again
 * with a list wherever it declares one.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { bag } from '@volant/engine'
import { isThenable } from '../../types/thenable.ts'
import { record, SchemaDocument } from '../strip/alternatives.ts'
import type { AnySchema } from '../document.ts'
import { keyOf } from '../json-pointer.ts'
import { withFirstFaults } from '../vendors/vendor-of.ts'
import { jsonSchemaOf } from '../json-schema.ts'
import { warnTextless } from './textless.ts'

type Result = StandardSchemaV1.Result<unknown>

/** Gives the schema's own validation, for text of a request. A property that refuses all text is reported on stderr. */
export function wrapSingleItems(schema: StandardSchemaV1, where: string): StandardSchemaV1.Props {
  const props = withFirstFaults(schema)
  let names: ReadonlySet<string> | null = null
  const again = (result: Result, pairs: unknown): Result | Promise<Result> => {
    // It was accepted, or it is no result, which the caller reports. A form need not be there.
    if ((result as Partial<Result> | undefined)?.issues === undefined || pairs === undefined) return result
    names ??= namesOfLists(schema)
    const lists = names.size === 0 ? null : withLists(pairs, names)
    const last = lists === null ? result : props.validate(lists)
    if (!isThenable(last)) warnTextless(schema, where, (name) => isRefused(name, pairs, last))
    return last
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

/** True if the property came as text and has an issue; an earlier schema may have converted it. */
function isRefused(name: string, pairs: unknown, result: Partial<Result> | undefined): boolean {
  const [first] = [(pairs as Record<string, unknown>)[name]].flat()
  const issues: unknown = result?.issues
  const isOfIt = (issue: Partial<StandardSchemaV1.Issue> | null): boolean =>
    Array.isArray(issue?.path) && issue.path.length > 0 && keyOf(issue.path[0]) === name
  return typeof first === 'string' && Array.isArray(issues) && issues.some(isOfIt)
}

/** Gives a copy of the pairs; null if nothing has to change. */
function withLists(pairs: unknown, names: ReadonlySet<string>): object | null {
  let copy: Record<string, unknown> | null = null
  for (const [name, value] of Object.entries(pairs as object)) {
    if (!(typeof value === 'string' || value instanceof Blob) || !names.has(name)) continue
    copy ??= Object.assign(bag(), pairs)
    copy[name] = [value]
  }
  return copy
}

/** Gives the properties that must be lists; none if the schema has no JSON Schema. */
function namesOfLists(schema: StandardSchemaV1): ReadonlySet<string> {
  const described = jsonSchemaOf(schema, 'input')
  if (!('schema' in described)) return new Set()
  const document = new SchemaDocument(described.schema)
  const names = document
    .alternative([described.schema])
    .parts.flatMap(({ properties }) => Object.entries(record(properties)))
    .filter(([, each]) =>
      document.alternative([each as AnySchema]).parts.some(({ type }) => type === 'array'),
    )
    .map(([name]) => name)
  return new Set(names)
}
