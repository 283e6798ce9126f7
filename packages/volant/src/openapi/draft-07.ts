/** Writes JSON Schema of draft 2020-12 in the words of draft 7, which AsyncAPI 3.0 has. */
import { isObject, mapSubschemas } from '../schema/document.ts'
import type { OpenAPISchema } from './types.ts'

/**
 * Gives a schema that allows the same values, or more where draft 7 has no word for it (`unevaluatedProperties`,
 * `minContains`). The discriminator of OpenAPI, which is an object, is left out.
 */
export function draft07Of(schema: OpenAPISchema): OpenAPISchema {
  const made = mapSubschemas(schema, draft07Of)
  // Draft 7 always asks for one item.
  if (made['minContains'] === 0) delete made['contains']
  for (const keyword of newer) delete made[keyword]
  const { prefixItems, items, dependentRequired, dependentSchemas, $ref, ...rest } = made
  const written: OpenAPISchema = { ...rest }
  if (prefixItems !== undefined) {
    written['items'] = prefixItems
    if (items !== undefined) written['additionalItems'] = items
  } else if (items !== undefined) written['items'] = items
  if (isObject(dependentRequired) || isObject(dependentSchemas))
    written['dependencies'] = { ...(dependentRequired as object), ...(dependentSchemas as object) }
  if ($ref === undefined) return written
  // Draft 7 ignores what stands beside a reference (§8.3).
  if (Object.keys(written).length === 0) return { $ref }
  return { ...written, allOf: [...((written['allOf'] as unknown[] | undefined) ?? []), { $ref }] }
}

const newer = [
  '$schema',
  '$comment',
  'discriminator',
  'unevaluatedItems',
  'unevaluatedProperties',
  'minContains',
  'maxContains',
  'contentSchema',
]
