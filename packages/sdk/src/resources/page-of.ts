import type { ApiPromise } from '../api-promise.ts'

/** One page of a list. Iterating a page also yields the items of all later pages. */
export interface Page<T> extends AsyncIterable<T> {
  readonly items: T[]
  readonly nextCursor: string | null
  /** Set for `runs.list`: the run at which the search stopped, or null after the oldest one. */
  readonly scannedTo?: string | null
  /**
   * Resolves to the next page, or to null after the last one.
   *
   * @example
   * for (let page: Page<ConversationSummary> | null = await stet.conversations.list(); page; page = await page.next()) show(page.items)
   */
  next(): Promise<Page<T> | null>
  /**
   * Collects the items of this page and all later pages, up to `limit`.
   *
   * @example const newest = await (await stet.conversations.list()).toArray({ limit: 50 })
   */
  toArray(o?: { limit?: number }): Promise<T[]>
}

type PageBody<T> = Pick<Page<T>, 'items' | 'nextCursor' | 'scannedTo'>

export type LoadPage<T> = (cursor: string | undefined) => ApiPromise<PageBody<T>>

/** Makes a page that can load the pages after it. Loaded on demand, because most clients list no conversations. */
export function pageOf<T>(body: PageBody<T>, load: LoadPage<T>): Page<T> {
  const { nextCursor } = body
  const page: Page<T> = {
    ...body,
    async next() {
      return nextCursor === null ? null : pageOf(await load(nextCursor), load)
    },
    async toArray({ limit = Number.POSITIVE_INFINITY } = {}) {
      const all: T[] = []
      for await (const item of page) if (all.push(item) >= limit) break
      return all.slice(0, limit)
    },
    async *[Symbol.asyncIterator]() {
      for (let at: Page<T> | null = page; at; at = await at.next()) yield* at.items
    },
  }
  return page
}
