/** Server and clients share this declaration of the API, which imports no server code. */
import { contract } from 'volant/contract'
import * as z from 'zod'

const Note = z.object({ id: z.number(), text: z.string() })

export const api = {
  notes: {
    list: contract.get('/notes', { response: z.array(Note) }),
    add: contract.post('/notes', { body: z.object({ text: z.string() }), response: { 201: Note } }),
  },
}
