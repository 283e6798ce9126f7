/** The page of an invented run. */
import { type Results } from '../../src/analysis.ts'
import { reportPage } from '../../src/report/page.ts'
import { inventedRun } from '../invented-run.ts'

/** A page of a whole run takes a second; those that are not of a changed run are made once. */
const pages = new Map<number, string>()

export function pageOf(rounds = 5): string {
  const page = pages.get(rounds) ?? reportPage(inventedRun(rounds))
  pages.set(rounds, page)
  return page
}

export function emptyRun(): Results {
  const { run } = inventedRun()
  const { criterion: _, ...rest } = run
  return { run: { ...rest, entries: [], scenarios: [] }, cells: [] }
}

/** What is wrong with the nesting; null when nothing is. */
export function unbalanced(page: string): string | null {
  const open: string[] = []
  const text = page.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '').replace(/^<!doctype html>/, '')
  for (const [tag, slash, name, closed] of text.matchAll(/<(\/?)([a-zA-Z][\w-]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (closed || name === 'meta') continue
    if (!slash) open.push(name as string)
    else if (open.pop() !== name) return `${tag} where ${open.at(-1)} is open`
  }
  const stray = /<(?![/a-zA-Z])|&(?!(?:[a-z]+|#\d+);)/.exec(text)
  if (stray) return text.slice(stray.index, stray.index + 40)
  return open.length > 0 ? `open at the end: ${open.join(' ')}` : null
}
