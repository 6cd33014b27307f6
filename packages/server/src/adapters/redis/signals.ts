/**
 * Signals between the servers of an installation, on one Pub/Sub channel. A signal can be lost, so its receiver must also
 * poll.
 */

import type { RunSignals } from '../../features/runs/ports.ts'
import type { ToolSignals } from '../../features/runs/tools/tool.ts'
import { createRunSignals, createToolSignals } from '../in-process/run-signals.ts'
import { failFast, type RedisConnections } from './connections.ts'

export type SignalKind = 'stop' | 'tool' | 'follow' | 'present' | 'opened' | 'drop'

export interface SignalChannel {
  /** Reaches every server, including this one. */
  publish(kind: SignalKind, id: string): void
  on(kind: SignalKind, listener: (id: string) => void): void
  /** Receives the messages of another Pub/Sub channel until the returned function is called. */
  listen(name: string, listener: ChannelListener): () => void
  /** Returns the number of subscribed servers, at least 1. @throws while Redis is unavailable. */
  countServers(): Promise<number>
}

interface ChannelListener {
  onMessage(message: string): void
  /** Called when messages begin to arrive, also after every reconnect. */
  onListening?(): void
}

/** A connection that does not answer for this long is opened again. `countServers` asks it regularly. */
const silenceMs = 3_000

export function createSignalChannel({ requests, prefix, open }: RedisConnections): SignalChannel {
  const signals = `${prefix}:signals`
  const listeners = new Map<string, Set<(id: string) => void>>()
  const channels = new Map<string, Set<ChannelListener>>()
  // ioredis would subscribe again without catching a failure, which ends the process.
  const subscriber = open({ ...failFast, autoResubscribe: false, socketTimeout: silenceMs })
  const subscribe = (...names: string[]) => subscriber.subscribe(...names).catch(() => undefined)
  const subscribeAll = async () => {
    if ((await subscribe(...channels.keys())) === undefined) return
    for (const each of channels.values()) for (const listener of each) listener.onListening?.()
  }
  subscriber.on('ready', () => void subscribeAll())
  subscriber.on('message', (name: string, message: string) => {
    for (const listener of channels.get(name) ?? []) listener.onMessage(message)
  })
  const onMessage = (message: string) => {
    const space = message.indexOf(' ')
    for (const listener of listeners.get(message.slice(0, space)) ?? []) listener(message.slice(space + 1))
  }
  channels.set(signals, new Set([{ onMessage }]))
  return {
    publish(kind, id) {
      requests.publish(signals, `${kind} ${id}`).catch(() => undefined)
    },
    on(kind, listener) {
      const known = listeners.get(kind) ?? new Set()
      listeners.set(kind, known.add(listener))
    },
    listen(name, listener) {
      const known = channels.get(name) ?? new Set()
      channels.set(name, known.add(listener))
      void subscribe(name).then((count) => {
        if (count !== undefined && known.has(listener)) listener.onListening?.()
      })
      return () => {
        if (!known.delete(listener) || known.size > 0) return
        channels.delete(name)
        subscriber.unsubscribe(name).catch(() => undefined)
      }
    },
    async countServers() {
      void subscribe(signals)
      const [, count] = (await requests.pubsub('NUMSUB', signals)) as [string, number]
      return Math.max(1, Number(count))
    },
  }
}

// Stop signals and wake-ups for tool results are stored in the database before they are sent. After a lost signal, the
// renewal of the owner's lease finds the stop request, and the waiting run finds the result.
export function createSharedRunSignals(channel: SignalChannel): RunSignals {
  const local = createRunSignals()
  const runsHere = new Set<string>()
  channel.on('stop', (runUuid) => local.stop(runUuid))
  return {
    onStop(runUuid, listener) {
      runsHere.add(runUuid)
      const unlisten = local.onStop(runUuid, listener)
      return () => {
        runsHere.delete(runUuid)
        unlisten()
      }
    },
    // A run of this server needs no signal, so stopping it works while Redis is unavailable.
    stop(runUuid) {
      if (runsHere.has(runUuid)) local.stop(runUuid)
      else channel.publish('stop', runUuid)
    },
  }
}

export function createSharedToolSignals(channel: SignalChannel): ToolSignals {
  const local = createToolSignals()
  channel.on('tool', (callId) => local.notify(callId))
  return {
    subscribe: local.subscribe,
    notify: (callId) => channel.publish('tool', callId),
  }
}
