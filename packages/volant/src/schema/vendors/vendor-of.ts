/** Finds what is known of the library of a schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Schema } from '../../types/parts.ts'
import { arktype } from './arktype.ts'
import { plain } from './plain.ts'
import { valibot } from './valibot.ts'
import type { VendorIssue, Vendor } from './vendor.ts'
import { zod } from './zod.ts'

const known: Readonly<Record<string, Vendor>> = { zod, valibot, arktype, ajv: plain }

/** The entry for any other library: its issues may have the fields of those that are known. */
const unknown: Vendor = {
  expectation: ({ expected, code, type }: VendorIssue) => {
    if (typeof expected === 'string') return `expected ${expected}`
    if (typeof code === 'string') return code
    return typeof type === 'string' ? type : 'not as declared'
  },
}

/** Finds the library by the name that schemas give in `~standard.vendor`. */
export function vendorNamed(name: string): Vendor {
  return Object.hasOwn(known, name) ? (known[name] as Vendor) : unknown
}

export function vendorOf(schema: object): Vendor {
  return '~standard' in schema ? vendorNamed(String((schema as StandardSchemaV1)['~standard'].vendor)) : plain
}

/** Finds the library by the schema's shape: a start does not read `~standard`, which Zod makes at the first access. */
export function vendorByShape(schema: object): Vendor | null {
  if ('_zod' in schema) return zod
  if ('~run' in schema) return valibot
  if (typeof schema === 'function' && 'allows' in schema) return arktype
  return '~standard' in schema ? null : plain
}

/** True for `void()` or `undefined()` of Zod or Valibot, which take `undefined` and nothing else. */
export function isVoid(schema: Schema): boolean {
  return vendorByShape(schema)?.isVoid?.(schema) ?? false
}

/**
 * Gives the members of an object that has no others, as the schema's own structure shows them, because a start asks no
 * library for a JSON Schema. Null where the structure does not show them.
 */
export function membersSeen(schema: Schema): readonly string[] | null {
  try {
    return vendorByShape(schema)?.membersOf?.(schema) ?? null
  } catch {
    // Another version of the library keeps them elsewhere.
    return null
  }
}

/** Gives `schema`'s own validation for values of clients; libraries that are not known look for every fault. */
export function withFirstFaults(schema: StandardSchemaV1): StandardSchemaV1.Props {
  const props = schema['~standard']
  return vendorNamed(props.vendor).withFirstFaults?.(schema, props) ?? props
}
