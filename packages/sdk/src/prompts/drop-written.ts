import type { Outcome } from '../api-promise.ts'
import type { Exchange } from '../transport/exchange.ts'
import type { Settings } from '../transport/settings.ts'
import { cacheOf, cacheOptions, keyPrefix } from './kept-prompts.ts'

/**
 * Evicts the prompts that a write may have changed. Evicts whole versions, because prompts include each other. Also
 * evicts `live` after a publication or a write with `force`.
 */
export async function dropWritten(
  settings: Settings,
  exchange: Exchange,
  outcome: Promise<Outcome<unknown>>,
): Promise<void> {
  const { logger } = settings
  const options = cacheOptions(settings, true)
  // A prompt's path may contain the same words, so the first match counts.
  const address = /^(.*?\/projects\/[^/]+)\/(?:versions|environments)(?:\/([^/]+))?(\/publish$)?/
  const [, project, addressed, publishes] = address.exec(exchange.url) ?? []
  const { force, publish } = (exchange.body as { force?: boolean; publish?: object } | undefined) ?? {}
  const answer = await outcome.catch(() => undefined)
  const { versionUuid, uuid } = (answer?.data ?? {}) as { versionUuid?: string; uuid?: string }
  const isOfLive = force || publish || publishes
  // The server reads `LIVE` as `live`. The address of a version that is created does not name it.
  const reached = new Set([addressed ?? uuid, addressed?.toLowerCase(), versionUuid, isOfLive && 'live'])
  try {
    const prefix = await keyPrefix(settings, exchange)
    for (const version of reached) {
      if (version)
        await cacheOf(settings, options).drop(`${prefix}${project}/versions/${version}/`, { options, logger })
    }
  } catch (error) {
    // A cache failure must not change the outcome of the write.
    logger.warn('The cache could not drop a written prompt', error)
  }
}
