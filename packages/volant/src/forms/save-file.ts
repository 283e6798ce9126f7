/** Writes a part of a form to a new file, and leaves none behind if that fails. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorTable, HTTPError } from '../errors/errors.ts'
import type { SavedFile } from '../types/form.ts'
import { isThenable } from '../types/thenable.ts'
import type { PartReader } from './part-reader.ts'

/** The most chunks that one call of the system writes. */
const mostAtOnce = 16

export async function saveFile(reader: PartReader, number: number, folder: string | URL): Promise<SavedFile> {
  // A name that a client knows is one that it can guess for others (CVE-2025-46653).
  const path = join(folder instanceof URL ? fileURLToPath(folder) : folder, randomUUID())
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => reader.fail(storageError(error)))
  let size = 0
  try {
    let next = reader.borrow(number)
    for (;;) {
      const chunk = isThenable(next) ? await next : next
      if (chunk === null) break
      const chunks = [chunk]
      let length = chunk.length
      for (;;) {
        next = reader.borrow(number)
        if (next === null || isThenable(next)) break
        length += next.length
        if (chunks.push(next) === mostAtOnce) {
          next = reader.borrow(number)
          break
        }
      }
      // While this is written, the next bytes may fail to come: that is noticed when they are awaited.
      if (isThenable(next)) next.then(undefined, ignore)
      await write(file, chunks, length)
      reader.recycle()
      size += length
    }
    await file.close()
  } catch (error) {
    await file.close().catch(ignore)
    await unlink(path).catch(ignore)
    return reader.fail(storageError(error))
  }
  reader.wrote(path)
  return { path, size }
}

/** The system may write less than it is given. */
async function write(file: FileHandle, chunks: Buffer[], length: number): Promise<void> {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten === length) return
  const rest = Buffer.concat(chunks).subarray(bytesWritten)
  for (let at = 0; at < rest.length;) at += (await file.write(rest, at)).bytesWritten
}

function ignore(): void {}

/** Gives the error of a client that sent more than there is room for. */
function storageError(error: unknown): Error {
  if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) return error as Error
  const { status } = errorTable.E_STORAGE_FULL
  const options = { code: 'E_STORAGE_FULL', cause: error, expose: true }
  return new HTTPError(status, 'there is no room for the file', options)
}
