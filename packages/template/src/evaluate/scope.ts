import type { Value } from './values/values.ts'

/** The variables of a block. A variable that a block sets first is unknown after it. */
export class Scope {
  readonly values = new Map<string, Value>()
  readonly outer: Scope | undefined

  constructor(outer?: Scope) {
    this.outer = outer
  }

  /** Returns the innermost scope that has the variable. */
  find(name: string): Scope | undefined {
    // bounded: blocks are at most 200 deep
    for (let scope: Scope | undefined = this; scope; scope = scope.outer) if (scope.values.has(name)) return scope
    return undefined
  }

  get(name: string): Value {
    return this.find(name)?.values.get(name)
  }

  set(name: string, value: Value): void {
    const scope = this.find(name) ?? this
    scope.values.set(name, value)
  }
}
