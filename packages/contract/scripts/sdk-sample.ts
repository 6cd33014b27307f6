import { readFileSync } from 'node:fs'
import { z } from 'zod'

const calls = z
  .record(z.string(), z.string())
  .parse(JSON.parse(readFileSync(new URL('../samples/sdk/calls.json', import.meta.url), 'utf8')))

const HEAD = `import { Stet } from '@stet/sdk'

// The key and the address come from STET_API_KEY and STET_BASE_URL.
const stet = new Stet({ projectId: 1 })
`

/** Returns code that calls the route with the SDK. @throws Error if the SDK has no example for the route. */
export function sdkSample({ method, path }: { method: string; path: string }): string {
  const call = calls[`${method} ${path}`]
  if (call === undefined) throw new Error(`samples/sdk/calls.json has no call of ${method} ${path}`)
  return HEAD + call
}
