import { ApiPromise } from '../api-promise.ts'
import type { LoadPage, Page } from './page-of.ts'

export type { Page } from './page-of.ts'

/**
 * The promise for the first page. Iterating the promise yields the items of all pages.
 *
 * @example for await (const { uuid, cost } of stet.conversations.list({ status: 'error' })) console.log(uuid, cost)
 */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    yield* await this
  }
}

/** Requests the first page immediately. Later pages load on `next()` or when iteration reaches them. */
export function pagePromise<T>(load: LoadPage<T>, cursor?: string): PagePromise<T> {
  const outcome = load(cursor)
    .withResponse()
    .then(async ({ data, response }) => {
      const { pageOf } = await import('./page-of.ts')
      return { data: pageOf(data, load), response }
    })
  return new PagePromise(outcome)
}
