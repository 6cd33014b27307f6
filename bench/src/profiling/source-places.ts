/** Maps a profiled frame to a package, or to a folder of our source. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Frame } from './cpu-profile.ts'

export interface Place {
  /** A package, a Node module, or V8's own work, such as garbage collection. */
  package: string
  /** The folder and file of our source, e.g. `features/runs`. Undefined for all other frames. */
  folder?: string
  file?: string
}

const collection: Place = { package: 'garbage collection' }
const program: Place = { package: 'native code without a JavaScript frame' }

/**
 * Locates frames by the region comments that the bundler writes to dist. Each comment names the source file of the
 * lines below it. The bundler omits some comments. Functions of a file without a comment are shown under the previous
 * file.
 */
export class SourcePlaces {
  readonly #regions = new Map<string, string[]>()

  /** @returns undefined for idle time and native frames. A native frame's time is charged to its caller. */
  of({ functionName, url, lineNumber }: Frame): Place | undefined {
    if (functionName === '(garbage collector)') return collection
    if (functionName === '(program)') return program
    if (url.startsWith('node:')) return { package: `node:${nodeModule(url)}` }
    if (url === '' || url.startsWith('wasm:')) return undefined
    if (url.endsWith('/preload.cjs')) return { package: 'the profiler' }
    const source = this.#sourceOf(url, lineNumber)
    const dependency = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]
    if (dependency !== undefined) return { package: dependency }
    const folder = ownFolder(source)
    const file = source.replace(/^(\.\.\/)*src\//, '').replace(/^\.\.\/([\w-]+)\/src\//, '$1/')
    return { package: folder.includes('prisma/') ? 'generated Prisma client' : 'stet', folder, file }
  }

  #sourceOf(url: string, line: number): string {
    if (!url.includes('/dist/')) return url
    return this.#regionsOf(url)[line] ?? url
  }

  #regionsOf(url: string): string[] {
    const known = this.#regions.get(url)
    if (known) return known
    let region = url
    const regions = readFileSync(fileURLToPath(url), 'utf8')
      .split('\n')
      .map((text) => {
        region = /^\/\/#region (.+)$/.exec(text)?.[1] ?? region
        return region
      })
    this.#regions.set(url, regions)
    return regions
  }
}

/** `src/features/runs/run.ts` → `features/runs`; `../contract/src/x.ts` → `contract`. */
function ownFolder(source: string): string {
  const sibling = /\.\.\/([\w-]+)\/src\//.exec(source)?.[1]
  if (sibling !== undefined) return sibling
  const parts = source.replace(/^.*?src\//, '').split('/')
  return parts.length === 1 ? '(top)' : parts.slice(0, Math.min(2, parts.length - 1)).join('/')
}

/** `node:internal/streams/writable` → `stream`, `node:_http_outgoing` → `http`. */
function nodeModule(url: string): string {
  const [first = '', second = ''] = url.replace(/^node:(internal\/)?_?/, '').split('/')
  if (first.startsWith('http')) return 'http'
  if (first.startsWith('stream_base')) return 'net'
  if (first.startsWith('stream')) return 'stream'
  if (first === 'deps') return second
  return first
}
