const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Request', 'Response', 'navigator']

/** Prototypes whose properties libraries override by assignment, which a frozen data property would forbid. */
const OVERRIDDEN = [
  Object.prototype,
  Function.prototype,
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
]

/** Freezes every built-in that a template could reach, and takes away what it must never reach. */
export function lockDown(): void {
  for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name)
  for (const prototype of OVERRIDDEN) keepAssignable(prototype)
  const seen = new Set<unknown>()
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Object.getOwnPropertyDescriptor(globalThis, name)?.value
    if (/^[A-Z]/.test(name)) freezeAll(value, seen)
  }
  for (const hidden of hiddenIntrinsics()) freezeAll(hidden, seen)
}

/** Intrinsics without a global name. */
function hiddenIntrinsics(): unknown[] {
  const arrayIterator = [][Symbol.iterator]()
  const iterators = [arrayIterator, new Map().entries(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g)]
  const functions = [async () => undefined, function* () {}, async function* () {}]
  return [...iterators, ...functions].map((value) => Object.getPrototypeOf(value))
}

/** A frozen accessor whose setter gives the receiver a property of its own: overriding still works, changing not. */
function keepAssignable(prototype: object): void {
  for (const key of Reflect.ownKeys(prototype)) {
    const property = Object.getOwnPropertyDescriptor(prototype, key)
    if (!property?.configurable || !property.writable) continue
    const value: unknown = property.value
    Object.defineProperty(prototype, key, {
      enumerable: false,
      configurable: false,
      get: () => value,
      set(this: object, own: unknown) {
        if (this === prototype) throw new TypeError(`Cannot change the built-in '${String(key)}'`)
        Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true })
      },
    })
  }
}

function freezeAll(value: unknown, seen: Set<unknown>): void {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject || seen.has(value)) return
  seen.add(value)
  // Some own properties of host objects cannot be frozen; the engine never hands these out.
  Object.freeze(value)
  freezeAll(Object.getPrototypeOf(value), seen)
  for (const property of Object.values(Object.getOwnPropertyDescriptors(value))) {
    freezeAll(property.value, seen)
    freezeAll(property.get, seen)
    freezeAll(property.set, seen)
  }
}
