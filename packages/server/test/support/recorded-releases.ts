/** Earlier releases, as scripts/record-release.ts and scripts/record-statements.ts recorded them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './test-database.ts'

const folder = join(packageRoot, 'test', 'upgrade')

/**
 * @param released the released migrations and their hashes.
 * @throws Error if there are any, but no release has `file`.
 */
export function recordedReleases(file: string, released = releasedMigrations()): { release: string; folder: string }[] {
  const recorded = (existsSync(folder) ? readdirSync(folder) : [])
    .map((release) => ({ release, folder: join(folder, release) }))
    .filter((each) => existsSync(join(each.folder, file)))
  if (Object.keys(released).length > 0 && recorded.length === 0)
    throw new Error(`No release has ${file} in test/upgrade: record one, as CONTRIBUTING.md says`)
  return recorded
}

function releasedMigrations(): Record<string, string> {
  return JSON.parse(readFileSync(join(packageRoot, 'prisma', 'released-migrations.json'), 'utf8')) as Record<
    string,
    string
  >
}
