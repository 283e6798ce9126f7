/** Markup from templates: every value is escaped unless it is markup itself. */

/** Text that is HTML already; made by `html` and, for the page's own style and script, by `verbatim`. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a template takes: nothing for null and false, a dash for a number that is none. */
export type Content = Markup | string | number | null | undefined | false | readonly Content[]

export function html(template: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const strings = compact.get(template) ?? template.map((text) => text.replace(/\s*\n\s*/g, ' '))
  compact.set(template, strings)
  let text = strings[0] as string
  for (const [index, value] of values.entries()) text += render(value) + (strings[index + 1] as string)
  return new Markup(text)
}

/** Templates without their line ends, which would be a third of a page. */
const compact = new WeakMap<TemplateStringsArray, readonly string[]>()

/** For text of this package alone, never for what comes from results. */
export function verbatim(text: string): Markup {
  return new Markup(text)
}

export function escape(text: string): string {
  const safe = text.replace(/[&<>"'`]/g, (character) => escapes[character] as string)
  return safe.replace(/(?![\t\n\r])\p{Cc}/gu, '\ufffd')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function render(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'string') return escape(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '–'
  return value.map(render).join('')
}
