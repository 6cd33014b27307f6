import { assertDeclared } from './declared-answers.ts'

export type AnyBody = Record<string, unknown> & { details?: Record<string, unknown> }

export interface ApiAnswer<Body = AnyBody> {
  status: number
  headers: Headers
  text: string
  /** The parsed body. Has no fields if the body is empty or not JSON. */
  body: Body
}

export interface ApiCall {
  key?: string | undefined
  /** Sent as JSON, or unchanged if it is a string or bytes. */
  body?: unknown
  headers?: Record<string, string>
}

export function apiCaller(url: string, defaultKey?: string) {
  return <Body = AnyBody>(method: string, path: string, call: ApiCall = {}): Promise<ApiAnswer<Body>> => {
    const key = 'key' in call ? call.key : defaultKey
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
    return httpCall(method, `${url}/api/v3${path}`, { ...call, headers: { ...authorization, ...call.headers } })
  }
}

/** Removes ping comments. A stream that is silent for ten seconds gets them, so on a slow machine any stream may. */
export function withoutPings(text: string): string {
  return text.replace(/^: ping\n/gm, '')
}

export async function httpCall<Body = AnyBody>(
  method: string,
  url: string,
  call: Omit<ApiCall, 'key'> = {},
): Promise<ApiAnswer<Body>> {
  const { body } = call
  const isBytes = body instanceof Uint8Array || typeof body === 'string'
  const response = await fetch(url, {
    method,
    headers: { ...(isBytes || body === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers },
    ...(body === undefined ? {} : { body: isBytes ? toBytes(body) : JSON.stringify(body) }),
  })
  const text = withoutPings(await response.text())
  assertDeclared(method, url, { status: response.status, text })
  return { status: response.status, headers: response.headers, text, body: parseOrEmpty(text) }
}

function parseOrEmpty(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

// fetch adds a content type to text, but not to bytes.
function toBytes(body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body)
}
