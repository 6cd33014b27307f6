import { checkDepth } from '../../src/evaluate/values/value-depth.ts'
import { type Fragment, type Tag, type TemplateNode, walkNodes } from '../../src/syntax/nodes.ts'
import type { RenderedMessage } from './wire-message.ts'

/** The engine's status of a node that it completed or stopped in. */
export interface NodeStatus {
  completedAs?: unknown
  scopePointers?: Record<string, number> | undefined
  loopIterationIndex?: number
  loopInvocationCount?: number
}

type Noted = TemplateNode & { status?: NodeStatus }

export interface ChainState {
  /** The messages that later steps send before their own. Excludes the messages of isolated steps. */
  history: RenderedMessage[]
  isolated: boolean
  stash: unknown[]
  pointers: Record<string, number>
  statuses: [index: number, status: NodeStatus][]
}

type Encoded = { $: 'date'; iso: string } | { $: 'undefined' } | { $: 'map'; of: Record<string, unknown> }

export function restoreStatuses(fragment: Fragment, statuses: ChainState['statuses']): void {
  const byIndex = new Map(statuses)
  let index = 0
  for (const node of walkNodes(fragment) as Iterable<Noted>) {
    const status = byIndex.get(index)
    if (status) node.status = { ...status }
    else delete node.status
    index += 1
  }
}

export function takeStatuses(fragment: Fragment): ChainState['statuses'] {
  const statuses: ChainState['statuses'] = []
  let index = 0
  for (const { status } of walkNodes(fragment) as Iterable<Noted>) {
    if (status) statuses.push([index, { ...status }])
    index += 1
  }
  return statuses
}

/** Finds the step that waits for its answer. The engine sets `scopePointers` on the nodes in which it stopped. */
export function openStep(fragment: Fragment): Tag | undefined {
  for (const node of walkNodes(fragment)) if (isOpenStep(node)) return node
  return undefined
}

function isOpenStep(node: Noted): node is Tag & { status?: NodeStatus } {
  return node.type === 'ElementTag' && node.name === 'step' && node.status?.scopePointers !== undefined
}

/** Encodes variables as JSON values. Dates and `undefined` survive. Functions become `undefined`. */
export function encodeStash(stash: readonly unknown[]): unknown[] {
  checkDepth(stash)
  return stash.map(encode)
}

export function decodeStash(stash: readonly unknown[]): unknown[] {
  return stash.map(decode)
}

function encode(value: unknown): unknown {
  if (value === undefined || typeof value === 'function') return { $: 'undefined' } satisfies Encoded
  if (value instanceof Date) return { $: 'date', iso: value.toISOString() } satisfies Encoded
  if (Array.isArray(value)) return value.map(encode)
  if (typeof value !== 'object' || value === null) return value
  const of = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, encode(child)]))
  return Object.hasOwn(of, '$') ? ({ $: 'map', of } satisfies Encoded) : of
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode)
  if (typeof value !== 'object' || value === null) return value
  const encoded = value as Partial<Record<'$' | 'iso' | 'of', unknown>>
  if (encoded.$ === 'undefined') return undefined
  if (encoded.$ === 'date') return new Date(String(encoded.iso))
  const of = encoded.$ === 'map' ? (encoded.of as Record<string, unknown>) : value
  return Object.fromEntries(Object.entries(of).map(([key, child]) => [key, decode(child)]))
}
