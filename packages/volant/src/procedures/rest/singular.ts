/**
 * The parameter of a router around others: `postId` of `posts`. The rules are there twice, for the door and for the
 * types of its client.
 */

/** Words no rule fits, by themselves or as the last part of a name. */
const irregular = {
  people: 'person',
  children: 'child',
  men: 'man',
  women: 'woman',
  mice: 'mouse',
  feet: 'foot',
  teeth: 'tooth',
  indices: 'index',
  matrices: 'matrix',
  vertices: 'vertex',
  quizzes: 'quiz',
  movies: 'movie',
  cookies: 'cookie',
  zombies: 'zombie',
  selfies: 'selfie',
  calories: 'calorie',
  series: 'series',
  species: 'species',
  news: 'news',
  caches: 'cache',
  niches: 'niche',
  shoes: 'shoe',
  toes: 'toe',
  canoes: 'canoe',
  aliases: 'alias',
  biases: 'bias',
  statuses: 'status',
  viruses: 'virus',
  bonuses: 'bonus',
  campuses: 'campus',
  buses: 'bus',
  analyses: 'analysis',
  bases: 'base',
  crises: 'crisis',
  theses: 'thesis',
  status: 'status',
  virus: 'virus',
  bonus: 'bonus',
  campus: 'campus',
  bus: 'bus',
  alias: 'alias',
  bias: 'bias',
  analysis: 'analysis',
  basis: 'basis',
  crisis: 'crisis',
  thesis: 'thesis',
  lens: 'lens',
  lenses: 'lens',
  atlas: 'atlas',
  canvas: 'canvas',
  gas: 'gas',
} as const

type Irregular = typeof irregular

/** `postId` of `posts`, `blogPostId` of `blog-posts`. */
export function parameterOf(name: string): string {
  return `${camel(singular(name))}Id`
}

/** `parameterOf`. */
export type ParameterOf<N extends string> = `${Camel<Singular<N>>}Id`

/** `categories` has `category`, `boxes` has `box`, `heroes` has `hero`, `posts` has `post`. */
export function singular(name: string): string {
  for (const [word, one] of Object.entries(irregular)) {
    if (name === word || name.endsWith(`-${word}`) || name.endsWith(`_${word}`))
      return name.slice(0, -word.length) + one
    if (name.endsWith(capital(word))) return name.slice(0, -word.length) + capital(one)
  }
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(?:ss|x|zz|ch|sh|o)es$/.test(name)) return name.slice(0, -2)
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name
}

/** `singular`. */
export type Singular<N extends string> = [Exception<N>] extends [never] ? Regular<N> : Exception<N>

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

type Regular<N extends string> = N extends `${infer S}ies`
  ? `${S}y`
  : N extends `${infer S}es`
    ? S extends `${string}${'ss' | 'x' | 'zz' | 'ch' | 'sh' | 'o'}`
      ? S
      : `${S}e`
    : N extends `${string}ss`
      ? N
      : N extends `${infer S}s`
        ? S
        : N

/** What a parameter cannot be called is left out of a name. */
function camel(name: string): string {
  return name.replaceAll(/-+(.?)/g, (_, next: string) => next.toUpperCase())
}

type Camel<N extends string> = N extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
