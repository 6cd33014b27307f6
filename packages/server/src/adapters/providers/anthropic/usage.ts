/** The Messages API counts cache reads and writes separately from input. Here they become part of it. */
import { asNumber, asObject } from '../answer/json.ts'
import { type CountedUsage, countedUsage } from '../answer/usage.ts'

/** @param frames usage objects in order of arrival. A later count replaces an earlier one. */
export function anthropicUsage(frames: readonly unknown[]): CountedUsage {
  const latest = (key: string) =>
    frames.map((frame) => asNumber(asObject(frame)[key])).findLast((count) => count !== undefined) ?? 0
  const cachedInput = latest('cache_read_input_tokens')
  const cacheWrite = latest('cache_creation_input_tokens')
  const details = frames.map((frame) => asObject(asObject(frame)['output_tokens_details'])['thinking_tokens'])
  return countedUsage({
    input: latest('input_tokens') + cachedInput + cacheWrite,
    output: latest('output_tokens'),
    reasoning: details.map(asNumber).findLast((count) => count !== undefined) ?? 0,
    cachedInput,
    cacheWrite,
  })
}
