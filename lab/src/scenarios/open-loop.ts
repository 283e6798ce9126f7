/** What the open loops of ours share: the same request, whose latency counts from the time at which it was due. */
import { hello, helloProofs } from './hello.ts'
import { get, load } from './load.ts'

export const helloLoad = load(get('/json', hello))
export const openLoop = { document: null, program: 'hello', proofs: helloProofs } as const
