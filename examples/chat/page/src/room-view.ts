/** One room on the page: its messages, who is there, and what is being sent. */
import type { Api } from '@volant/example-chat/app'
import type { ToPage } from '@volant/example-chat/messages'
import { type Client, connect, type SocketClose } from 'volant/client'
import { element } from './element.ts'

type Message = Extract<ToPage, { type: 'said' }>['message']
type Name = 'lobby' | 'kitchen' | 'garden'

/** How long somebody is shown as typing, and half of it how often it is told, in ms. */
const typingShown = 4_000

export class RoomView {
  readonly #client: Client<Api>
  readonly #name: Name
  readonly #me: string
  /** Asks whether the member is still signed in. */
  readonly #ask: () => void
  readonly #list = element('#messages')
  readonly #status = element('#status')
  readonly #input = element<HTMLInputElement>('#text')
  readonly #socket
  /** What was said, by its number. */
  readonly #said = new Map<number, Message>()
  /** What was typed here and has not come back yet, by its key. */
  readonly #waiting = new Map<string, string>()
  readonly #typing = new Map<string, number>()
  #toldTyping = 0
  #opening = 0
  #hasLeft = false
  #last = 0

  constructor(client: Client<Api>, name: Name, me: string, ask: () => void) {
    this.#client = client
    this.#name = name
    this.#me = me
    this.#ask = ask
    element('#room').textContent = name
    element('#members').replaceChildren()
    this.#list.replaceChildren()
    this.#showTyping()
    this.#show('Connecting …')
    // What is not sent at once is sent by `#catchUp`, which knows what has arrived.
    this.#socket = connect(
      client.rooms.chat,
      { params: { room: name } },
      { maxQueuedMessages: 0, heartbeat: { interval: 20_000, message: { type: 'ping' } } },
    )
    this.#socket.on('message', (message) => this.#receive(message))
    this.#socket.on('close', (end) => this.#lost(end))
    this.#socket.on('error', (error) => console.warn(error.message))
    element<HTMLFormElement>('#say').onsubmit = (event) => {
      event.preventDefault()
      this.#say(this.#input.value.trim())
    }
    this.#input.oninput = () => this.#tellTyping()
    this.#input.focus()
  }

  leave(): void {
    this.#hasLeft = true
    this.#socket.close()
  }

  /** Gets what was said meanwhile, and sends again what has not arrived: the server keeps it once. */
  async #catchUp(): Promise<void> {
    const opening = ++this.#opening
    this.#list.ariaBusy = 'true'
    try {
      const reply = await this.#client.rooms.messages({ params: { room: this.#name } })
      if (this.#hasLeft || opening !== this.#opening) return
      if (!reply.ok && reply.status === 401) return this.#ask()
      if (!reply.ok) throw new Error(reply.detail ?? reply.code)
      // Those that were shown long ago stay; what is between them and the last fifty is not on this page.
      for (const message of reply.data) this.#add(message)
      this.#last = Math.max(this.#last, ...this.#said.keys())
      this.#show('Connected')
      for (const [key, text] of this.#waiting) this.#socket.send({ type: 'say', key, text })
      this.#render()
    } catch {
      if (this.#hasLeft || opening !== this.#opening || this.#socket.state !== 'open') return
      this.#show('The messages cannot be had. Trying again …', true)
      setTimeout(() => {
        if (!this.#hasLeft && opening === this.#opening && this.#socket.state === 'open') void this.#catchUp()
      }, 2_000)
    } finally {
      this.#list.ariaBusy = null
    }
  }

  #receive(message: ToPage): void {
    switch (message.type) {
      case 'said': {
        const { id, by } = message.message
        this.#typing.delete(by)
        this.#showTyping()
        this.#add(message.message)
        // Numbers have no holes: something in between was lost.
        if (this.#last !== 0 && id > this.#last + 1) void this.#catchUp()
        this.#last = Math.max(this.#last, id)
        return this.#render()
      }
      case 'members':
        return element('#members').replaceChildren(...message.names.map((name) => withText('li', name)))
      case 'typing':
        if (message.name === this.#me) return
        this.#typing.set(message.name, Date.now())
        this.#showTyping()
        setTimeout(() => this.#showTyping(), typingShown)
        return
      case 'catch up':
        return void this.#catchUp()
      case 'refused': {
        const text = this.#waiting.get(message.key) ?? ''
        this.#waiting.delete(message.key)
        if (this.#input.value === '') this.#input.value = text
        this.#show(message.why, true)
        return this.#render()
      }
      case 'pong':
        return
    }
  }

  #lost({ final, opened, retryIn = 0 }: SocketClose): void {
    if (this.#hasLeft) return
    element('#members').replaceChildren()
    this.#typing.clear()
    this.#showTyping()
    if (final) this.#show('Disconnected. Load the page again.', true)
    else
      this.#show(
        retryIn < 1_000 ? 'Connecting again …' : `Connecting again in ${Math.round(retryIn / 1_000)} s …`,
        true,
      )
    // The session may have ended: a browser does not tell a page why it was refused.
    if (final || !opened) this.#ask()
  }

  #say(text: string): void {
    if (text === '') return
    const key = crypto.randomUUID()
    this.#waiting.set(key, text)
    this.#socket.send({ type: 'say', key, text })
    this.#input.value = ''
    this.#toldTyping = 0
    this.#render(true)
  }

  #tellTyping(): void {
    if (this.#input.value === '' || Date.now() - this.#toldTyping < typingShown / 2) return
    this.#toldTyping = Date.now()
    this.#socket.send({ type: 'typing' })
  }

  #add(message: Message): void {
    this.#said.set(message.id, message)
    this.#waiting.delete(message.key)
  }

  /** Shows what was said in its order, and what waits behind it. Who has scrolled up is left there. */
  #render(isOwn = false): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#list
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40
    const before = new Map(
      [...this.#list.children].map((each) => [(each as HTMLElement).dataset['key'], each]),
    )
    const items = [...this.#said.values()]
      .toSorted((a, b) => a.id - b.id)
      .map((message) => before.get(`said ${message.key}`) ?? this.#item(message))
    const waiting = [...this.#waiting].map(
      ([key, text]) => before.get(`waits ${key}`) ?? this.#waitingItem(key, text),
    )
    // What stays is not moved, so that a screen reader hears what is new alone.
    for (const [index, item] of [...items, ...waiting].entries()) {
      const there = this.#list.children[index]
      if (there !== item) this.#list.insertBefore(item, there ?? null)
    }
    while (this.#list.children.length > items.length + waiting.length) this.#list.lastElementChild?.remove()
    if (isOwn || isAtEnd) this.#list.scrollTop = this.#list.scrollHeight
  }

  #item({ key, by, text, at }: Message): HTMLElement {
    const item = document.createElement('li')
    item.dataset['key'] = `said ${key}`
    item.classList.toggle('mine', by === this.#me)
    const time = withText('time', new Date(at).toLocaleTimeString([], { timeStyle: 'short' }))
    time.setAttribute('datetime', new Date(at).toISOString())
    const about = document.createElement('small')
    about.append(withText('b', by), ' ', time)
    item.append(about, text)
    return item
  }

  #waitingItem(key: string, text: string): HTMLElement {
    const item = document.createElement('li')
    item.dataset['key'] = `waits ${key}`
    item.classList.add('mine', 'waits')
    item.append(withText('small', 'Sending …'), text)
    return item
  }

  #showTyping(): void {
    const names = [...this.#typing].filter(([, at]) => Date.now() - at < typingShown).map(([name]) => name)
    const text = names.length === 0 ? '' : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} typing …`
    element('#typing').textContent = text
  }

  #show(text: string, isFault = false): void {
    this.#status.textContent = text
    this.#status.classList.toggle('lost', isFault)
  }
}

function withText(name: string, text: string): HTMLElement {
  return Object.assign(document.createElement(name), { textContent: text })
}
