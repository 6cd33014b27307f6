/** Serves the console: the files that `console.json` lists, and one page at each address of a closed list. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Request, RequestHandler, Response } from 'express'
import { refuse } from '../../shared/app-error.ts'
import { contextOf } from '../auth/request-context.ts'
import { writeBody } from '../raw-response.ts'

/** The features of Chromium that reach devices, credentials or models, or change how the page is shown. */
const deniedFeatures = `
  accelerometer autoplay browsing-topics camera captured-surface-control clipboard-read compute-pressure
  digital-credentials-create digital-credentials-get display-capture encrypted-media fullscreen gamepad
  geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map language-detector
  language-model local-fonts magnetometer microphone midi on-device-speech-recognition otp-credentials payment
  picture-in-picture private-state-token-issuance private-state-token-redemption publickey-credentials-create
  publickey-credentials-get screen-wake-lock serial speaker-selection storage-access summarizer sync-xhr
  translator usb window-management xr-spatial-tracking
`
const denied = deniedFeatures.trim().split(/\s+/)
const permissionsPolicy = ['clipboard-write=(self)', ...denied.map((name) => `${name}=()`)].join(', ')

/** Styles need a nonce because the editor and the primitives add `<style>` elements. */
function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'none'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** @param publicUrl its path becomes the page's base. Its host does not, so the console works at every host name. */
export function serveConsole(build: ConsoleBuild, publicUrl: string | undefined): RequestHandler {
  const assets = new ConsoleAssets(build)
  const routes = build.routes.map((route) => ({ route, matches: matcherOf(route) }))
  const base = publicUrl === undefined ? '/' : folderOf(new URL(publicUrl).pathname)
  let page: Promise<string> | undefined
  return async (req, res, next) => {
    const asset = assets.routeOf(req.path)
    const route = asset ?? routes.find(({ matches }) => matches(req.path))?.route
    if (route === undefined) return next()
    contextOf(res).route = route
    const { method } = req
    if (method !== 'GET' && method !== 'HEAD') throw refuse('method-not-allowed', { method, allow: ['GET', 'HEAD'] })
    if (asset) return assets.send(req, res)
    page ??= readPage(build, base)
    // A failed read is repeated by the next request.
    page.catch(() => {
      page = undefined
    })
    sendPage(res, await page)
  }
}

function matcherOf(route: string): (path: string) => boolean {
  const start = route.endsWith('*') ? route.slice(0, -1) : undefined
  return (path) => (start === undefined ? path === route : path.startsWith(start))
}

async function readPage({ folder }: ConsoleBuild, base: string): Promise<string> {
  const html = await readFile(join(folder, 'index.html'), 'utf8')
  // A URL's path has no quotes and no angle brackets.
  return html.replaceAll('__STET_BASE__', base.replaceAll('&', '&amp;'))
}

function sendPage(res: Response, html: string): void {
  const nonce = randomBytes(16).toString('base64')
  const body = Buffer.from(html.replaceAll('__STET_NONCE__', nonce))
  res.setHeader('Content-Security-Policy', contentPolicy(nonce))
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
  res.setHeader('Permissions-Policy', permissionsPolicy)
  res.setHeader('Content-Type', 'text/html; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  // No validator and not stored: a 304 would pair this nonce with the body of an earlier one.
  res.setHeader('Cache-Control', 'no-store')
  res.end(body)
}

function folderOf(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

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

class ConsoleAssets {
  readonly #folder: string
  readonly #byAddress: ReadonlyMap<string, ConsoleFile>

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
    const { encoding, path } = smallestCopy(file, req)
    const body = await readFile(join(this.#folder, path))
    res.vary('Accept-Encoding')
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
    res.setHeader('Content-Type', file.type)
    if (isHashed(req.path)) res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
    writeBody(res, body)
  }
}

/** The name contains a hash of the content, so the file at this address never changes. */
function isHashed(address: string): boolean {
  return address.startsWith('/assets/')
}

function smallestCopy({ path, br, gz }: ConsoleFile, req: Request) {
  if (br !== null && req.acceptsEncodings('br')) return { encoding: 'br', path: `${path}.br` }
  if (gz !== null && req.acceptsEncodings('gzip')) return { encoding: 'gzip', path: `${path}.gz` }
  return { encoding: undefined, path }
}
