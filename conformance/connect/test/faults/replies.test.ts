/** Replies that break off, have another length than declared, or ask for what cannot be supported. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { eventually } from '@volant/test-kit'
import { requestBytes } from '../../src/client.ts'
import { type Handle, type Req, type Res } from '../../src/layers.ts'
import { onEach, codes, withFine } from './kit.ts'

describe('an error within a reply', () => {
  const breaks: Record<string, Handle> = {
    'that is passed on': (_req, res, next) => {
      res.write('a part')
      setImmediate(next, new Error('within'))
    },
    'that is thrown': (_req, res) => {
      res.write('a part')
      throw new Error('within')
    },
    'of a promise': async (_req, res) => {
      res.write('a part')
      throw new Error('within')
    },
  }
  for (const [name, handle] of Object.entries(breaks)) {
    onEach(
      `${name} resets the connection and is reported`,
      {},
      withFine((site) => site.handle('GET', '/x', handle)),
      async (client, reports) => {
        const wire = await client.connect()
        wire.send(requestBytes('GET', '/x'))
        await eventually(() => wire.isEnded, 'the end of the connection')
        assert.ok(!wire.received.includes('0\r\n\r\n'), 'the reply has no end')
        assert.deepEqual(codes(reports), ['Error: within'])
      },
    )
  }
})

describe('what cannot be supported says so', () => {
  const uses: Record<string, (req: Req, res: Res) => unknown> = {
    'res.assignSocket': (_req, res) => res.assignSocket(null as never),
    'res.writeContinue': (_req, res) => res.writeContinue(),
    'res.writeProcessing': (_req, res) => res.writeProcessing(),
    'res.writeHead': (_req, res) => res.writeHead(103),
    'socket.write': (req) => req.socket.write('bytes'),
    'socket.end': (req) => req.socket.end(),
    'socket.pipe': (req) => req.socket.pipe(null as never),
  }
  onEach(
    'by name',
    {},
    withFine((site) => {
      for (const [name, use] of Object.entries(uses)) {
        site.handle('GET', `/${name}`, (req, res) => {
          use(req, res)
          res.end('sent')
        })
      }
    }),
    async (client, reports) => {
      for (const name of Object.keys(uses)) {
        assert.equal((await client.get(`/${name}`)).status, 500, name)
        const error = reports.at(-1) as { code: string; message: string }
        assert.equal(error.code, 'E_CONNECT_UNSUPPORTED', name)
        assert.ok(error.message.includes(name), error.message)
      }
    },
  )
})

describe('a declared length', () => {
  for (const [name, body] of [
    ['that is too short', 'much longer than declared'],
    ['that is too long', 'x'],
  ] as const) {
    onEach(
      name,
      {},
      withFine((site) => {
        site.handle('GET', '/x', (_, res) => {
          res.setHeader('Content-Length', 10)
          res.write(body)
          res.end()
        })
      }),
      async (client) => {
        const wire = await client.connect()
        wire.send(requestBytes('GET', '/x') + requestBytes('GET', '/fine').toString())
        // No byte of this reply is taken for a part of the next: the connection ends.
        await eventually(() => wire.isEnded, 'the end of the connection')
        const [, sent = ''] = wire.received.toString().split('\r\n\r\n')
        assert.ok(sent.length <= 10, sent)
        assert.ok(!wire.received.toString().includes('fine'))
      },
    )
  }
})
