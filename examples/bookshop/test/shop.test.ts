/** The shop from end to end, on SQLite and on PostgreSQL: what visitors, members, clerks and programs can do. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { PostgresServer, withoutPostgres } from '@volant/test-kit'
import type { App } from 'volant'
import { settingsOf } from '../src/settings.ts'
import { shopOf } from '../src/shop.ts'
import { png, Visitor } from './visitor.ts'

const pageOrigin = 'http://localhost:3001'
const ada = { email: 'ada@example.com', password: 'an analytical engine' }
const clerk = { email: 'clerk@example.com', password: 'books, books, books' }
const emma = { title: 'Emma', author: 'Jane Austen', cents: 1_250, stock: 3 }
for (const name of ['SQLite', 'PostgreSQL'] as const) {
  describe(name, { skip: name === 'PostgreSQL' && withoutPostgres }, () => {
    let folder: string
    let postgres: PostgresServer | null = null
    let app: App
    let url: string
    let covers: string

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'bookshop-'))
      covers = join(folder, 'covers')
      if (name === 'PostgreSQL') postgres = await (await PostgresServer.make()).start()
      const settings = settingsOf({
        DATABASE_URL: postgres?.url ?? join(folder, 'shop.db'),
        SECRETS: 'a key of a test that has thirty-two bytes',
        CLERK: `${clerk.email}:${clerk.password}`,
        COVERS: covers,
        // A busy machine may not answer within the defaults.
        DATABASE_TIMEOUT: '60000',
        MAX_DELAY: '9999',
      })
      app = await shopOf(settings, { log: false, signals: false })
      ;({ url } = await app.listen(0, '127.0.0.1'))
    })
    after(async () => {
      await app.close({ drainIdle: 0 })
      await postgres?.end()
      await rm(folder, { recursive: true, force: true })
    })

    /** A hash of a password takes half a second, so each signs in once. */
    const known = new Map<typeof ada, Promise<{ visitor: Visitor; token: string }>>()
    const signIn = async (who: typeof ada): Promise<{ visitor: Visitor; token: string }> => {
      const visitor = new Visitor(url)
      const { status, body } = await visitor.call('POST', '/api/session', who)
      assert.equal(status, 200, JSON.stringify(body))
      return { visitor, token: body.token }
    }
    const signedIn = (who: typeof ada): Promise<{ visitor: Visitor; token: string }> => {
      const one = known.get(who) ?? signIn(who)
      known.set(who, one)
      return one
    }

    test('clerks add books, and everybody finds them', async () => {
      const { visitor: shop } = await signedIn(clerk)
      for (const title of ['Emma', 'Persuasion', '100 % wool']) {
        const { status, headers } = await shop.call('POST', '/api/books', { ...emma, title })
        assert.equal(status, 201)
        assert.match(headers.get('location') ?? '', /^\/api\/books\/\d+$/)
      }
      const visitor = new Visitor(url)
      const first = await visitor.call('GET', '/api/books?limit=2')
      assert.deepEqual(
        first.body.books.map(({ title }: { title: string }) => title),
        ['Emma', 'Persuasion'],
      )
      const second = await visitor.call('GET', `/api/books?limit=2&after=${first.body.next}`)
      assert.deepEqual([second.body.books.length, second.body.next], [1, null])
      const search = await visitor.call('GET', '/api/books?search=PERSUA')
      assert.deepEqual(
        search.body.books.map(({ title }: { title: string }) => title),
        ['Persuasion'],
      )
      assert.equal((await visitor.call('GET', '/api/books/999')).body.code, 'NO_BOOK')
      assert.equal((await visitor.call('POST', '/api/books', emma)).status, 401)
    })

    test('members order, and no copy is sold twice', async () => {
      const visitor = new Visitor(url)
      assert.equal((await visitor.call('POST', '/api/users', ada)).status, 201)
      assert.equal((await visitor.call('POST', '/api/users', ada)).body.code, 'EMAIL_TAKEN')
      assert.equal((await visitor.call('POST', '/api/orders', { book: 1, copies: 1 })).status, 401)
      const { visitor: member } = await signedIn(ada)
      assert.equal((await member.call('POST', '/api/books', emma)).status, 403)
      const orders = await Promise.all(
        Array.from({ length: 8 }, () => member.call('POST', '/api/orders', { book: 1, copies: 1 })),
      )
      assert.deepEqual(orders.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409, 409, 409])
      const { body } = await member.call('GET', '/api/orders')
      assert.deepEqual(
        body.map(({ cents }: { cents: number }) => cents),
        [1_250, 1_250, 1_250],
      )
      assert.equal((await member.call('GET', '/api/books/1')).body.stock, 0)
    })

    test('programs use a token', async () => {
      const { token } = await signedIn(ada)
      const program = new Visitor(url, { authorization: `Bearer ${token}` })
      assert.deepEqual((await program.call('GET', '/api/session')).body, {
        email: ada.email,
        role: 'customer',
      })
      assert.equal((await program.call('GET', '/api/stock.csv')).status, 403)
      const forged = new Visitor(url, { authorization: `Bearer ${token.slice(0, -2)}AA` })
      assert.equal((await forged.call('GET', '/api/session')).status, 401)
    })

    test('covers are uploaded, and browsers keep them', async () => {
      const { visitor: shop } = await signedIn(clerk)
      const form = (bytes: Uint8Array<ArrayBuffer>) => {
        const data = new FormData()
        data.set('cover', new File([bytes], '../../evil.png', { type: 'image/png' }))
        return data
      }
      const { body } = await shop.call('PUT', '/api/books/1/cover', form(Uint8Array.from(png)))
      assert.match(body.cover, /^\/covers\/[\da-f]{32}\.png$/)
      const cover = await fetch(url + body.cover)
      assert.deepEqual(Buffer.from(await cover.arrayBuffer()), png)
      assert.match(cover.headers.get('cache-control') ?? '', /immutable/)
      const again = await fetch(url + body.cover, {
        headers: { 'if-none-match': cover.headers.get('etag') ?? '' },
      })
      assert.equal(again.status, 304)
      const fake = await shop.call(
        'PUT',
        '/api/books/1/cover',
        form(Uint8Array.from(Buffer.from('<script>'))),
      )
      assert.equal(fake.body.code, 'NOT_A_PICTURE')
      const large = await shop.call('PUT', '/api/books/1/cover', form(new Uint8Array(3_000_000)))
      assert.equal(large.status, 413)
      assert.equal((await readdir(covers)).length, 1)
    })

    test('the list is exported, compressed where the client takes that', async () => {
      const { visitor: shop } = await signedIn(clerk)
      await shop.call('POST', '/api/books', { ...emma, title: '=1+1', author: 'a "b", c' })
      const { headers, body } = await shop.call('GET', '/api/stock.csv')
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
      const lines: string[] = body.split('\r\n')
      assert.equal(lines[0], 'id,title,author,cents,stock')
      assert.equal(lines.at(-2), '4,"\'=1+1","a ""b"", c",1250,3')
      assert.ok(gunzipSync(await gzipped(`${url}/openapi.json`)).length > 5_000)
    })

    test('the page of another origin may call, any other may not', async () => {
      const preflight = async (origin: string) =>
        (
          await fetch(`${url}/api/orders`, {
            method: 'OPTIONS',
            headers: {
              origin,
              'access-control-request-method': 'POST',
              'access-control-request-headers': 'content-type',
            },
          })
        ).headers
      assert.equal((await preflight(pageOrigin)).get('access-control-allow-origin'), pageOrigin)
      assert.equal((await preflight(pageOrigin)).get('access-control-allow-credentials'), 'true')
      assert.equal((await preflight('http://evil.example')).get('access-control-allow-origin'), null)
      const { visitor: member } = await signedIn(ada)
      const order = { book: 2, copies: 1 }
      const crossSite = { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' }
      assert.equal((await member.call('POST', '/api/orders', order, crossSite)).status, 403)
      const ownPage = { 'sec-fetch-site': 'same-site', origin: pageOrigin }
      assert.equal((await member.call('POST', '/api/orders', order, ownPage)).status, 201)
    })

    test('the document names both ways to sign in, and the service is watched over', async () => {
      const visitor = new Visitor(url)
      const { body } = await visitor.call('GET', '/openapi.json')
      assert.equal(body.paths['/api/orders'].post.security.length, 2)
      assert.equal((await visitor.call('GET', '/docs')).status, 200)
      assert.equal((await visitor.call('GET', '/ready')).status, 200)
      assert.match((await visitor.call('GET', '/metrics')).body, /http_request/)
    })

    test('numbers and texts that the database does not take are refused, or find nothing', async () => {
      const { visitor: shop } = await signedIn(clerk)
      const statuses = async (...calls: Promise<{ status: number }>[]) =>
        (await Promise.all(calls)).map(({ status }) => status)
      assert.deepEqual(
        await statuses(
          shop.call('GET', '/api/books?search=%00'),
          shop.call('GET', '/api/books?after=2147483648'),
          shop.call('GET', '/api/books/2147483648'),
          shop.call('GET', '/api/books/2147483647'),
          shop.call('POST', '/api/orders', { book: 2_147_483_648, copies: 1 }),
          shop.call('POST', '/api/books', { ...emma, title: 'Em\0ma' }),
          shop.call('PUT', '/api/books/2147483648/cover', new FormData()),
        ),
        [200, 400, 400, 404, 400, 400, 400],
      )
    })

    test('members sign out', async () => {
      const { visitor } = await signedIn(ada)
      assert.equal((await visitor.call('DELETE', '/api/session')).status, 204)
      assert.equal((await visitor.call('GET', '/api/orders')).status, 401)
    })

    test(
      'a database that ends amid transactions ends no process, and the shop goes on with the next one',
      { skip: name !== 'PostgreSQL' && 'a file does not end' },
      async () => {
        const { visitor } = await signIn(ada)
        let ended = false
        const orders = Array.from({ length: 10 }, async () => {
          while (!ended) await visitor.call('POST', '/api/orders', { book: 2, copies: 1 })
        })
        while ((await visitor.call('GET', '/api/books/2')).body.stock > 0);
        await postgres?.kill()
        assert.equal((await visitor.call('GET', '/api/books')).status, 500)
        ended = true
        await Promise.all(orders)
        await postgres?.start()
        assert.equal((await visitor.call('GET', '/api/books')).status, 200)
      },
    )

    test(
      'guesses of passwords are stopped',
      { skip: name !== 'SQLite' && 'the limit knows no database' },
      async () => {
        const guess = (n: number) => ({ email: `guess${n}@example.com`, password: 'enchantress' })
        const guesses = await Promise.all(
          Array.from({ length: 12 }, (_, n) => new Visitor(url).call('POST', '/api/session', guess(n))),
        )
        assert.deepEqual(guesses.map(({ status }) => status).sort(), [...Array(10).fill(401), 429, 429])
      },
    )
  })
}

/** The bytes as they came: `fetch` would decompress them. */
async function gzipped(url: string): Promise<Buffer> {
  const { get } = await import('node:http')
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (reply) => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
    }).on('error', reject)
  })
}
