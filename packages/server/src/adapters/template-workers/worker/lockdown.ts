/** Closes ways out of the sandbox: empties modules for sockets, processes and files, and freezes built-ins. */
import module, { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * Each module is loaded before it is emptied, because `import()` would otherwise return an intact one later. Modules
 * such as `http` depend on these.
 */
const EMPTIED = [
  ...['net', 'dgram', 'dns', 'dns/promises', 'child_process', 'worker_threads', 'fs', 'fs/promises', 'v8', 'vm'],
  // The permission model does not restrict the files of SQLite in Node 24 and of traces in Node 20.
  ...['node:sqlite', 'trace_events'],
]
const OF_PROCESS = [
  ...['binding', '_linkedBinding', 'dlopen', 'getBuiltinModule', 'kill', '_kill', 'execve', 'abort', 'chdir', 'umask'],
  ...['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'loadEnvFile', 'openStdin', 'report'],
  ...['_debugProcess', '_debugEnd', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', 'mainModule'],
]

type Holder = Record<PropertyKey, unknown>

/** Call after all code is loaded and before the first template. */
export function closeModules(): void {
  // Loads all modules before emptying any: Node 22 uses a function of `v8` to warn about `node:sqlite`.
  const modules = EMPTIED.filter((name) => isBuiltin(name)).map((name) => require(name) as Holder)
  for (const each of modules) empty(each, new Set())
  closeHandle(process.stdin as unknown as Holder)
  closeHandle(process.stdout as unknown as Holder)
  empty(module as unknown as Holder, new Set())
  syncBuiltinESMExports()
  for (const name of OF_PROCESS) Reflect.deleteProperty(process, name)
}

/**
 * Replaces the functions and accessors of a module and its objects with a function that throws. On class prototypes,
 * only the methods in `OF_INSTANCES` are replaced.
 */
function empty(holder: Holder, seen: Set<unknown>): void {
  if (seen.has(holder)) return
  seen.add(holder)
  for (const key of Reflect.ownKeys(holder)) {
    const property = Object.getOwnPropertyDescriptor(holder, key)
    if (!property?.configurable && !property?.writable) continue
    const { value } = property
    if (typeof value === 'function') emptyClass(value.prototype as Holder | undefined)
    else if (typeof value === 'object' && value !== null && key !== 'constants') empty(value as Holder, seen)
    if (typeof value === 'function' || property.get) refuse(holder, key)
  }
}

/** Methods that open connections or files, start processes or load code. The process's streams need the others. */
const OF_INSTANCES = 'connect listen bind send spawn postMessage require load _compile open'.split(' ')

function emptyClass(prototype: Holder | undefined): void {
  for (const name of OF_INSTANCES) {
    if (prototype !== undefined && Object.hasOwn(prototype, name)) refuse(prototype, name)
  }
}

/** A pipe's native handle could connect to a Unix socket, or listen on one. */
function closeHandle(stream: Holder): void {
  const handle = stream['_handle']
  const prototype: unknown = typeof handle === 'object' && handle !== null ? Object.getPrototypeOf(handle) : undefined
  if (typeof prototype === 'object' && prototype !== null) emptyClass(prototype as Holder)
}

function refuse(holder: Holder, key: PropertyKey): void {
  Object.defineProperty(holder, key, { value: refused, writable: false })
}

function refused(): never {
  throw new Error('Not available in a template worker')
}

const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Request', 'Response', 'navigator']

/** Libraries override properties of these prototypes by assignment. A frozen data property would prevent this. */
const OVERRIDDEN = [Object, Function, Error, TypeError, RangeError, SyntaxError, ReferenceError]

export function lockDown(): void {
  for (const name of NETWORK_GLOBALS) Reflect.deleteProperty(globalThis, name)
  for (const { prototype } of OVERRIDDEN) keepAssignable(prototype)
  const seen = new Set<unknown>()
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Object.getOwnPropertyDescriptor(globalThis, name)?.value
    if (/^[A-Z]/.test(name)) freezeAll(value, seen)
  }
  for (const hidden of hiddenIntrinsics()) freezeAll(hidden, seen)
}

function hiddenIntrinsics(): unknown[] {
  const arrayIterator = [][Symbol.iterator]()
  const iterators = [arrayIterator, new Map().entries(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g)]
  const functions = [async () => undefined, function* () {}, async function* () {}]
  return [...iterators, ...functions].map((value) => Object.getPrototypeOf(value))
}

/**
 * Replaces the writable properties of `prototype` with permanent accessors. A setter defines an own property on the
 * assigned object, so the built-in itself cannot change.
 */
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
  Object.freeze(value)
  freezeAll(Object.getPrototypeOf(value), seen)
  for (const property of Object.values(Object.getOwnPropertyDescriptors(value))) {
    freezeAll(property.value, seen)
    freezeAll(property.get, seen)
    freezeAll(property.set, seen)
  }
}
