/**
 * Validates by plain JSON Schema, with Ajv. Ajv is loaded, and a schema compiled, when the first value comes.
 *
 * All faults of a small value are reported. Of a large value, or one with a recursive schema, only the first fault is:
 * looking for more would let a client choose how long that takes.
 */
import { madeOnce } from '../made-once.ts'
import { createRequire } from 'node:module'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Ajv2020, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { VolantError } from '../../errors/errors.ts'
import { issuesFrom } from './ajv-issues.ts'
import { normalize, type NormalSchema } from '../normalize.ts'
import { regularExpression } from '../keywords.ts'
import { isFile, type JSONSchemaObject, mapSubschemas } from '../document.ts'
import { isLarge } from './large.ts'

/** The most characters of a text of format `url`: its regular expression takes quadratic time, 2 ms for this many. */
const longestURL = 2_048

/** A schema, compiled in the ways that were needed so far. */
export class Validator {
  readonly normal: NormalSchema
  readonly #compiled = new Map<number, ValidateFunction>()

  constructor(normal: NormalSchema) {
    this.normal = normal
  }

  /** `fills` puts defaults into `value` itself. Throws `E_BAD_SCHEMA` for what Ajv cannot compile. */
  check(value: unknown, fills: boolean, where: string): StandardSchemaV1.Result<unknown> {
    const fill = fills && this.normal.hasDefaults ? filling : 0
    const first = this.#for(fill, where)
    if (first(value)) return { value }
    const { errors } = first
    if (this.normal.isRecursive || isLarge(value)) return { issues: issuesFrom(errors as ErrorObject[]) }
    const all = this.#for(fill | everything, where)
    all(value)
    return { issues: issuesFrom(all.errors ?? (errors as ErrorObject[])) }
  }

  #for(how: number, where: string): ValidateFunction {
    let compiled = this.#compiled.get(how)
    if (compiled === undefined) {
      const { compiled: schema, namesInherited } = this.normal
      compiled = compile(schema, how | (namesInherited ? ownOnly : 0), where)
      this.#compiled.set(how, compiled)
    }
    return compiled
  }
}

/** The ways to compile, as bits. */
const filling = 1
const everything = 2
const ownOnly = 4

const instances = new Map<number, Ajv2020>()

function compile(schema: JSONSchemaObject, how: number, where: string): ValidateFunction {
  const ajv = madeOnce(instances, how, () =>
    load({
      useDefaults: (how & filling) !== 0,
      allErrors: (how & everything) !== 0,
      // Inherited members are no properties. It costs a call for each property, so only where a name is inherited.
      ownProperties: (how & ownOnly) !== 0,
    }),
  )
  try {
    return ajv.compile(schema)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new VolantError('E_BAD_SCHEMA', `${where}: ${why}`, { cause })
  } finally {
    // Ajv would keep it for as long as the process runs.
    ajv.removeSchema(schema)
  }
}

function load(options: Options): Ajv2020 {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const addFormats = require('ajv-formats') as typeof import('ajv-formats').default
  const ajv = new Ajv2020({
    ...options,
    strict: false,
    // JSON has no Infinity and no NaN.
    strictNumbers: true,
    // `normalize` has checked the schema.
    meta: false,
    validateSchema: false,
    logger: false,
    // 19.99 has to be a multiple of 0.01, although binary fractions are not exact.
    multipleOfPrecision: 9,
    code: { regExp },
  })
  addFormats(ajv)
  const url = ajv.formats.url as RegExp
  ajv.addFormat('url', (text: string) => text.length <= longestURL && url.test(text))
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (on: boolean, items: readonly unknown[]) => !on || areUnique(items),
  })
  ajv.addKeyword({
    keyword: fileKeyword,
    validate: (_: unknown, value: unknown) => value instanceof Blob,
    error: { message: 'must be a file' },
  })
  return ajv
}

/** The keyword that stands for a text of format `binary` in the schema of a form. */
const fileKeyword = 'x-volant-file'

/** Gives the validator for forms, in which a text of format `binary` is a `File`. */
export function withFiles({ normal }: Validator): Validator {
  return new Validator({
    ...normal,
    schema: filesIn(normal.schema),
    compiled: filesIn(normal.compiled),
  })
}

function filesIn(schema: JSONSchemaObject): JSONSchemaObject {
  if (isFile(schema)) return { [fileKeyword]: true }
  return mapSubschemas(schema, filesIn)
}

const regExp = Object.assign((pattern: string) => regularExpression(pattern) as RegExp, { code: '' })

/** Takes linear time; Ajv compares each item with each other. */
function areUnique(items: readonly unknown[]): boolean {
  return new Set(items.map(canonical)).size === items.length
}

/** Gives the same text for the same value, whatever the order of its members. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${JSON.stringify(value)}`
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
  return `{${members.sort().join()}}`
}

const validators = new WeakMap<object, Validator>()

/** Gives the validator of a plain JSON Schema, made once. Throws `E_BAD_SCHEMA` with the pointer of a mistake in it. */
export function validatorOf(schema: object, where: string): Validator {
  return madeOnce(validators, schema, () => new Validator(normalize(schema, where)))
}
