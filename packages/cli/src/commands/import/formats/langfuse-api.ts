import { setTimeout } from 'node:timers/promises'
import { CliError } from '../../../exit-code.ts'
import { isJsonObject } from '../../../settings/json-file.ts'
import type { Refusal } from '../../../sync/scan.ts'
import type { JsonEntry } from '../json-entries.ts'

export interface LangfuseAddress {
  url: string
  publicKey: string
  secretKey: string
}

const TIMEOUT_MS = 60_000
/** The highest value that Langfuse allows. */
const PAGE_SIZE = 100
const MAX_PROMPTS = 10_000
/** More labels of a prompt are not looked up. */
const MAX_LABELS = 20
const MAX_RESPONSE_BYTES = 8_000_000
const MAX_TOTAL_BYTES = 256_000_000
const PARALLEL_REQUESTS = 4
const MAX_ATTEMPTS = 5
const MAX_PAUSE_S = 60

interface Fetched {
  entries: JsonEntry[]
  refused: Refusal[]
}

const noLangfuse = 'is this the address of a Langfuse server?'

/** A prompt of the list. The list has no texts. */
interface ListedPrompt {
  name: string
  versions: number[]
  labels: string[]
}

/**
 * Fetches prompts through Langfuse's public API: the list of names, page by page, and of each prompt the version that
 * the import chooses and those with further labels, without resolving references. Refuses redirects, because the keys
 * are for this address only.
 * @throws CliError, without the keys
 */
export async function fetchLangfuse(address: LangfuseAddress): Promise<Fetched> {
  const api = new LangfuseApi(address)
  try {
    const listed = await listPrompts(api)
    const fetched: Fetched = { entries: [], refused: [] }
    for (let from = 0; from < listed.length; from += PARALLEL_REQUESTS) {
      const batch = listed.slice(from, from + PARALLEL_REQUESTS)
      for (const [at, versions] of (await Promise.all(batch.map((one) => fetchVersions(api, one)))).entries()) {
        fetched.entries.push(...versions)
        const reason = 'Langfuse did not return it: it was deleted meanwhile, or its name cannot be part of a URL'
        if (versions.length === 0) fetched.refused.push({ path: batch[at]?.name ?? '', reason })
      }
    }
    return fetched
  } finally {
    api.close()
  }
}

