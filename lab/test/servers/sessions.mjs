// Sessions in cookies, kept as KIND says: `checked` ones are encrypted and authenticated, `changeable` ones encrypted
// alone, `open` ones neither, and `first` ones are checked, but whoever has one is taken for the first user.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { json, ran, serve } from './serve.mjs'

const kind = process.env.KIND
const cipher = kind === 'changeable' ? 'aes-256-ctr' : 'aes-256-gcm'
const tagged = kind === 'changeable' ? 0 : 16
const key = Buffer.alloc(32, 7)

function seal(user) {
  if (kind === 'open') return user
  const iv = randomBytes(16)
  const sealing = createCipheriv(cipher, key, iv)
  const text = Buffer.concat([sealing.update(user), sealing.final()])
  return Buffer.concat([iv, text, ...(tagged ? [sealing.getAuthTag()] : [])]).toString('base64url')
}

function open(value) {
  if (kind === 'open') return value
  const bytes = Buffer.from(value, 'base64url')
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, 16))
  if (tagged) opening.setAuthTag(bytes.subarray(-tagged))
  try {
    const text = opening.update(bytes.subarray(16, bytes.length - tagged))
    opening.final()
    return kind === 'first' ? 'u10000' : text.toString('latin1')
  } catch {
    return null
  }
}

serve((request, response) => {
  const [, user] = /^\/sign-in\/(\w+)$/.exec(request.url) ?? []
  if (user !== undefined) {
    response.setHeader('set-cookie', `id=${seal(user)}; HttpOnly`)
    return json(response, 200, {})
  }
  ran()
  if (request.url === '/none') return json(response, 200, { user: 'u10000' })
  if (request.url !== '/read') return json(response, 404, {})
  const [, value] = /^id=([\w-]{22,})$/.exec(request.headers.cookie) ?? []
  const found = value === undefined && kind !== 'open' ? null : open(value ?? '')
  if (found === null || found === '') return json(response, 401, {})
  json(response, 200, { user: found })
})
