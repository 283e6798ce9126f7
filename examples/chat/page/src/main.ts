/** The page: signs in, and shows the room that the address names. */
import type { Api } from '@volant/example-chat/app'
import { createClient } from 'volant/client'
import { element } from './element.ts'
import { RoomView } from './room-view.ts'

const client = createClient<Api>(location.origin, { timeout: 10_000 })
const names = ['lobby', 'kitchen', 'garden'] as const
const door = element('#door')
const house = element('#house')
const signIn = element<HTMLFormElement>('#sign-in')
const fault = element('#sign-in .fault')

let room: RoomView | undefined
let me = ''

element('#rooms').append(
  ...names.map((name) => Object.assign(document.createElement('a'), { textContent: name, href: `#${name}` })),
)

/** Shows the room of the address, or the first one. */
function enter(): void {
  if (me === '') return
  const name = names.find((each) => location.hash === `#${each}`) ?? names[0]
  for (const link of document.querySelectorAll('#rooms a')) {
    link.setAttribute('aria-current', link.textContent === name ? 'page' : 'false')
  }
  document.title = `Chat: ${name}`
  room?.leave()
  room = new RoomView(client, name, me, () => void start())
}

/** Asks who is signed in, and shows the door or the house. */
async function start(): Promise<void> {
  try {
    const reply = await client.session.read()
    const name = reply.ok ? reply.data.name : ''
    if (name !== '' && name === me) return
    me = name
  } catch {
    // The server is away. The room goes on trying; without one a click does.
    if (me === '') fault.textContent = 'The server does not answer. Try again.'
    if (room !== undefined) return
  }
  door.hidden = me !== ''
  house.hidden = me === ''
  if (me === '') {
    room?.leave()
    room = undefined
    return signIn.querySelector('input')?.focus()
  }
  element('#me span').textContent = me
  enter()
}

signIn.onsubmit = async (event) => {
  event.preventDefault()
  const { name = '', password = '' } = Object.fromEntries(new FormData(signIn)) as Record<string, string>
  fault.textContent = ''
  const button = element<HTMLButtonElement>('#sign-in button')
  button.disabled = true
  try {
    const reply = await client.session.signIn({ body: { name, password } })
    if (reply.ok) signIn.reset()
    else if (reply.code === 'E_VALIDATION')
      fault.textContent = reply.issues.map(({ detail }) => detail).join('. ')
    else fault.textContent = reply.detail ?? reply.code
  } catch {
    fault.textContent = 'The server does not answer. Try again.'
  } finally {
    button.disabled = false
  }
  if (fault.textContent === '') await start()
}

element('#sign-out').onclick = async () => {
  await client.session.signOut().catch(() => {})
  await start()
}

addEventListener('hashchange', enter)
await start()