async function listPrompts(api: LangfuseApi): Promise<ListedPrompt[]> {
  const found = new Map<string, ListedPrompt>()
  for (let page = 1; ; page += 1) {
    const answer = await api.get(`?page=${page}&limit=${PAGE_SIZE}`)
    const { data, meta } = isJsonObject(answer) ? answer : {}
    if (!Array.isArray(data)) {
      throw new CliError('invalid', `${api.url} did not return a list of prompts`, { hint: noLangfuse })
    }
    const before = found.size
    for (const one of data.filter(isJsonObject)) {
      if (typeof one['name'] !== 'string' || one['name'] === '') continue
      const versions = listOf(one['versions']).filter((version) => typeof version === 'number')
      const labels = listOf(one['labels']).filter((label) => typeof label === 'string')
      found.set(one['name'], { name: one['name'], versions, labels })
    }
    if (found.size > MAX_PROMPTS) throw new CliError('invalid', `${api.url} lists more than ${MAX_PROMPTS} prompts`)
    const pages = isJsonObject(meta) ? Number(meta['totalPages']) : Number.NaN
    // A page without a new name ends the list, even if the server reports more pages.
    if (found.size === before || !(Number.isInteger(pages) ? page < pages : data.length === PAGE_SIZE)) {
      return [...found.values()]
    }
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

async function fetchVersions(api: LangfuseApi, { name, versions, labels }: ListedPrompt): Promise<JsonEntry[]> {
  const main = ['production', 'latest'].find((label) => labels.includes(label))
  const query = main === undefined ? `version=${Math.max(...versions, 1)}` : `label=${main}`
  const chosen = await fetchPrompt(api, name, query)
  if (!chosen) return []
  const known = new Set(listOf(chosen['labels']))
  const further = labels.filter((label) => !known.has(label) && label !== 'latest').slice(0, MAX_LABELS)
  const others: Record<string, unknown>[] = []
  for (const label of further) {
    const labeled = await fetchPrompt(api, name, `label=${encodeURIComponent(label)}`)
    if (labeled) others.push(labeled)
  }
  // The list has the numbers of all versions, for the report.
  return [{ ...chosen, versions }, ...others].map((value) => ({ value: { ...value, name } }))
}

async function fetchPrompt(
  api: LangfuseApi,
  name: string,
  query: string,
): Promise<Record<string, unknown> | undefined> {
  // An address with these segments would be another one.
  if (name === '.' || name === '..') return undefined
  const answer = await api.get(`/${encodeURIComponent(name)}?${query}&resolve=false`)
  return isJsonObject(answer) ? answer : undefined
}

class LangfuseApi {
  readonly url: string
  readonly #authorization: string
  readonly #closed = new AbortController()
  #bytes = 0

  constructor({ url, publicKey, secretKey }: LangfuseAddress) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    const isPlain =
      parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password && !parsed.search
    if (!isPlain) {
      throw new CliError('usage', 'Not the URL of a Langfuse server', { hint: 'use --url https://cloud.langfuse.com' })
    }
    this.url = `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}/api/public/v2/prompts`
    this.#authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`
  }

  /** Ends requests that are still open after a failure. */
  close(): void {
    this.#closed.abort()
  }

  /** Waits and tries again after 429, for as long as the server asks. @returns undefined if the server answers 404 */
  async get(rest: string): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#request(rest)
      const { status } = response
      const pause = Number(response.headers.get('retry-after') ?? attempt)
      if (status === 429 && attempt < MAX_ATTEMPTS && pause >= 0 && pause <= MAX_PAUSE_S) {
        await response.body?.cancel()
        await setTimeout(pause * 1_000, undefined, { signal: this.#closed.signal })
      } else if (status === 404) return undefined
      else {
        this.#refuse(status)
        return this.#json(await this.#text(response))
      }
    }
  }

  async #request(rest: string): Promise<Response> {
    try {
      return await fetch(this.url + rest, {
        headers: { authorization: this.#authorization, accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closed.signal]),
      })
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new CliError('unreachable', `${this.url}: ${cause instanceof Error ? cause.message : cause}`)
    }
  }

  #refuse(status: number): void {
    if (status >= 300 && status < 400) {
      const hint = 'pass the final address with --url: the keys are sent to no other'
      throw new CliError('invalid', `${this.url} answered ${status}, a redirect`, { hint })
    }
    if (status === 401 || status === 403) {
      throw new CliError('not_allowed', `${this.url} refused the keys (${status})`, {
        hint: 'check --public-key and --secret-key, and that they belong to a project of this server',
      })
    }
    if (status === 429) throw new CliError('rate_limited', `${this.url} answered 429 too often: try again later`)
    if (status < 200 || status > 299) throw new CliError('not_found', `${this.url} answered ${status}`)
  }

  async #text(response: Response): Promise<string> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length
        this.#bytes += chunk.length
        if (bytes > MAX_RESPONSE_BYTES || this.#bytes > MAX_TOTAL_BYTES) break
        chunks.push(chunk)
      }
    } catch (error) {
      throw new CliError('unreachable', `${this.url}: ${error instanceof Error ? error.message : error}`)
    }
    if (bytes > MAX_RESPONSE_BYTES) {
      throw new CliError('invalid', `${this.url} sent more than ${MAX_RESPONSE_BYTES / 1e6} MB in one answer`)
    }
    if (this.#bytes > MAX_TOTAL_BYTES) {
      throw new CliError('invalid', `${this.url} sent more than ${MAX_TOTAL_BYTES / 1e6} MB`)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw new CliError('invalid', `${this.url} did not answer with JSON`, { hint: noLangfuse })
    }
  }
}
