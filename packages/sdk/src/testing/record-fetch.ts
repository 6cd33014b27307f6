import { appended, type Cassette, openCassette, type Recording, takeRecording } from './cassette.ts'
import { withoutSecrets } from './secrets.ts'

/** Options for recording and replay. */
export interface RecordOptions {
  /**
   * `record` calls the server and writes a new file. `replay` never calls the server. `auto` (default) replays if the
   * file exists, otherwise records.
   */
  mode?: 'record' | 'replay' | 'auto'
  /** The `fetch` that calls the server. Default: the runtime's `fetch`. */
  fetch?: typeof globalThis.fetch
}

type Fetch = typeof globalThis.fetch

const KEPT_HEADERS = /^(content-type|etag|retry-after|retry-after-ms|x-conversation-uuid|x-request-id|x-ratelimit-.*)$/

/**
 * Returns a `fetch` that records server responses in a file and replays these responses later. Each recording answers
 * one request, in recorded order. A request without a recording rejects with the difference to the nearest recording.
 * The file has `***` in place of API keys, tokens and passwords. Works in Node, Bun and Deno.
 *
 * @example new Stet({ fetch: recordFetch('test/cassettes/reply.json') })
 */
export function recordFetch(file: string, { mode = 'auto', fetch }: RecordOptions = {}): Fetch {
  let cassette: Cassette | undefined
  const opened = () => {
    cassette ??= openCassette(file, mode)
    return cassette
  }
  const answer: Fetch = async (input, init) => {
    const cassette = opened()
    const request = await requestOf(input, init)
    if (!cassette.isRecording) return replayed(takeRecording(cassette, request))
    const response = await (fetch ?? globalThis.fetch)(input, init)
    return recorded(cassette, { request, secrets: secretsOf(input, init) }, response)
  }
  // This function makes the client accept a missing API key during replay.
  return Object.assign(answer, { [Symbol.for('stet.offline')]: () => !opened().isRecording })
}

async function requestOf(input: RequestInfo | URL, init: RequestInit = {}): Promise<Recording['request']> {
  const asked = new Request(input, init)
  const { pathname, search } = new URL(asked.url)
  const text = await asked.text()
  return { method: asked.method, path: pathname + search, body: withoutSecrets(parsed(text), secretsOf(input, init)) }
}

function secretsOf(input: RequestInfo | URL, init: RequestInit = {}): string[] {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
  const authorization = headers.get('authorization')
  return authorization ? [authorization.replace(/^\w+ /, '')] : []
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

function replayed({ response: { status, headers, body } }: Recording): Response {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  return new Response(text ?? null, { status, headers })
}

/**
 * Records the response while the caller reads the body. Reading the body first would block a run that waits for tools.
 */
function recorded(
  cassette: Cassette,
  { request, secrets }: { request: Recording['request']; secrets: string[] },
  response: Response,
): Response {
  const { status } = response
  const headers = Object.fromEntries([...response.headers].filter(([name]) => KEPT_HEADERS.test(name)))
  const decoder = new TextDecoder()
  let text = ''
  let isKept = false
  const keep = () => {
    if (isKept) return
    isKept = true
    const body = withoutSecrets(parsed(text + decoder.decode()), secrets)
    appended(cassette, { request, response: { status, headers, ...(body !== undefined && { body }) } })
  }
  const reader = response.body?.getReader()
  if (!reader) {
    keep()
    return response
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) {
        keep()
        return controller.close()
      }
      text += decoder.decode(value, { stream: true })
      controller.enqueue(value)
    },
    async cancel(reason) {
      keep()
      await reader.cancel(reason)
    },
  })
  return new Response(body, { status, statusText: response.statusText, headers: response.headers })
}
