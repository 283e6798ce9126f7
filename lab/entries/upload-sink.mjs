// Where the program `uploads` puts a file: its bytes are counted and given up, so that nobody waits for a disk.
import { Writable } from 'node:stream'

export class Sink extends Writable {
  bytes = 0

  _write(chunk, encoding, done) {
    this.bytes += chunk.length
    done()
  }
}

/** A file may have 16 MiB. */
export const mostBytes = 16 * 1024 * 1024
