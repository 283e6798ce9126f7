/** The API as server and clients share it: nothing of the server is imported. */
import { contract } from 'volant/contract'
import * as z from 'zod'

const Note = z.object({ id: z.number(), text: z.string() })

export const api = {
  notes: {
    list: contract.get('/notes', { response: z.array(Note) }),
    add: contract.post('/notes', { body: z.object({ text: z.string() }), response: { 201: Note } }),
  },
}
