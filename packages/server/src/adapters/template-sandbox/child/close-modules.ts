/** Takes the ways out of this process away: modules that open sockets, processes, threads and files, and their loaders. */
import module, { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module'

const require = createRequire(import.meta.url)

/** Loaded so that they can be emptied: `import()` would hand them out anew otherwise. Everything else goes through them. */
const EMPTIED = [
  ...['net', 'dgram', 'dns', 'dns/promises', 'child_process', 'worker_threads', 'fs', 'fs/promises', 'v8', 'vm'],
  // The permission model lets their files through: Node 24 those of SQLite, Node 20 those of traces.
  ...['node:sqlite', 'trace_events'],
]
const OF_PROCESS = [
  ...['binding', '_linkedBinding', 'dlopen', 'getBuiltinModule', 'kill', '_kill', 'execve', 'abort', 'chdir', 'umask'],
  ...['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'loadEnvFile', 'openStdin', 'report'],
  ...['_debugProcess', '_debugEnd', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', 'mainModule'],
]

type Holder = Record<PropertyKey, unknown>

/** After everything that this process needs was loaded, and before the first template is. */
export function closeModules(): void {
  for (const name of EMPTIED) if (isBuiltin(name)) empty(require(name) as Holder, new Set())
  closeHandle(process.stdin as unknown as Holder)
  closeHandle(process.stdout as unknown as Holder)
  empty(module as unknown as Holder, new Set())
  syncBuiltinESMExports()
  for (const name of OF_PROCESS) Reflect.deleteProperty(process, name)
}

/** Functions become refusals: those of the module, of the objects in it, and of the prototypes of its classes. */
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

/** Methods that open connections. The streams of this process need the other methods. */
const OF_INSTANCES = [
  'connect',
  'listen',
  'bind',
  'send',
  'spawn',
  'postMessage',
  'require',
  'load',
  '_compile',
  'open',
]

function emptyClass(prototype: Holder | undefined): void {
  for (const name of OF_INSTANCES) {
    if (prototype !== undefined && Object.hasOwn(prototype, name)) refuse(prototype, name)
  }
}

/** The native side of a pipe could connect to, or listen on, a socket in the file system. */
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
