/** Values of `traceparent`, each with its verdict by W3C Trace Context §3.2.2, and lists of `tracestate` by §3.3.1. */
const trace = '0af7651916cd43dd8448eb211c80319c'
const span = 'b7ad6b7169203331'

export interface Verdict {
  readonly why: string
  readonly field: string
  /** The trace id and the flags that are continued; null where a new trace begins. */
  readonly continued: readonly [traceId: string, parentId: string, sampled: boolean] | null
}

const yes = (why: string, field: string, sampled = true): Verdict => ({
  why,
  field,
  continued: [trace, span, sampled],
})
const no = (why: string, field: string): Verdict => ({ why, field, continued: null })

export const traceparents: readonly Verdict[] = [
  yes('sampled', `00-${trace}-${span}-01`),
  yes('not sampled', `00-${trace}-${span}-00`, false),
  yes('sampled and random, of level 2', `00-${trace}-${span}-03`),
  yes('random alone', `00-${trace}-${span}-02`, false),
  yes('unknown flags beside sampled', `00-${trace}-${span}-ff`),
  yes('unknown flags alone', `00-${trace}-${span}-fc`, false),
  yes('a later version', `01-${trace}-${span}-01`),
  yes('the last version', `fe-${trace}-${span}-01`),
  yes('a later version with more behind', `cc-${trace}-${span}-01-what-the-future-will-be-like`),
  yes('a later version with an empty end', `cc-${trace}-${span}-01-`),
  yes('blanks around it', `  00-${trace}-${span}-01\t`),
  no('empty', ''),
  no('a dash', '-'),
  no('words', 'not a traceparent'),
  no('version ff', `ff-${trace}-${span}-01`),
  no('version of one digit', `0-${trace}-${span}-01`),
  no('version of three digits', `000-${trace}-${span}-01`),
  no('version that is no hex', `0g-${trace}-${span}-01`),
  no('version in capitals', `FE-${trace}-${span}-01`),
  no('no version', `${trace}-${span}-01`),
  no('version 00 with more behind', `00-${trace}-${span}-01-more`),
  no('version 00 with a dash behind', `00-${trace}-${span}-01-`),
  no('a later version with more and no dash', `cc-${trace}-${span}-01.what-the-future-will-be-like`),
  no('trace id of zeros', `00-${'0'.repeat(32)}-${span}-01`),
  no('span id of zeros', `00-${trace}-${'0'.repeat(16)}-01`),
  no('trace id in capitals', `00-${trace.toUpperCase()}-${span}-01`),
  no('span id in capitals', `00-${trace}-${span.toUpperCase()}-01`),
  no('trace id too short', `00-${trace.slice(1)}-${span}-01`),
  no('trace id too long', `00-${trace}0-${span}-01`),
  no('span id too short', `00-${trace}-${span.slice(1)}-01`),
  no('span id too long', `00-${trace}-${span}0-01`),
  no('trace id that is no hex', `00-${trace.slice(1)}.-${span}-01`),
  no('span id that is no hex', `00-${trace}-${span.slice(1)}.-01`),
  no('flags of one digit', `00-${trace}-${span}-1`),
  no('flags of three digits', `00-${trace}-${span}-001`),
  no('flags that are no hex', `00-${trace}-${span}-.0`),
  no('no flags', `00-${trace}-${span}`),
  no('no flags and a dash', `00-${trace}-${span}-`),
  no('underscores', `00_${trace}_${span}_01`),
  no('blanks inside', `00 -${trace}-${span}-01`),
  no('two in one field', `00-${trace}-${span}-01, 00-${trace}-${span}-01`),
  no('quotes', `"00-${trace}-${span}-01"`),
  no('very long', `00-${trace}-${span}-01${'-a'.repeat(2_000)}`),
  no('a line of another field', `00-${trace}-${span}-01\\r\\nx: y`),
]

/** Lists, and what is passed on of each. */
export const tracestates: readonly (readonly [why: string, field: string, passed: string])[] = [
  ['a member', 'congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
  ['two members', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
  ['blanks and empty members', ' a=1 , ,b=2,', 'a=1,b=2'],
  ['a key of a tenant', 'fw529a3039@dt=FfvVq', 'fw529a3039@dt=FfvVq'],
  ['blanks inside a value', 'a=b c', 'a=b c'],
  ['32 members', list(32), list(32)],
  ['33 members', list(33), ''],
  ['a key twice', 'a=1,a=2', ''],
  ['a key in capitals', 'A=1', ''],
  ['no key', '=1', ''],
  ['no value', 'a=', ''],
  ['no equals sign', 'a', ''],
  ['two equals signs', 'a=1=2', ''],
  ['a key that is too long', `${'a'.repeat(257)}=1`, ''],
  ['a value that is too long', `a=${'1'.repeat(257)}`, ''],
  ['one wrong member among others', 'a=1,B=2', ''],
  ['markup', '<script>=1', ''],
  ['a name of the prototype', '__proto__=1', ''],
  // What is longer than 512 characters loses long members first, then the last ones.
  [
    'long members',
    `a=${'1'.repeat(200)},b=2,c=${'3'.repeat(200)},d=${'4'.repeat(200)}`,
    `a=${'1'.repeat(200)},b=2,c=${'3'.repeat(200)}`,
  ],
  ['many members', list(32, 30), list(14, 30)],
]

function list(count: number, length = 1): string {
  return Array.from({ length: count }, (_, at) => `k${at}=${'v'.repeat(length)}`).join(',')
}
