/** The page: a list of books, a search, and what members can do. Its types are those of the shop's contract. */
import type { api as Api } from '@volant/example-bookshop/api'
import { createClient } from 'volant/client'

const settings = (await (await fetch('/settings.json')).json()) as { api: string; timeout: number }
const { api: shop, timeout } = settings
const client = createClient<typeof Api>(shop, { init: { credentials: 'include' }, timeout })

type Book = Extract<Awaited<ReturnType<typeof client.books.find>>, { ok: true }>['data']

const element = <E extends HTMLElement>(selector: string): E => document.querySelector(selector) as E
const say = (text: string): void => void (element('#message').textContent = text)
const more = element<HTMLButtonElement>('#more')
const signInForm = element<HTMLFormElement>('#sign-in')

let next: number | null = 0
let role: 'clerk' | 'customer' | null = null

async function list(isNew: boolean): Promise<void> {
  const search = element<HTMLInputElement>('#search').value
  const reply = await client.books.list({ query: { search, after: isNew ? 0 : (next ?? 0), limit: 12 } })
  if (!reply.ok) return say(reply.code)
  if (search !== element<HTMLInputElement>('#search').value) return // a later one is on its way
  const cards = reply.data.books.map(card)
  if (isNew) element('#books').replaceChildren(...cards)
  else element('#books').append(...cards)
  next = reply.data.next
  more.hidden = next === null
}

function card(book: Book): HTMLElement {
  const item = document.createElement('li')
  const title = Object.assign(document.createElement('h2'), { textContent: book.title })
  const about = `${book.author} · ${(book.cents / 100).toFixed(2)} € · ${book.stock} in stock`
  item.append(title, Object.assign(document.createElement('p'), { textContent: about }))
  if (book.cover !== null) {
    item.prepend(
      Object.assign(document.createElement('img'), { src: shop + book.cover, alt: '', loading: 'lazy' }),
    )
  }
  if (role !== null) item.append(button('Order', () => order(book)))
  if (role === 'clerk') item.append(coverInput(book))
  return item
}

async function order(book: Book): Promise<void> {
  const reply = await client.orders.place({ body: { book: book.id, copies: 1 } })
  say(reply.ok ? `Ordered: ${book.title}` : reply.code === 'SOLD_OUT' ? 'Sold out' : reply.code)
  await list(true)
}

function coverInput(book: Book): HTMLElement {
  const input = Object.assign(document.createElement('input'), {
    type: 'file',
    accept: 'image/*',
    ariaLabel: 'Cover',
  })
  input.onchange = async () => {
    const cover = input.files?.[0]
    if (cover === undefined) return
    const reply = await client.books.cover({ params: { id: book.id }, body: { cover } })
    say(reply.ok ? 'The cover is there' : reply.code)
    await list(true)
  }
  return input
}

function button(text: string, run: () => Promise<void>): HTMLElement {
  return Object.assign(document.createElement('button'), { textContent: text, onclick: run })
}

async function showMember(): Promise<void> {
  const reply = await client.session.read()
  role = reply.ok ? reply.data.role : null
  signInForm.hidden = reply.ok
  element('#member').hidden = !reply.ok
  if (reply.ok) element('#member span').textContent = `${reply.data.email} (${reply.data.role})`
  await list(true)
}

signInForm.onsubmit = async (event) => {
  event.preventDefault()
  const { email = '', password = '' } = Object.fromEntries(new FormData(signInForm)) as Record<string, string>
  const reply = await client.session.signIn({ body: { email, password } })
  say(reply.ok ? '' : reply.code === 'WRONG_PASSWORD' ? 'Wrong address or password' : reply.code)
  await showMember()
}
element('#member button').onclick = async () => {
  await client.session.signOut()
  await showMember()
}
element('#search').oninput = () => void list(true)
more.onclick = () => void list(false)
await showMember()
