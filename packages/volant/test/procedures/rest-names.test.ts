import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { procedure, rest, router } from 'volant/procedures'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('procedures over REST, beside tRPC', () => {
  test('names with a verb of another kind of procedure are reported once', async () => {
    const query = procedure().query(() => 1)
    const mutation = procedure().mutation(() => 1)
    const said = (tree: Record<string, typeof query | typeof mutation>): string[] => {
      const lines: string[] = []
      const books = router({ books: router(tree) })
      const { write } = process.stderr
      process.stderr.write = ((text: string, done: () => void) => {
        lines.push(text)
        done()
        return true
      }) as typeof write
      try {
        kit.app().register(rest(books))
        kit.app().register(rest(books, { prefix: '/v2' }))
      } finally {
        process.stderr.write = write
      }
      return lines
    }
    assert.deepEqual(
      said({
        createBook: query,
        getStats: mutation,
        archive: procedure()
          .rest({ method: 'POST' })
          .mutation(() => 1),
      }),
      [
        'volant: no REST route for books.createBook (a query, and create is for a mutation), ' +
          'books.getStats (a mutation, and get is for a query), books.archive (its .rest() has no path): ' +
          'say where with .rest({ method, path }), or .rest(false) for none\n',
      ],
    )
    assert.deepEqual(
      said({
        getaway: query,
        findOrCreate: mutation,
        getOrCreateBook: mutation,
        createAndGet: query,
        patchNotes: query,
        creatBook: mutation,
        set: mutation,
        setBook: mutation,
        createdBooks: query,
        updatedBook: mutation,
        upload: mutation,
        ping: query,
        listBooks: query,
        createDraft: procedure()
          .rest(false)
          .query(() => 1),
        deleteAll: procedure()
          .rest({ path: '/all' })
          .query(() => 1),
        watch: procedure().subscription(async function* () {}) as never,
        listEvents: procedure().subscription(async function* () {}) as never,
      }),
      [],
    )
  })
})
