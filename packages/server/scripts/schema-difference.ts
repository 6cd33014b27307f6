import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import type { DiffTarget } from '@prisma/schema-engine-wasm'
import * as engineBindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import { PrismaPGlite } from 'pglite-prisma-adapter'

type WasmExports = Record<string, unknown>
/** Adds a function of the package's generated code that its published types lack. */
type Bindings = typeof engineBindings & { __wbg_set_wasm(exports: WasmExports): void }

/** Node has this global object, but its types lack it. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, unknown>): Promise<{ instance: { exports: WasmExports } }>
}

/** The engine's module has one instance, which a second start would break. */
let started: Promise<void> | undefined

const EMPTY_SCRIPT = /^\s*(-- This is an empty migration\.)?\s*$/

/** Returns the SQL that leads from the migrations to `prisma/schema.prisma`. Empty if both agree. */
export async function schemaDifference(packageRoot: string): Promise<string> {
  const bindings = engineBindings as Bindings
  started ??= startEngine(bindings)
  await started
  const schemaFile = join(packageRoot, 'prisma', 'schema.prisma')
  const schema = await readFile(schemaFile, 'utf8')
  const pglite = await PGlite.create()
  try {
    const database = new PrismaPGlite(pglite)
    // The engine applies the migrations to a shadow database. The adapter's own one would be a second database, which
    // takes seconds to create, while this one stays empty.
    database.connectToShadowDb = () => database.connect()
    const adapter = bindMigrationAwareSqlAdapterFactory(database)
    const engine = await bindings.SchemaEngine.new({ datamodels: [[schemaFile, schema]] }, () => undefined, adapter)
    const result = await engine.diff({
      from: await migrationList(join(packageRoot, 'prisma', 'migrations')),
      to: { tag: 'schemaDatamodel', files: [{ path: schemaFile, content: schema }] },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    })
    const script = result.stdout ?? ''
    return EMPTY_SCRIPT.test(script) ? '' : script
  } finally {
    await pglite.close()
  }
}

async function startEngine(bindings: Bindings): Promise<void> {
  const packageEntry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm')
  const wasm = await readFile(join(dirname(packageEntry), 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  const start = instance.exports['__wbindgen_start']
  if (typeof start === 'function') start()
}

async function migrationList(baseDir: string): Promise<DiffTarget> {
  const entries = await readdir(baseDir, { withFileTypes: true }).catch(() => [])
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const migrationDirectories = await Promise.all(
    names.sort().map(async (name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: await readFile(join(baseDir, name, 'migration.sql'), 'utf8') },
      },
    })),
  )
  const lockfile = { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' }
  return { tag: 'migrations', baseDir, lockfile, shadowDbInitScript: '', migrationDirectories }
}
