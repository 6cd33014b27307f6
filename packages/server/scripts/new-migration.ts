/** Writes the next migration, the difference between existing migrations and the schema. Needs no database server. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaDifference } from './schema-difference.ts'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))

async function main(name: string | undefined): Promise<number> {
  if (name === undefined || !/^[a-z0-9][a-z0-9_]*$/.test(name)) {
    console.error('usage: pnpm db:migration <name>   (lowercase letters, digits and _)')
    return 2
  }
  const sql = await schemaDifference(packageRoot)
  if (sql === '') {
    console.log('The migrations already match the schema. Nothing was written.')
    return 0
  }
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = join('prisma', 'migrations', `${stamp}_${name}`)
  await mkdir(join(packageRoot, folder), { recursive: true })
  await writeFile(join(packageRoot, folder, 'migration.sql'), sql)
  console.log(`${join(folder, 'migration.sql')} (${sql.split('\n').length} lines)`)
  return 0
}

process.exitCode = await main(process.argv[2])
