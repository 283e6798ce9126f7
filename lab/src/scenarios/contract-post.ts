import type { Proof, Request, Scenario } from '../scenario.ts'
import { load, post } from './load.ts'

const lines = [
  { sku: 'BK-1001', name: 'Notes on the Analytical Engine', quantity: 2, cents: 1_250, tags: ['books'] },
  { sku: 'BK-1002', name: 'On the Economy of Machinery', quantity: 1, cents: 2_400, tags: ['books', 'used'] },
  { sku: 'ST-2040', name: 'Punched cards, a box of 500', quantity: 4, cents: 899, tags: ['office'] },
  { sku: 'ST-2041', name: 'Card reader brushes', quantity: 12, cents: 150, tags: ['office', 'spare'] },
  { sku: 'EL-0007', name: 'Brass gear, 60 teeth', quantity: 60, cents: 75, tags: ['parts'] },
  { sku: 'EL-0008', name: 'Brass gear, 12 teeth', quantity: 120, cents: 35, tags: ['parts', 'small'] },
]

function order(reference: string) {
  return {
    reference,
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', phone: '+44 20 7946 0958' },
    address: { street: "12 St James's Square", city: 'London', postcode: 'SW1Y 4JH', country: 'GB' },
    lines,
    gift: false,
    note: 'Please ring twice, and leave the parcel with the porter if nobody answers the door by noon. The punched cards must be kept dry; the brass gears may be packed together in one box.',
  }
}

function reply(reference: string): string {
  const priced = lines.map(({ sku, quantity, cents }) => ({ sku, quantity, cents: quantity * cents }))
  return JSON.stringify({
    reference,
    status: 'accepted',
    customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
    lines: priced,
    cents: priced.reduce((sum, line) => sum + line.cents, 0),
  })
}

function proof(body: unknown, status: number): Proof {
  const headers = { 'content-type': 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method: 'POST', path: '/orders', headers, body: text, status }
}

const [first] = lines
const sent = post('/orders', JSON.stringify(order('{nonce}')), 201, null)
const request: Request = { ...sent, expect: { ...sent.expect, body: reply('{nonce}') } }

/** Ours: a body and a reply that are both checked by a schema. */
export const contractPost: Scenario = {
  name: 'contract-post',
  title: 'A validated POST',
  about:
    'POST of an order, 1 KB of JSON with six lines in it, which a schema checks; so is the reply, which leaves out what its schema does not have.',
  document: null,
  program: 'orders',
  headline: 'cpu',
  variants: [{ name: 'default', lane: 'plain', measure: { kind: 'load', load: load(request) } }],
  proofs: [
    { ...proof(order('a'), 201), reply: reply('a') },
    proof({ ...order('a'), lines: [] }, 400),
    proof({ ...order('a'), lines: [{ ...first, quantity: 0 }] }, 400),
    proof({ ...order('a'), lines: [{ ...first, cents: 0.5 }] }, 400),
    proof({ ...order('a'), customer: { name: 'Ada Lovelace', email: 'nobody' } }, 400),
    proof({ ...order('a'), gift: undefined }, 400),
    proof('{"reference":', 400),
  ],
}
