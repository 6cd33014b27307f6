/** The position and the variables of a stopped machine as JSON. Lists and objects keep their identity. */
import type { Frame } from '../frames.ts'
import type { Machine } from '../machine.ts'
import type { Program } from '../program.ts'
import { Scope } from '../scope.ts'
import type { ObjectValue, Value } from '../values/values.ts'
import { decodeValues, encoderOf, type StoredHeap, type StoredValue } from './stored-values.ts'

const VALUE_UNITS = 3

interface StoredFrame extends Pick<Frame, 'kind' | 'isElse' | 'at' | 'isInContent'> {
  /** The number of the node. */
  node: number
  /** The index of the scope. */
  scope: number
  attributes?: StoredValue
  items?: StoredValue
  index?: number
}

interface StoredScope {
  /** The index of the outer scope, which precedes this one, or -1. */
  outer: number
  values: [name: string, value: StoredValue][]
}

export interface StoredMachine {
  frames: StoredFrame[]
  scopes: StoredScope[]
  heap: StoredHeap
}

/** @param unchanged the parameters that every step receives unchanged */
export function storeMachine(
  { stack, run: { meter } }: Machine,
  { numbers }: Program,
  unchanged: Readonly<ObjectValue>,
): StoredMachine {
  const { encode, encodeCopy, heap } = encoderOf(unchanged, meter)
  const scopes: StoredScope[] = []
  const known = new Map<Scope, number>()
  const indexOf = (scope: Scope): number => {
    const index = known.get(scope)
    if (index !== undefined) return index
    const outer = scope.outer ? indexOf(scope.outer) : -1
    known.set(scope, scopes.length)
    meter.spend(1 + scope.values.size * VALUE_UNITS)
    const values = [...scope.values].map(([name, value]): [string, StoredValue] => [name, encode(value)])
    return scopes.push({ outer, values }) - 1
  }
  const frames = stack.map(
    ({ node, scope, attributes, items, ...frame }): StoredFrame => ({
      ...frame,
      node: numbers.get(node) ?? 0,
      scope: indexOf(scope),
      ...(attributes && { attributes: encodeCopy(attributes) }),
      ...(items && { items: encode(items as Value[]) }),
    }),
  )
  return { frames, scopes, heap }
}

export function restoreMachine(
  machine: Machine,
  { frames, scopes, heap }: StoredMachine,
  { nodes, fragment }: Program,
  parameters: Readonly<ObjectValue>,
): void {
  const { meter } = machine.run
  const decode = decodeValues(heap, parameters, meter)
  const restored: Scope[] = []
  for (const { outer, values } of scopes) {
    meter.spend(1 + values.length * VALUE_UNITS)
    const scope = new Scope(restored[outer])
    for (const [name, value] of values) scope.values.set(name, decode(value))
    restored.push(scope)
  }
  for (const { node, scope, attributes, items, ...frame } of frames) {
    machine.stack.push({
      ...frame,
      node: nodes[node] ?? fragment,
      scope: restored[scope] ?? new Scope(),
      ...(attributes !== undefined && { attributes: decode(attributes) as ObjectValue }),
      ...(items !== undefined && { items: decode(items) as Value[] }),
    })
  }
}
