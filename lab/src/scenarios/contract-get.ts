import type { Proof, Request, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'

const query = 'page=2&limit=10&sort=name'

/** Both prefixes have the same length, and so have their replies. */
function variant(name: string, prefix: string): Variant {
  const reply = `{"category":"books","id":{#1},"page":2,"limit":10,"sort":"name"}`
  const request: Request = get(`${prefix}/books/{1..9999}?${query}`, reply)
  return { name, lane: 'plain', measure: { kind: 'load', load: load(request) } }
}

const proven = (prefix: string): Proof => ({
  path: `${prefix}/books/7?${query}`,
  status: 200,
  reply: '{"category":"books","id":7,"page":2,"limit":10,"sort":"name"}',
})

const refused = (path: string, status = 400) => ({ path, status })

/** Ours: what it costs to check two parameters and three query values, and then the reply too. */
export const contractGet: Scenario = {
  name: 'contract-get',
  title: 'A validated GET',
  about:
    'GET of two parameters and three query values, all of which are sent back: by a handler that reads them as they came, by one that calls Zod itself, behind schemas, and with a schema for the reply as well.',
  document: null,
  program: 'items',
  headline: 'cpu',
  variants: [
    variant('unvalidated', '/plain'),
    // Of Volant alone.
    { ...variant('by-hand', '/hands'), proofs: [proven('/hands')] },
    variant('validated', '/items'),
    variant('contract', '/whole'),
  ],
  proofs: [
    ...['/plain', '/items', '/whole'].map(proven),
    ...['/items', '/whole'].flatMap((prefix) => [
      {
        path: `${prefix}/books/7`,
        status: 200,
        reply: '{"category":"books","id":7,"page":1,"limit":10,"sort":"name"}',
      },
      refused(`${prefix}/books/seven?${query}`),
      refused(`${prefix}/books/0?${query}`),
      refused(`${prefix}/books/7?page=2&limit=101&sort=name`),
      refused(`${prefix}/books/7?page=2&limit=10&sort=colour`),
      refused(`${prefix}/books?${query}`, 404),
    ]),
  ],
}
