import { randomUuid } from '../runtime.ts'

interface Host {
  Bun?: unknown
  Deno?: unknown
  process?: { versions?: { undici?: string }; getBuiltinModule?: (name: string) => unknown }
}

interface Diagnostics {
  subscribe(channel: string, listener: (message: never) => void): void
  unsubscribe(channel: string, listener: (message: never) => void): void
}

const CHANNEL = 'undici:client:sendHeaders'

/**
 * Lets a Node process end while a request is under way, for which `fetch` has no option. Node announces each request
 * with its socket on a diagnostics channel. Returns the headers by which the request is recognized there, and a
 * function that ends the listening. Other runtimes need no such thing, and get no headers.
 */
export function unrefRequest(): { headers: Record<string, string>; stop: () => void } {
  const { Bun, Deno, process } = globalThis as Host
  const isNode = !Bun && !Deno && process?.versions?.undici
  const diagnostics = isNode && (process.getBuiltinModule?.('node:diagnostics_channel') as Diagnostics | undefined)
  if (!diagnostics) return { headers: {}, stop() {} }
  const id = randomUuid()
  const listener = ({ request, socket }: { request: { headers: unknown }; socket: { unref?(): void } }) => {
    if (String(request.headers).includes(id)) socket.unref?.()
  }
  diagnostics.subscribe(CHANNEL, listener)
  // The socket is closed after the response, so that no later request depends on it.
  return {
    headers: { 'X-Stet-Probe': id, Connection: 'close' },
    stop: () => diagnostics.unsubscribe(CHANNEL, listener),
  }
}
