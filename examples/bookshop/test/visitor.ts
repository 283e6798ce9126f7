/** A visitor of the shop: calls with a cookie jar, as a browser or a program has it. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // Tests look into replies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export class Visitor {
  readonly #url: string
  readonly #origin: string
  readonly #headers: Record<string, string>
  readonly #cookies = new Map<string, string>()

  constructor(url: string, headers: Record<string, string> = {}, origin = 'http://localhost:3001') {
    this.#url = url
    this.#origin = origin
    this.#headers = headers
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const isJson = body !== undefined && !(body instanceof FormData)
    const reply = await fetch(this.#url + path, {
      method,
      redirect: 'manual',
      headers: {
        // As browsers do; without them, a request with a cookie might come from any page.
        origin: this.#origin,
        'sec-fetch-site': 'same-site',
        ...this.#headers,
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...(this.#cookies.size === 0
          ? {}
          : { cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; ') }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as FormData) }),
    })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const text = await reply.text()
    const isData = /json/.test(reply.headers.get('content-type') ?? '')
    return { status: reply.status, headers: reply.headers, body: isData ? JSON.parse(text) : text }
  }
}

/** A picture of one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
