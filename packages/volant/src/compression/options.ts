/** The options of `compress`, and their check. */
import { type Coding, codings, type Levels } from './codings.ts'
import { isCompressible } from './compressible.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { Context } from '../types/context.ts'

/** The options of `compress`. */
export interface CompressOptions {
  /**
   * The codings, the preferred first, for clients that take several equally. Those that this version of Node.js lacks
   * are left out: zstd came with 22.15 and 23.8. Default `['zstd', 'br', 'gzip']`.
   */
  encodings?: readonly ('zstd' | 'br' | 'gzip')[] | undefined
  /** The bytes from which a body is compressed, where its length is known. Default 1,024. */
  threshold?: number | undefined
  /** The bytes up to which a body is compressed at once, on the thread of JavaScript. Default 32,768. */
  syncThreshold?: number | undefined
  /**
   * Tells which replies to compress, by their media type in lower case and without parameters: a RegExp or a function.
   * Default: text, JSON, XML, and other types that get shorter.
   */
  filter?: RegExp | ((ctx: Context, type: string) => boolean) | undefined
  /** How hard each coding tries: zstd 1 to 19, br 0 to 11, gzip 1 to 9. Default `{ zstd: 3, br: 4, gzip: 6 }`. */
  levels?: { zstd?: number | undefined; br?: number | undefined; gzip?: number | undefined } | undefined
  /** The streams that may be compressed at one time. Those that begin later are sent as they are. Default 256. */
  maxCompressing?: number | undefined
}

const names = ['encodings', 'threshold', 'syncThreshold', 'filter', 'levels', 'maxCompressing'] as const

const usual = { zstd: 3, br: 4, gzip: 6 } as const satisfies Levels
const ranges = { zstd: [1, 19], br: [0, 11], gzip: [1, 9] } as const
const all = Object.keys(usual) as Coding[]

/** The options as they are used. */
export interface CompressSettings {
  readonly encodings: readonly Coding[]
  readonly threshold: number
  readonly syncThreshold: number
  readonly filter: (ctx: Context, type: string) => boolean
  readonly levels: Levels
  readonly maxCompressing: number
}

/** Throws `E_BAD_OPTION`. */
export function checked(options: CompressOptions): CompressSettings {
  checkNames('compress', options, names, foreignNames.compress)
  const { threshold = 1_024, syncThreshold = 32_768, maxCompressing = 256 } = options
  const bytes = [0, 2 ** 31 - 1] as const
  return {
    encodings: encodingsOf(options.encodings ?? codings),
    threshold: checkInteger('compress: threshold', threshold, bytes, 'an integer of bytes from 0'),
    syncThreshold: checkInteger(
      'compress: syncThreshold',
      syncThreshold,
      bytes,
      'an integer of bytes from 0',
    ),
    filter: filterOf(options.filter),
    levels: levelsOf(options.levels ?? {}),
    maxCompressing: checkInteger('compress: maxCompressing', maxCompressing, bytes, 'an integer from 0'),
  }
}

function encodingsOf(value: unknown): Coding[] {
  const wanted = `an array of ${all.map((each) => `'${each}'`).join(', ')}, each once`
  const list = checkEach('compress: encodings', value, wanted, (name, each) => {
    if (!all.includes(each as Coding)) throw bad(name, each, wanted)
    return each as Coding
  })
  if (list.length === 0 || new Set(list).size < list.length) throw bad('compress: encodings', value, wanted)
  return list.filter((each) => codings.includes(each))
}

function filterOf(filter: unknown): CompressSettings['filter'] {
  if (filter === undefined) return (_, type) => isCompressible(type)
  if (filter instanceof RegExp) {
    // With these flags a RegExp would keep its place between replies.
    const pattern = new RegExp(filter.source, filter.flags.replace(/[gy]/g, ''))
    return (_, type) => pattern.test(type)
  }
  if (typeof filter === 'function') return filter as CompressSettings['filter']
  throw bad('compress: filter', filter, 'a RegExp of media types, or a function (ctx, type)')
}

function levelsOf(levels: NonNullable<CompressOptions['levels']>): Levels {
  checkNames('compress: levels', levels, all)
  const level = (coding: Coding): number => {
    const [min, max] = ranges[coding]
    const value = levels[coding] ?? usual[coding]
    return checkInteger(`compress: levels.${coding}`, value, [min, max], `an integer from ${min} to ${max}`)
  }
  return { zstd: level('zstd'), br: level('br'), gzip: level('gzip') }
}
