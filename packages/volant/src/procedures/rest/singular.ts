/**
 * Names the parameter of a router around others: `postId` of `posts`. Types of clients need these rules as well, and
 * types cannot call a library such as `pluralize`, which disagrees about 8 of the 50 names of the guide
 * (`node lab/library-differences.mjs pluralize`): both follow the tables here.
 */

/** No ending below fits these words, by themselves or as the last part of a name. */
const english =
  'people:person children:child men:man women:woman mice:mouse feet:foot teeth:tooth quizzes:quiz'
const latin = 'indices:index matrices:matrix vertices:vertex analyses:analysis crises:crisis theses:thesis'
/** They lose their s alone. */
const losingS = 'movies cookies zombies selfies calories caches niches shoes toes canoes bases'
/** They lose their es. */
const losingEs = 'aliases biases statuses viruses bonuses campuses buses lenses'
/** They are singular, or do not change. */
const unchanged =
  'series species news status virus bonus campus bus alias bias analysis basis crisis thesis lens atlas canvas gas'

/** The first ending that fits becomes the other one: `categories` has `category`, `boxes` has `box`, `posts` has `post`. */
const endings = 'ies:y sses:ss xes:x zzes:zz ches:ch shes:sh oes:o ss:ss s:'

/** Gives `postId` for `posts`, `blogPostId` for `blog-posts`. */
export function parameterOf(name: string): string {
  // A parameter's name has no hyphens.
  return `${singular(name).replaceAll(/-+(.?)/g, (_, next: string) => next.toUpperCase())}Id`
}

/** Does the same for types. */
export type ParameterOf<N extends string> = `${Camel<Singular<N>>}Id`

const words: readonly (readonly [string, string])[] = [
  ...pairsIn(`${english} ${latin}`),
  ...losingS.split(' ').map((word) => [word, word.slice(0, -1)] as const),
  ...losingEs.split(' ').map((word) => [word, word.slice(0, -2)] as const),
  ...unchanged.split(' ').map((word) => [word, word] as const),
]

function pairsIn(text: string): [plural: string, one: string][] {
  return text.split(' ').map((pair) => pair.split(':') as [string, string])
}

function singular(name: string): string {
  for (const [word, one] of words) {
    if (name === word || name.endsWith(`-${word}`) || name.endsWith(`_${word}`))
      return name.slice(0, -word.length) + one
    if (name.endsWith(capital(word))) return name.slice(0, -word.length) + capital(one)
  }
  const [plural, one] = pairsIn(endings).find(([ending]) => name.endsWith(ending)) ?? ['', '']
  return name.slice(0, name.length - plural.length) + one
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

type Irregular = {
  [P in Words<typeof english | typeof latin> as Before<P>]: P extends `${string}:${infer One}` ? One : never
} & {
  [W in Words<typeof losingS>]: W extends `${infer One}s` ? One : never
} & { [W in Words<typeof losingEs>]: W extends `${infer One}es` ? One : never } & {
  [W in Words<typeof unchanged>]: W
}

type Words<Text extends string> = Text extends `${infer Word} ${infer Others}` ? Word | Words<Others> : Text

type Before<Pair extends string> = Pair extends `${infer Plural}:${string}` ? Plural : never

type Singular<N extends string> = [Exception<N>] extends [never] ? Regular<N> : Exception<N>

type Exception<N extends string> = {
  [W in keyof Irregular & string]: N extends W
    ? Irregular[W]
    : N extends `${infer Head}-${W}`
      ? `${Head}-${Irregular[W]}`
      : N extends `${infer Head}_${W}`
        ? `${Head}_${Irregular[W]}`
        : N extends `${infer Head}${Capitalize<W>}`
          ? `${Head}${Capitalize<Irregular[W]>}`
          : never
}[keyof Irregular & string]

type Regular<
  N extends string,
  Rules extends string = `${typeof endings} `,
> = Rules extends `${infer Plural}:${infer One} ${infer Others}`
  ? N extends `${infer Head}${Plural}`
    ? `${Head}${One}`
    : Regular<N, Others>
  : N

type Camel<N extends string> = N extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N
