/** The console's built files. `console.json` lists them, so that no request can name another file. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Request, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { writeBody } from '../raw-response.ts'

interface ConsoleFile {
  /** Relative to the folder, for example `assets/index-BSwmVM8e.js`. The same as its address. */
  path: string
  type: string
  bytes: number
  /** Bytes of the compressed copies `<path>.br` and `<path>.gz`. Null if the file has none. */
  br: number | null
  gz: number | null
}

export interface ConsoleBuild {
  folder: string
  /** Addresses of pages. `*` stands for the rest of the path. */
  routes: readonly string[]
  files: readonly ConsoleFile[]
}

const mostHeldBytes = 2_500_000

/** @returns undefined if the server was built without the console */
export function readConsoleBuild(packageRoot: string): ConsoleBuild | undefined {
  const folder = join(packageRoot, 'dist', 'console')
  try {
    return { ...(JSON.parse(readFileSync(join(folder, 'console.json'), 'utf8')) as ConsoleBuild), folder }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export class ConsoleAssets {
  readonly #folder: string
  readonly #byAddress: ReadonlyMap<string, ConsoleFile>
  /** Promises, so that concurrent first requests share one read. */
  readonly #held = new LRUCache<string, Promise<Buffer>>({ maxSize: mostHeldBytes })

  constructor({ folder, files }: ConsoleBuild) {
    this.#folder = folder
    const others = files.filter(({ path }) => path !== 'index.html')
    this.#byAddress = new Map(others.map((file) => [`/${file.path}`, file]))
  }

  /** The address in metrics and logs, or undefined if there is no such file. */
  routeOf(address: string): string | undefined {
    if (!this.#byAddress.has(address)) return undefined
    return isHashed(address) ? '/assets/*' : address
  }

  async send(req: Request, res: Response): Promise<void> {
    const file = this.#byAddress.get(req.path)
    if (!file) throw new Error(`${req.path} is not an asset`)
    const { encoding, path, bytes } = smallestCopy(file, req)
    const body = await this.#read(path, bytes)
    res.vary('Accept-Encoding')
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
    res.setHeader('Content-Type', file.type)
    if (isHashed(req.path)) res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
    writeBody(res, body)
  }

  #read(path: string, bytes: number): Promise<Buffer> {
    const held = this.#held.get(path)
    if (held) return held
    const body = readFile(join(this.#folder, path))
    this.#held.set(path, body, { size: bytes })
    // A failed read is repeated by the next request.
    body.catch(() => this.#held.delete(path))
    return body
  }
}

/** The name contains a hash of the content, so the file at this address never changes. */
function isHashed(address: string): boolean {
  return address.startsWith('/assets/')
}

function smallestCopy({ path, bytes, br, gz }: ConsoleFile, req: Request) {
  if (br !== null && req.acceptsEncodings('br')) return { encoding: 'br', path: `${path}.br`, bytes: br }
  if (gz !== null && req.acceptsEncodings('gzip')) return { encoding: 'gzip', path: `${path}.gz`, bytes: gz }
  return { encoding: undefined, path, bytes }
}
