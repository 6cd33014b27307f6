import { ApiPromise } from './api-promise.ts'

/** One page of a list. Iterating it continues through the following pages. */
export interface Page<T> extends AsyncIterable<T> {
  readonly items: T[]
  readonly nextCursor: string | null
  /**
   * The page after this one; null after the last.
   *
   * @example
   * for (let page: Page<ConversationSummary> | null = await stet.conversations.list(); page; page = await page.next()) show(page.items)
   */
  next(): Promise<Page<T> | null>
  /**
   * The items of this page and of the pages after it, at most `limit`.
   *
   * @example const newest = await (await stet.conversations.list()).toArray({ limit: 50 })
   */
  toArray(o?: { limit?: number }): Promise<T[]>
}

/**
 * The promise of the first page. Iterating it yields the items of all pages.
 *
 * @example for await (const { uuid, cost } of stet.conversations.list({ status: 'error' })) console.log(uuid, cost)
 */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    yield* await this
  }
}

/** Requests the page at a cursor, or the first one. */
export type LoadPage<T> = (cursor: string | undefined) => ApiPromise<{ items: T[]; nextCursor: string | null }>

/** Wraps a list. The first page is requested at once, the others when they are reached. */
export function pagePromise<T>(load: LoadPage<T>, cursor?: string): PagePromise<T> {
  const outcome = load(cursor)
    .withResponse()
    .then(({ data, response }) => ({ data: pageOf(data, load), response }))
  return new PagePromise(outcome)
}

function pageOf<T>({ items, nextCursor }: { items: T[]; nextCursor: string | null }, load: LoadPage<T>): Page<T> {
  const page: Page<T> = {
    items,
    nextCursor,
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
