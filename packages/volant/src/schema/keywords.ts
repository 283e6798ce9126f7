/** Lists the keywords of JSON Schema, of draft 2020-12 and of the drafts before it, and the values that each takes. */

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

/** The keywords that this package knows, by what they take. `$async` belongs to Ajv. */
const byKind: Readonly<Record<KeywordKind, string>> = {
  schema:
    'additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties',
  schemas: 'allOf anyOf oneOf prefixItems',
  named: '$defs definitions dependencies dependentSchemas patternProperties properties',
  any: 'const default examples',
  text: '$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema contentEncoding contentMediaType description title',
  boolean: 'deprecated nullable readOnly uniqueItems writeOnly',
  number: 'exclusiveMaximum exclusiveMinimum maximum minimum',
  positive: 'multipleOf',
  count: 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties',
  names: 'required',
  lists: 'dependentRequired',
  type: 'type',
  enum: 'enum',
  pattern: 'pattern',
  format: 'format',
}

export const keywords: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries(byKind).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as KeywordKind] as const),
  ),
)

/** These keywords refuse no value by themselves: annotations, schemas to refer to, and parts of other keywords. */
export const notAsserting: ReadonlySet<string> = new Set(
  '$anchor $comment $defs $dynamicAnchor $id $schema additionalItems contentEncoding contentMediaType contentSchema default definitions deprecated description else examples maxContains minContains nullable readOnly then title writeOnly'.split(
    ' ',
  ),
)

/** The formats that are checked are those of ajv-formats. */
export const formats: readonly string[] =
  'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double password binary'.split(
    ' ',
  )

/** Says what a keyword of this kind takes if `value` is something else; null if `value` fits. */
export function misfit(kind: KeywordKind, value: unknown): string | null {
  const check = checks[kind]
  return check === undefined || check.fits(value) ? null : check.takes
}

/** Gives null for an invalid pattern. The drafts ask for the flag `u`, but many patterns are valid only without it. */
export function regularExpression(pattern: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // The pattern may be valid with the other flags.
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
