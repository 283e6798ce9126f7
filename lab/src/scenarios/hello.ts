/** `GET /json`, as RamAPI's document has it and several of ours. */
import type { Proof } from '../scenario.ts'

export const hello = '{"message":"Hello World"}'
export const helloProofs: Proof[] = [{ path: '/json', status: 200, reply: hello }]
