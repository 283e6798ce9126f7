/** This module has no `ctx`; its lines have the id of the request all the same. */
import { setTimeout as wait } from 'node:timers/promises'
import { log } from 'volant/log'

const usersLog = log.child({ module: 'users' })

export async function findUser(id: string): Promise<{ id: string; email: string }> {
  await wait(1)
  usersLog.debug({ id }, 'looking for a user')
  return { id, email: 'ada@example.com' }
}
