type Functions = Record<string, (...args: never[]) => unknown>

export interface Surface {
  /** Functions that applications call: in namespaces (`prompts.get`) or static (`static instrument`). */
  methods: string[]
  /** Prototype functions that no namespace exposes unchanged: they are wrapped, or parts of other functions. */
  inner: string[]
}

export function surfaceOf(client: object): Surface {
  const namespaces = Object.entries(client).filter((entry): entry is [string, Functions] => isNamespace(entry[1]))
  const shown = namespaces.flatMap(([, functions]) => Object.values(functions).map(({ name }) => name))
  const prototype: object = Object.getPrototypeOf(client)
  const statics = functionsOf(client.constructor).filter((name) => !['length', 'name', 'prototype'].includes(name))
  return {
    methods: [
      ...namespaces.flatMap(([space, functions]) => Object.keys(functions).map((name) => `${space}.${name}`)),
      ...statics.map((name) => `static ${name}`),
    ].sort(),
    // Namespaces contain bound functions, whose names start with "bound".
    inner: functionsOf(prototype).filter((name) => name !== 'constructor' && !shown.includes(`bound ${name}`)),
  }
}

function isNamespace(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parts = Object.values(value)
  return parts.length > 0 && parts.every((part) => typeof part === 'function')
}

function functionsOf(value: object): string[] {
  return Object.getOwnPropertyNames(value).filter((name) => typeof Reflect.get(value, name) === 'function')
}
