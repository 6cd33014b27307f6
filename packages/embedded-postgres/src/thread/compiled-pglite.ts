import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A WebAssembly.Module. Node's types lack the class. */
export type CompiledPglite = object

declare const WebAssembly: { compile(bytes: Uint8Array): Promise<CompiledPglite> }

let compiled: Promise<CompiledPglite> | undefined

/** Compiles PGlite once for all threads, because a compilation takes almost one second of CPU time. */
export function compiledPglite(): Promise<CompiledPglite> {
  compiled ??= compile()
  return compiled
}

async function compile(): Promise<CompiledPglite> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  return WebAssembly.compile(await readFile(join(dirname(entry), 'pglite.wasm')))
}
