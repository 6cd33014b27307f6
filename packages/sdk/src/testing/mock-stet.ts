import { ConfigurationError, type PromptRegistry, Stet, type StetOptions } from '../index.ts'
import { laterOperations } from '../later-operations.ts'
import { operations } from '../operations.ts'
import { type MockCall, type MockReply, respond } from './mock-reply.ts'

/** A client that needs no server. */
export interface MockStet<R = PromptRegistry> extends Stet<R> {
  /** All requests since the start or the last `reset()`, in order. */
  readonly calls: readonly MockCall[]
  /**
   * Clears `calls`.
   *
   * @example
   * const mock = createMockStet({ 'support/reply': 'On its way.' })
   * await mock.prompts.run('support/reply')
   * mock.reset()
   * expect(mock.calls).toEqual([])
   */
  reset(): void
}

/** The options of the client and the mock. */
export interface MockOptions extends StetOptions {
  /**
   * If no reply matches a request, `throw` (default) rejects with ConfigurationError. `empty` responds with an empty
   * text, list, page or object.
   */
  onUnmatched?: 'throw' | 'empty'
}

/**
 * Creates a client with mock replies. The mock looks up the prompt's path first, then the operation's name. Only
 * `fetch` is replaced.
 *
 * @example
 * const stet = createMockStet({ 'support/reply': 'On its way.', 'versions.list': [] })
 * await answerTicket(stet, 'Where is my order?')
 * expect(stet.calls[0]).toMatchObject({ operation: 'prompts.run', body: { parameters: { ticket: 'Where is my order?' } } })
 */
export function createMockStet<R = PromptRegistry>(
  replies: Record<string, MockReply>,
  o: MockOptions = {},
): MockStet<R> {
  const { onUnmatched = 'throw', ...options } = o
  const calls: MockCall[] = []
  const answer: typeof fetch = async (input, init) => {
    const call = callOf(String(input), init)
    calls.push(call)
    const ofPrompt = call.operation.startsWith('prompts.') ? call.path : undefined
    const known = [ofPrompt, call.operation].find((key) => key !== undefined && Object.hasOwn(replies, key))
    const reply = known === undefined ? undefined : replies[known]
    if (reply !== undefined) return respond(call, reply)
    if (onUnmatched === 'empty') return respond(call, emptyOf(call.operation))
    const wanted = call.path === undefined ? call.operation : `${call.operation} of '${call.path}'`
    const list = Object.keys(replies).map((key) => `'${key}'`)
    throw new ConfigurationError(`The mock has no reply for ${wanted}; it has ${list.join(', ') || 'none'}`)
  }
  const stet = new Stet<R>({
    apiKey: 'mock',
    projectId: 1,
    maxRetries: 0,
    dangerouslyAllowBrowser: true,
    ...options,
    fetch: answer,
  })
  const reset = () => {
    calls.length = 0
  }
  return Object.assign(stet, { calls, reset })
}

function emptyOf(operation: string): MockReply {
  if (operation === 'conversations.list') return { items: [], nextCursor: null }
  if (operation.endsWith('list')) return []
  return operation.startsWith('prompts.') ? '' : {}
}

const routes = Object.entries({ ...operations, ...laterOperations }).map(([operation, { method, path }]) => {
  const pattern = path.replace(/:(\w+)/g, (_, name) => (name === 'path' ? '(?<path>.+)' : '[^/]+'))
  return { operation, method, pattern: new RegExp(`^${pattern}$`), isLiteral: !path.endsWith(':path') }
})

function callOf(url: string, init: RequestInit = {}): MockCall {
  const { method = 'GET' } = init
  const { pathname } = new URL(url)
  const [, address = pathname] = /\/api\/v\d+(\/.*)$/.exec(pathname) ?? []
  const fitting = routes.filter((route) => route.method === method && route.pattern.test(address))
  // `…/documents/run` is a route, not a prompt path.
  const route = fitting.find(({ isLiteral }) => isLiteral) ?? fitting[0]
  const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
  const inAddress = route?.pattern.exec(address)?.groups?.['path']
  const inBody = (body as { path?: unknown } | undefined)?.path
  const path = inAddress === undefined ? inBody : decodeURIComponent(inAddress)
  const headers = new Headers(init.headers)
  return {
    operation: route?.operation ?? 'request',
    ...(typeof path === 'string' && { path: path.replace(/^\//, '') }),
    method,
    url,
    body,
    headers,
  }
}
