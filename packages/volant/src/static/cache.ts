/** The small files of a static folder that are kept in memory. */
import type { Page } from './page.ts'

/** The largest file that is kept, in bytes. */
export const largestKept = 65_536
const mostPages = 1_000
const mostBytes = 33_554_432

export class PageCache {
  readonly #pages = new Map<string, Page>()
  #bytes = 0

  get(path: string): Page | undefined {
    return this.#pages.get(path)
  }

  set(path: string, page: Page): void {
    this.delete(path)
    this.#pages.set(path, page)
    page.keep()
    this.#bytes += page.bytes
    this.#shrink()
  }

  /** Takes notice of more bytes of a page. */
  grow(path: string, page: Page, bytes: number): void {
    if (this.#pages.get(path) !== page) return
    page.bytes += bytes
    this.#bytes += bytes
    this.#shrink()
  }

  delete(path: string): void {
    const page = this.#pages.get(path)
    if (page === undefined) return
    this.#pages.delete(path)
    this.#bytes -= page.bytes
    page.release()
  }

  /** Drops the oldest. One that was used since it was looked at last goes to the end instead. */
  #shrink(): void {
    for (const [path, page] of this.#pages) {
      if (this.#pages.size <= mostPages && this.#bytes <= mostBytes) return
      if (page.used) {
        page.used = false
        this.#pages.delete(path)
        this.#pages.set(path, page)
      } else this.delete(path)
    }
  }
}
