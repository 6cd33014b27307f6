/**
 * Signals between the servers of an installation, on one Pub/Sub channel. A signal can be lost, so its receiver must also
 * poll.
 */
import type { RedisConnections } from './connections.ts'

export type SignalKind = 'stop' | 'tool' | 'follow' | 'present' | 'again' | 'opened' | 'drop'

export interface SignalChannel {
  /** Reaches every server, including this one. */
  publish(kind: SignalKind, id: string): void
  on(kind: SignalKind, listener: (id: string) => void): void
  /** Returns the number of subscribed servers, at least 1. @throws while Redis is unavailable. */
  countServers(): Promise<number>
}

export function createSignalChannel({ requests, prefix, open }: RedisConnections): SignalChannel {
  const channel = `${prefix}:signals`
  const listeners = new Map<string, Set<(id: string) => void>>()
  // ioredis subscribes again after every reconnect.
  const subscriber = open({ maxRetriesPerRequest: null })
  subscriber.subscribe(channel).catch(() => undefined)
  subscriber.on('message', (_channel: string, message: string) => {
    const space = message.indexOf(' ')
    for (const listener of listeners.get(message.slice(0, space)) ?? []) listener(message.slice(space + 1))
  })
  return {
    publish(kind, id) {
      requests.publish(channel, `${kind} ${id}`).catch(() => undefined)
    },
    on(kind, listener) {
      const known = listeners.get(kind) ?? new Set()
      listeners.set(kind, known.add(listener))
    },
    async countServers() {
      const [, count] = (await requests.pubsub('NUMSUB', channel)) as [string, number]
      return Math.max(1, Number(count))
    },
  }
}
