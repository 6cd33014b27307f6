import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A WebAssembly.Module. Node has the class; the types of Node alone do not. */
export type CompiledPglite = object

declare const WebAssembly: { compile(bytes: Uint8Array): Promise<CompiledPglite> }

let compiled: Promise<CompiledPglite> | undefined

/**
 * The code of PGlite, for any number of threads: a thread that compiled it for itself would take most of a second of CPU, and
 * would lose with its end what the machine had optimised.
 */
export function compiledPglite(): Promise<CompiledPglite> {
  compiled ??= compile()
  return compiled
}

async function compile(): Promise<CompiledPglite> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  return WebAssembly.compile(await readFile(join(dirname(entry), 'pglite.wasm')))
}
