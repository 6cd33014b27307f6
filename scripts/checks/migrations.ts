/**
 * Fails if a released migration changed, or if a newer one does more than add. During a rolling update, servers of the
 * previous release use the migrated database, so none of their statements may fail. Before the first release there are none.
 * No catch is on record; it costs less than a CPU second, and guards what a release cannot repair.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'packages/server/prisma/migrations'
const record = 'packages/server/prisma/released-migrations.json'

/** Statements that leave every earlier SELECT, INSERT, UPDATE and DELETE valid. */
const expansions = [
  /^CREATE TABLE /i,
  /^CREATE (UNIQUE )?INDEX /i,
  /^CREATE SEQUENCE /i,
  /^DROP INDEX /i,
  // Only on a table of the same migration: a constraint on an older table could refuse rows of earlier servers.
  /^ALTER TABLE "(\w+)" ADD CONSTRAINT /i,
  /^ALTER TABLE "\w+" ADD COLUMN /i,
]

const released = JSON.parse(readFileSync(record, 'utf8')) as Record<string, string>
const migrations = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(join(folder, name, 'migration.sql'), 'utf8') }))
const hashOf = (sql: string) => createHash('sha256').update(sql).digest('hex')

// With this flag, a release records its migrations.
if (process.argv.includes('--release')) {
  const hashes = Object.fromEntries(migrations.map(({ name, sql }) => [name, hashOf(sql)]))
  writeFileSync(record, `${JSON.stringify(hashes, null, 2)}\n`)
}

const samples: readonly [sql: string, isExpansion: boolean][] = [
  ['CREATE TABLE "a" ("id" INTEGER NOT NULL);\nALTER TABLE "a" ADD CONSTRAINT "fk" FOREIGN KEY ("id");', true],
  ['ALTER TABLE "run" ADD COLUMN "a" INTEGER, ADD COLUMN "b" TEXT NOT NULL DEFAULT \'\';', true],
  ['ALTER TABLE "run" ADD COLUMN "a" INTEGER NOT NULL;', false],
  ['ALTER TABLE "run" ADD COLUMN "a" INTEGER, DROP COLUMN "b";', false],
  ['ALTER TABLE "run" ADD CONSTRAINT "c" CHECK (epoch > 0);', false],
  ['CREATE UNIQUE INDEX "i" ON "run"("uuid");', false],
  ['DROP TABLE "run";', false],
  ['ALTER TABLE "run" RENAME COLUMN "a" TO "b";', false],
]
const misjudged = samples.filter(([sql, isExpansion]) => (refusals(sql).length === 0) !== isExpansion)

const problems = [
  ...misjudged.map(([sql]) => `this check misjudges: ${sql}`),
  ...Object.entries(released).flatMap(([name, hash]) => {
    const migration = migrations.find((each) => each.name === name)
    if (!migration) return [`${name} was released and is missing`]
    return hashOf(migration.sql) === hash ? [] : [`${name} was released and has changed`]
  }),
  ...(Object.keys(released).length === 0 ? [] : migrations)
    .filter(({ name }) => !(name in released))
    .flatMap(({ name, sql }) => refusals(sql).map((statement) => `${name} does more than add: ${statement}`)),
]
for (const problem of problems) console.error(problem)
console.log(`migrations: ${migrations.length}, ${Object.keys(released).length} released, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function refusals(sql: string): string[] {
  const statements = sql
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
  const created = new Set(statements.flatMap((statement) => /^CREATE TABLE "(\w+)"/i.exec(statement)?.[1] ?? []))
  return statements.filter((statement) => !isExpansion(statement, created))
}

function isExpansion(statement: string, created: ReadonlySet<string>): boolean {
  if (!expansions.some((expansion) => expansion.test(statement))) return false
  const table = /^(?:ALTER TABLE|CREATE UNIQUE INDEX "\w+" ON) "(\w+)"/i.exec(statement)?.[1]
  if (table === undefined || created.has(table)) return true
  if (/^CREATE UNIQUE INDEX|ADD CONSTRAINT/i.test(statement)) return false
  // One statement can have several parts. Each must add a column that earlier INSERTs may leave out.
  return statement
    .split(/,(?= (?:ADD|DROP|ALTER|RENAME) )/i)
    .every(
      (part) =>
        /\bADD COLUMN /i.test(part) && (!/\bNOT NULL\b/i.test(part) || /\b(DEFAULT|GENERATED ALWAYS)\b/i.test(part)),
    )
}
