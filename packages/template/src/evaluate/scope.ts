import type { Meter } from './values/fuel.ts'
import type { Value } from './values/values.ts'

const SCOPES_PER_UNIT = 4

/** The variables of a block. A variable that a block sets first is unknown after it. */
export class Scope {
  readonly values = new Map<string, Value>()
  readonly outer: Scope | undefined

  constructor(outer?: Scope) {
    this.outer = outer
  }

  /** Returns the innermost scope that has the variable. */
  find(name: string, meter: Meter): Scope | undefined {
    let passed = 0
    for (let scope: Scope | undefined = this; scope; scope = scope.outer) {
      if (scope.values.has(name)) return scope
      passed += 1
      if (passed % SCOPES_PER_UNIT === 0) meter.spend(1)
    }
    return undefined
  }

  get(name: string, meter: Meter): Value {
    return this.find(name, meter)?.values.get(name)
  }

  set(name: string, value: Value, meter: Meter): void {
    const scope = this.find(name, meter) ?? this
    scope.values.set(name, value)
  }
}
