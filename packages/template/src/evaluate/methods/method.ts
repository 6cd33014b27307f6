import type { Meter } from '../values/fuel.ts'
import type { Value } from '../values/values.ts'

export type Method<Self> = (self: Self, args: readonly Value[], meter: Meter) => Value
/** Names the members of every object, because their types would win otherwise. */
export type Methods<Self> = Readonly<Record<string, Method<Self>>> & {
  readonly [name in 'toString' | 'toLocaleString' | 'hasOwnProperty']?: Method<Self>
}
