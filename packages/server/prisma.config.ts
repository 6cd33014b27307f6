import { defineConfig } from 'prisma/config'

// `generate` never calls the schema engine, but the CLI wants one to exist and would download it. The stand-in must
// fail when it is executed for real: with one that exits 0, a `migrate deploy` would report success and apply nothing.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath
process.env['CHECKPOINT_DISABLE'] ??= '1'
process.env['PRISMA_HIDE_UPDATE_MESSAGE'] ??= '1'

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
})
