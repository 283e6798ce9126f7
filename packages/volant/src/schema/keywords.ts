/** The keywords of JSON Schema (draft 2020-12 and those it replaced), and what each of them takes. */

/** `schema`, `schemas` (a list) and `named` (by name) hold schemas; the others hold values. */
export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'named'
  | 'any'
  | 'text'
  | 'boolean'
  | 'number'
  | 'positive'
  | 'count'
  | 'names'
  | 'lists'
  | 'type'
  | 'enum'
  | 'pattern'
  | 'format'

/** Everything this package knows of, but `$async`, which is Ajv's. */
export const keywords = {
  $schema: 'text',
  $id: 'text',
  $ref: 'text',
  $recursiveRef: 'text',
  $dynamicRef: 'text',
  $anchor: 'text',
  $dynamicAnchor: 'text',
  $comment: 'text',
  $defs: 'named',
  definitions: 'named',
  type: 'type',
  enum: 'enum',
  const: 'any',
  default: 'any',
  examples: 'any',
  title: 'text',
  description: 'text',
  deprecated: 'boolean',
  readOnly: 'boolean',
  writeOnly: 'boolean',
  properties: 'named',
  patternProperties: 'named',
  additionalProperties: 'schema',
  unevaluatedProperties: 'schema',
  propertyNames: 'schema',
  required: 'names',
  minProperties: 'count',
  maxProperties: 'count',
  dependencies: 'named',
  dependentSchemas: 'named',
  dependentRequired: 'lists',
  items: 'schema',
  prefixItems: 'schemas',
  additionalItems: 'schema',
  unevaluatedItems: 'schema',
  contains: 'schema',
  minContains: 'count',
  maxContains: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'boolean',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'pattern',
  format: 'format',
  contentEncoding: 'text',
  contentMediaType: 'text',
  contentSchema: 'schema',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword
  then: 'schema',
  else: 'schema',
  nullable: 'boolean',
} as const satisfies Record<string, KeywordKind>

/** Keywords that refuse no value by themselves: words about it, schemas to refer to, and parts of other keywords. */
export const notAsserting: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$comment',
  '$defs',
  'definitions',
  'default',
  'examples',
  'title',
  'description',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'additionalItems',
  'minContains',
  'maxContains',
  'then',
  'else',
  'nullable',
])

/** Formats that are checked: those of ajv-formats. */
export const formats: readonly string[] = [
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'regex',
  'uuid',
  'json-pointer',
  'json-pointer-uri-fragment',
  'relative-json-pointer',
  'byte',
  'int32',
  'int64',
  'float',
  'double',
  'password',
  'binary',
]

/** What a keyword of this kind takes, if `value` is not that; else null. */
export function misfit(kind: KeywordKind, value: unknown): string | null {
  const check = checks[kind]
  return check === undefined || check.fits(value) ? null : check.takes
}

/** Patterns are ECMA-262 with `u`, as the draft asks; many are written without it, and hold then without. */
export function regularExpression(pattern: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // The other flags, or null.
    }
  }
  return null
}

const types: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

const isText = (value: unknown): value is string => typeof value === 'string'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const checks: Partial<Record<KeywordKind, { fits: (value: unknown) => boolean; takes: string }>> = {
  text: { fits: isText, takes: 'a text' },
  boolean: { fits: (value) => typeof value === 'boolean', takes: 'true or false' },
  number: { fits: Number.isFinite, takes: 'a number' },
  positive: { fits: (value) => Number.isFinite(value) && (value as number) > 0, takes: 'a number over 0' },
  count: {
    fits: (value) => Number.isInteger(value) && (value as number) >= 0,
    takes: 'a whole number from 0',
  },
  names: { fits: areTexts, takes: 'an array of texts' },
  lists: {
    fits: (value) => typeof value === 'object' && value !== null && Object.values(value).every(areTexts),
    takes: 'arrays of texts by name',
  },
  type: {
    fits: (value) =>
      (Array.isArray(value) ? value.length > 0 : true) &&
      [value].flat().every((each) => types.includes(each)),
    takes: `one or more of ${types.join(', ')}`,
  },
  enum: { fits: (value) => Array.isArray(value) && value.length > 0, takes: 'an array of values' },
  pattern: {
    fits: (value) => isText(value) && regularExpression(value) !== null,
    takes: 'a regular expression as text',
  },
  format: {
    fits: (value) => isText(value) && formats.includes(value),
    takes: `one of ${formats.join(', ')}; others are written as a pattern`,
  },
}
